//===- Progress.cpp - what a compilation says while and after it runs -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Progress.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/ErrorFigures.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "compiler/report/WeightFormats.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace tenon;

Progress::Progress(CompileOptions &options)
    : model(llvm::sys::path::filename(options.input)), isTerminal(isatty(STDERR_FILENO)) {
  // Disabled with dumps and timings, which are printed to standard error as well.
  if (isTerminal && options.dumpAfter.empty() && !options.timing)
    options.onProgress = [this](llvm::StringRef phase, double seconds, uint64_t bytes) { show(phase, seconds, bytes); };
}

Progress::~Progress() {
  if (isShown)
    llvm::errs() << "\r\x1b[K";
}

/// Returns ", 1.2 GiB of weights at 0.84 GB/s", if there are weights in this phase.
static std::string describeWeights(uint64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0)
    return "";
  return ", " + bytesText(bytes) + llvm::formatv(" of weights at {0:F2} GB/s", double(bytes) * 1e-9 / seconds).str();
}

void Progress::show(llvm::StringRef phase, double seconds, uint64_t weightBytes) {
  if (phase != lastPhase) {
    lastPhase = phase.str();
    lastSeconds = seconds;
    lastBytes = weightBytes;
  }
  // A compilation that is over by then needs no word.
  constexpr double kPatience = 0.5;
  if (seconds < kPatience || phase.empty())
    return;
  isShown = true;
  // The cursor returns to the start of the line, so that a warning overwrites it.
  std::string line = llvm::formatv("{0}: {1} ({2:F1} s{3})", model, phase, seconds,
                                   describeWeights(weightBytes - lastBytes, seconds - lastSeconds));
  llvm::errs() << "\r\x1b[K" << shorten(line, 79) << '\r';
  llvm::errs().flush();
}

/// ", from the cache", or how many kernels are.
static std::string describe(const ResultOrigin &origin) {
  const KernelCounts &kernels = origin.kernels;
  if (origin.isArtifactCached)
    return ", from the cache";
  if (!kernels.taken)
    return "";
  return ", with " + std::to_string(kernels.taken) + " of " + std::to_string(kernels.taken + kernels.generated) +
         " kernels from the cache";
}

/// Where the files of a model are.
static std::string getModelFolder(const std::string &model) {
  if (llvm::sys::fs::is_directory(model))
    return model;
  std::string folder = llvm::sys::path::parent_path(model).str();
  return folder.empty() ? "." : folder;
}

/// Prints "123 KiB, 57 launches of 12 kernels, activations 2.3 MiB, error 1.8e-06, 1 of 2 outputs not bounded, target
/// host".
static void printArtifact(const ArtifactView &view, const CompileOptions &options, const ResultOrigin &origin,
                          double seconds) {
  RunWork work = view.addUpWork();
  llvm::outs() << options.output << ": " << bytesText(view.getFileSize()) << ", " << groupDigits(work.launches)
               << (work.launches == 1 ? " launch of " : " launches of ") << groupDigits(view.getPlan().kernels.size())
               << (view.getPlan().kernels.size() == 1 ? " kernel" : " kernels");
  for (const MemoryFigure &figure : listMemory(view.getPlan(), view.getWeightBytes(), view.getSizes()))
    if (figure.key == llvm::StringRef("arena_bytes"))
      llvm::outs() << ", activations "
                   << (figure.bytes                ? bytesText(*figure.bytes)
                       : figure.most != UINT64_MAX ? "up to " + bytesText(figure.most)
                                                   : "by size");
  if (std::optional<double> error = getLargestError(view.getMeta()))
    llvm::outs() << llvm::formatv(", error {0:e1}", *error);
  if (auto [unbounded, all] = countUnbounded(view.getMeta()); unbounded > 0)
    llvm::outs() << ", " << unbounded << " of " << all << (all == 1 ? " output" : " outputs") << " not bounded";
  if (const rt::WeightPlaces &places = view.getWeightPlaces(); places.areExternal())
    llvm::outs() << ", " << bytesText(places.externalBytes()) << " of weights left in " << places.files.size()
                 << (places.files.size() == 1 ? " file of " : " files of ") << getModelFolder(options.input);
  std::vector<std::string> targets;
  for (const ArtifactView::Target &target : view.getTargets())
    targets.push_back(target.name);
  llvm::outs() << (targets.size() == 1 ? ", target " : ", targets ") << llvm::join(targets, ", ")
               << llvm::formatv(", in {0:F2} s", seconds) << describe(origin) << '\n';
  for (const std::string &line : listWeightFormats(view.getMeta()))
    llvm::outs() << options.output << ": weights: " << line << '\n';
  for (const std::string &line : listPlanTimes(view.getMeta()))
    llvm::outs() << options.output << ": " << line << '\n';
}

static void printArtifactJson(const ArtifactView &view, const CompileOptions &options, const ResultOrigin &origin,
                              double seconds) {
  RunWork work = view.addUpWork();
  nlohmann::ordered_json json = {{"output", options.output},
                                 {"bytes", view.getFileSize()},
                                 {"seconds", seconds},
                                 {"launches", work.launches},
                                 {"kernels", view.getPlan().kernels.size()},
                                 {"weight_bytes", view.getWeightBytes()},
                                 {"external_weight_bytes", view.getWeightPlaces().externalBytes()}};
  for (const MemoryFigure &figure : listMemory(view.getPlan(), view.getWeightBytes(), view.getSizes()))
    if (figure.key == llvm::StringRef("arena_bytes"))
      json["arena_bytes"] = figure.bytes ? nlohmann::ordered_json(*figure.bytes) : nlohmann::ordered_json();
  std::optional<double> error = getLargestError(view.getMeta());
  json["error"] = error ? nlohmann::ordered_json(*error) : nlohmann::ordered_json();
  json["unbounded_outputs"] = countUnbounded(view.getMeta()).first;
  json["targets"] = nlohmann::ordered_json::array();
  for (const ArtifactView::Target &target : view.getTargets())
    json["targets"].push_back(target.name);
  json["from_cache"] = origin.isArtifactCached;
  json["kernels_generated"] = origin.kernels.generated;
  json["kernels_from_cache"] = origin.kernels.taken;
  llvm::outs() << json.dump() << '\n';
}

void tenon::printResult(const CompileOptions &options, const ResultOrigin &origin, double seconds, bool json) {
  if (options.output == "-" || options.output.empty())
    return;
  ArtifactView view;
  if (options.emit == kArtifactOutput && !view.open(options.output, /*verify=*/false, {}).failed()) {
    (json ? printArtifactJson : printArtifact)(view, options, origin, seconds);
    return;
  }
  uint64_t bytes = 0;
  bool isFile = llvm::sys::fs::is_regular_file(options.output) && !llvm::sys::fs::file_size(options.output, bytes);
  if (json) {
    nlohmann::ordered_json result = {{"output", options.output}, {"seconds", seconds}};
    if (isFile)
      result["bytes"] = bytes;
    llvm::outs() << result.dump() << '\n';
    return;
  }
  llvm::outs() << options.output << ": " << (isFile ? bytesText(bytes) : "a folder")
               << llvm::formatv(", in {0:F2} s\n", seconds);
}

void tenon::noteHostTarget(const CompileOptions &options) {
  ArtifactView view;
  // IR may have been made for other targets.
  if (view.open(options.output, /*verify=*/false, {}).failed() ||
      llvm::none_of(view.getTargets(), [](const ArtifactView::Target &target) { return target.name == kHostTarget; }))
    return;
  llvm::outs() << options.output
               << ": only for processors like this one; --target x86-64-v3 or aarch64 makes artifacts for others\n";
}
