//===- SupervisedCompile.cpp - a model to an artifact, whatever happens ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Compile.h"
#include "compiler/pipeline/Supervise.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

static WorkEnd superviseOnce(CompileOptions options, llvm::raw_ostream &errors) {
  return supervise([&](llvm::function_ref<void(llvm::StringRef)> announce) {
    options.onPhase = announce;
    return static_cast<int>(compileModel(options, errors));
  });
}

/// Compiles again up to the phase that failed, and keeps what it starts from. Empty where that fails, too.
static std::string writeReproducer(const CompileOptions &options, const std::string &phase) {
  CompileOptions again = options;
  again.reproduce = phase;
  again.dumpDir.clear();
  again.dumpAfter.clear();
  std::vector<std::string> places;
  if (llvm::sys::fs::is_regular_file(options.output) || !llvm::sys::fs::exists(options.output))
    if (options.output != "-")
      places.push_back(options.output + ".reproducer.mlir");
  llvm::SmallString<128> temporary;
  if (!llvm::sys::fs::createTemporaryFile("tenon-reproducer", "mlir", temporary))
    places.push_back(temporary.str().str());
  std::string found;
  for (const std::string &place : places) {
    again.output = place;
    if (found.empty() && superviseOnce(again, llvm::nulls()).exitCode == 0)
      found = place;
  }
  if (found != temporary.str())
    llvm::sys::fs::remove(temporary);
  return found;
}

CompileStatus tenon::compileSupervised(const CompileOptions &options, llvm::raw_ostream &errors) {
  WorkEnd end = superviseOnce(options, errors);
  if (end.outOfMemory) {
    errors << "tenon: error: " << options.input << ": phase '" << end.phase << "' needs more memory than there is"
           << (end.reason.empty() ? "" : ": ") << end.reason << '\n';
    return CompileStatus::resources;
  }
  auto status = static_cast<CompileStatus>(end.exitCode);
  if (status != CompileStatus::fault)
    return status;
  errors << "tenon: error: " << options.input << ": a fault of Tenon's in phase '" << end.phase << "'"
         << (end.reason.empty() ? "" : ": ") << end.reason;
  // Before there is any IR, the model is all that there is.
  std::string reproducer = end.phase == kImportPhase ? "" : writeReproducer(options, end.phase);
  if (reproducer.empty())
    errors << "; please report it with the model\n";
  else
    errors << "; please report it with " << reproducer << ", which reproduces it\n";
  return status;
}
