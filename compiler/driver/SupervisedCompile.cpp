//===- SupervisedCompile.cpp - a model to an artifact, whatever happens ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Depfile.h"
#include "compiler/pipeline/Supervise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <malloc.h>
#include <new>
#include <sys/mman.h>

using namespace tenon;

namespace {

/// A number that a process and its child both see.
class SharedCount {
public:
  SharedCount() {
    void *memory = mmap(nullptr, sizeof(Number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    number = memory == MAP_FAILED ? nullptr : new (memory) Number(0);
  }
  ~SharedCount() {
    if (number)
      munmap(number, sizeof(Number));
  }
  void add(uint64_t more) {
    if (number)
      *number += more;
  }
  uint64_t get() const { return number ? number->load() : 0; }

private:
  using Number = std::atomic<uint64_t>;
  Number *number;
};

} // namespace

static CompileStatus writeDepfile(const CompileOptions &options, std::vector<std::string> files,
                                  llvm::raw_ostream &errors) {
  llvm::append_range(files, options.import.plugins);
  llvm::Error error = writeOutputFile(
      options.depfile, [&](llvm::raw_pwrite_stream &os) { os << printDepfile(options.output, std::move(files)); });
  if (!error)
    return CompileStatus::done;
  errors << "tenon: error: cannot write " << options.depfile << ": " << llvm::toString(std::move(error)) << '\n';
  return CompileStatus::resources;
}

static WorkEnd superviseOnce(CompileOptions options, llvm::raw_ostream &errors) {
  auto onKernels = options.onKernels; // of this process
  SharedCount inputBytes;
  SharedCount generated, taken, notes, weightBytes;
  std::vector<std::string> files; // of the process that compiles
  options.import.onInputFile = [&](llvm::StringRef path, uint64_t bytes) {
    inputBytes.add(bytes);
    files.push_back(path.str());
  };
  PhaseLimits limits{kImportPhase, [&] { return options.getImportMemoryLimit(inputBytes.get()); },
                     options.importTimeLimit};
  auto compile = [&](llvm::function_ref<void(llvm::StringRef)> announce) {
    // Packed weights are stored elsewhere (SpilledWeights): large blocks are returned to the system when they are
    // freed, instead of being kept in each thread's malloc arena.
    constexpr int kLarge = 1 << 20; // limit: bytes; about what one costs to get anew
    mallopt(M_MMAP_THRESHOLD, kLarge);
    options.onPhase = announce;
    options.onKernels = [&](const KernelCounts &counts) {
      generated.add(counts.generated);
      taken.add(counts.taken);
      notes.add(counts.notes);
    };
    options.onWeightBytes = [&](uint64_t bytes) { weightBytes.add(bytes); };
    CompileStatus status = compileModel(options, errors);
    if (status == CompileStatus::done && !options.depfile.empty())
      status = writeDepfile(options, files, errors);
    return static_cast<int>(status);
  };
  std::function<void(llvm::StringRef, double)> onProgress;
  if (options.onProgress)
    onProgress = [&](llvm::StringRef phase, double seconds) { options.onProgress(phase, seconds, weightBytes.get()); };
  WorkEnd end = supervise(compile, limits, onProgress);
  if (onKernels)
    onKernels({generated.get(), taken.get(), notes.get()});
  return end;
}

uint64_t CompileOptions::getImportMemoryLimit(uint64_t inputBytes) const {
  constexpr uint64_t kTimesInput = 4, kBesides = uint64_t(1) << 30;
  return importMemoryLimit ? importMemoryLimit : llvm::SaturatingMultiplyAdd(kTimesInput, inputBytes, kBesides);
}

/// Reports in one line that the import exceeds a limit.
static CompileStatus reportLimit(const CompileOptions &options, WorkEnd::Limit limit, llvm::raw_ostream &errors) {
  bool isTime = limit == WorkEnd::Limit::time;
  errors << "tenon: error: " << options.input << ": its import ";
  if (isTime)
    errors << "takes longer than --import-time-limit, which is " << llvm::format("%g", options.importTimeLimit) << " s";
  else if (options.importMemoryLimit)
    errors << "needs more memory than --import-memory-limit, which is " << options.importMemoryLimit << " bytes";
  else
    errors << "needs more memory than --import-memory-limit, which is 4 times the size of its files and 1 GB";
  errors << "; raise it if you trust the model\n";
  return CompileStatus::resources;
}

/// Compiles again up to the failed phase, and writes the IR that it starts from. Returns an empty path if that fails,
/// too.
static std::string writeReproducer(const CompileOptions &options, const std::string &phase) {
  CompileOptions again = options;
  again.reproduce = phase;
  again.onProgress = nullptr;
  again.dumpDir.clear();
  again.dumpAfter.clear();
  again.depfile.clear();
  again.report.clear();
  again.onKernels = nullptr;
  std::vector<std::string> places;
  if (llvm::sys::fs::is_regular_file(options.output) || !llvm::sys::fs::exists(options.output))
    if (options.output != "-" && !options.output.empty())
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
    (void)llvm::sys::fs::remove(temporary);
  return found;
}

CompileStatus tenon::compileSupervised(const CompileOptions &options, llvm::raw_ostream &errors) {
  WorkEnd end = superviseOnce(options, errors);
  if (end.exceeded != WorkEnd::Limit::none)
    return reportLimit(options, end.exceeded, errors);
  if (end.outOfMemory) {
    errors << "tenon: error: " << options.input << ": phase '" << end.phase << "' needs more memory than there is"
           << (end.reason.empty() ? "" : ": ") << end.reason << '\n';
    return CompileStatus::resources;
  }
  if (end.lostPages) {
    errors << "tenon: error: " << options.input << ": a file was cut short while phase '" << end.phase
           << "' read it, or its disk fails; compile again\n";
    return CompileStatus::invalid;
  }
  auto status = static_cast<CompileStatus>(end.exitCode);
  if (status != CompileStatus::fault)
    return status;
  errors << "tenon: error: " << options.input << ": internal compiler error in phase '" << end.phase << "'"
         << (end.reason.empty() ? "" : ": ") << end.reason;
  // Before the first IR only the model can be reported, and after the last one only the artifact, which requires the
  // model.
  bool hasIR = end.phase != kImportPhase && end.phase != kReportPhase;
  std::string reproducer = hasIR ? writeReproducer(options, end.phase) : "";
  if (reproducer.empty())
    errors << "; please report it and attach the model\n";
  else
    errors << "; please report it and attach " << reproducer << '\n';
  return status;
}
