//===- CompileOptions.cpp - the options of everything that compiles -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/CompileOptions.h"
#include "compiler/pipeline/SizeProfiles.h"
#include "tools/tenon/Calibration.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <cmath>

using namespace tenon;

/// An option for a number of bytes.
static void addBytes(CLI::App &command, const char *name, uint64_t &bytes, const char *description) {
  command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::Validator(
          [](std::string &text) {
            int64_t value;
            bool isGood = !llvm::StringRef(text).getAsInteger(10, value) && value > 0;
            return isGood ? std::string() : "wants a number of bytes that is more than 0, found '" + text + "'";
          },
          "BYTES"))
      ->type_name("BYTES");
}

void tenon::addCompileOptions(CLI::App &command, CompileArguments &arguments) {
  CompileOptions &options = arguments.options;
  command.add_option("model", options.input, "ONNX file, Hugging Face folder, or tenon-dialect .mlir")->required();
  command
      .add_option("--target", arguments.targets,
                  "processor to compile for: host, x86-64-v2, x86-64-v3, x86-64-v4, aarch64, or an x86-64 processor as "
                  "LLVM calls "
                  "it (znver4, sapphirerapids...); repeat it for an artifact that picks at load")
      ->allow_extra_args(false);
  command
      .add_option("--shape", arguments.shapes,
                  "NAME=1x3xHxW fixes or names the dimensions of an input; NAME=4 fixes a symbol")
      ->allow_extra_args(false);
  command.add_option("--range", arguments.ranges, "H=32..640 bounds a symbol")->allow_extra_args(false);
  command
      .add_option("--profile", arguments.profiles,
                  "N=1,128,512 (least, best, most) makes programs for these sizes besides the one for all, "
                  "N=1..4 one a value; symbols are joined by ;, and each profile has an option of its own")
      ->allow_extra_args(false);
  command
      .add_option(
          "--plugin", options.import.plugins,
          "shared library with operators (tenon/plugin.h) for nodes that are none of ONNX's; repeat it for several")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      .add_option("--tolerance", options.tolerance,
                  "largest error of an output, relative to its largest "
                  "element, that faster ways to compute it may make")
      ->check(CLI::Validator(
          [](std::string &text) {
            double value;
            bool isGood = !llvm::StringRef(text).getAsDouble(value) && value >= 0 && std::isfinite(value);
            return isGood ? std::string() : "wants a number that is not negative, found '" + text + "'";
          },
          "R"))
      ->capture_default_str();
  command.add_flag("--measure-error", options.measuresError,
                   "measure the error, against the same model in f64, even where nothing but the type makes one");
  command
      .add_option("--calibrate", arguments.calibration,
                  "folder of inputs (NAME.npy each) to measure the error with, or of a folder for each set of "
                  "them; otherwise inputs are made up")
      ->type_name("DIR");
  addBytes(command, "--memory-limit", options.memoryLimit,
           "look for a plan that needs no more, for any sizes in the ranges, and fail where there is none; K, M and G "
           "are understood");
  addBytes(command, "--import-memory-limit", options.importMemoryLimit,
           "limit the memory of the import, which reads untrusted files, to BYTES; by default 4 times the size of the "
           "files and 1 GB");
  command
      .add_option("--import-time-limit", options.importTimeLimit,
                  "limit the time of the import to SECONDS; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  addBytes(command, "--l2-cache", options.l2Bytes,
           "size of L2 of the target, the last cache that a core does not share; kernels are tiled for it");
  addBytes(command, "--llc", options.llcBytes, "size of the last-level cache of the target, which its cores share");
  command.add_option("--dump-ir", options.dumpDir, "folder for one numbered .mlir file a pass that changed something");
  command.add_option("--dump-after", options.dumpAfter, "print the IR after this pass to standard error");
  command.add_flag("--timing", options.timing, "print how long phases and passes take to standard error");
}

bool tenon::resolveCompileOptions(CompileArguments &arguments) {
  CompileOptions &options = arguments.options;
  // A folder is called the same with and without a slash at its end.
  while (options.input.size() > 1 && options.input.back() == '/')
    options.input.pop_back();
  if (!arguments.targets.empty())
    options.targets = arguments.targets;
  std::string error;
  auto report = [&](const char *option, const std::string &text) {
    llvm::errs() << "tenon: error: " << option << ' ' << text << ": " << error << '\n';
    return false;
  };
  for (const std::string &text : arguments.shapes)
    if (failed(ImportOptions::parseShape(text, options.import, error)))
      return report("--shape", text);
  for (const std::string &text : arguments.ranges)
    if (failed(ImportOptions::parseRange(text, options.import, error)))
      return report("--range", text);
  SizePrograms programs;
  for (const std::string &text : arguments.profiles)
    if (llvm::Error wrong = addProfile(text, programs, options.import.profiled)) {
      error = llvm::toString(std::move(wrong));
      return report("--profile", text);
    }
  options.programs = programs.list();
  if (!arguments.calibration.empty())
    options.readInputs = [folder = arguments.calibration](const tenon_artifact *artifact) {
      return readCalibration(folder, artifact);
    };
  return true;
}
