//===- Dump.h - the IR after passes, as files -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_DUMP_H
#define TENON_COMPILER_PIPELINE_DUMP_H

#include "mlir/Pass/PassInstrumentation.h"
#include <atomic>
#include <memory>
#include <string>

namespace tenon {

/// Numbers the files of one compilation, across its pass managers.
struct DumpSequence {
  std::string directory; ///< empty: write no files
  std::string afterPass; ///< empty: print nothing to standard error
  std::atomic<unsigned> next = 0;

  bool isActive() const { return !directory.empty() || !afterPass.empty(); }
};

/// Writes `NNNN-[kernel-]pass.mlir` after each pass that changed something. Multi-threading must be off.
std::unique_ptr<mlir::PassInstrumentation> createDumpInstrumentation(DumpSequence &sequence);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_DUMP_H
