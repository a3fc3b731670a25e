//===- Dump.h - the IR after passes, as files -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_DUMP_H
#define TENON_COMPILER_PIPELINE_DUMP_H

#include "compiler/pipeline/ReadableIR.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <memory>
#include <string>
#include <vector>

namespace tenon {

/// The name under which the imported module is dumped, in place of a pass name.
inline constexpr char kImportDump[] = "import";

/// A file of IR.
struct DumpedFile {
  std::string name;   ///< in the folder
  std::string pass;   ///< that the IR is after
  std::string scope;  ///< the function, program or kernel that the pass changed
  double seconds = 0; ///< that the pass took
  uint64_t bytes = 0; ///< of the file
};

/// Writes and numbers the dumps of one compilation, across its pass managers. Multi-threading must be disabled.
class DumpSequence {
public:
  /// An empty `directory` means no files; an empty `afterPass` means no output to standard error. `locate` is for
  /// weights in files, and `locateShown` for those on standard error.
  DumpSequence(std::string directory, std::string afterPass, std::string sourceName, WeightLocator locate,
               WeightLocator locateShown);

  bool isActive() const { return !directory.empty() || !afterPass.empty(); }
  /// Dumps the module that contains `op`, on which the pass ran for `seconds`, if this is requested.
  void dump(llvm::StringRef pass, mlir::Operation *op, bool isChanged, double seconds);
  llvm::ArrayRef<DumpedFile> getFiles() const { return files; }

private:
  /// Without the end of the line.
  void printHeader(llvm::raw_ostream &os, llvm::StringRef pass, mlir::Operation *op) const;
  void write(llvm::StringRef pass, mlir::Operation *op, double seconds);

  std::string directory, afterPass, sourceName;
  ReadableIR readable; ///< for files
  ReadableIR shown;    ///< for standard error
  std::vector<DumpedFile> files;
};

/// Dumps the IR after each pass that changed it, as `NNNN-[kernel-]pass.mlir`.
std::unique_ptr<mlir::PassInstrumentation> createDumpInstrumentation(DumpSequence &sequence);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_DUMP_H
