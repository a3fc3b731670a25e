//===- Reproducer.h - what a pipeline got, as a file -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_REPRODUCER_H
#define TENON_COMPILER_PIPELINE_REPRODUCER_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}
namespace mlir {
class Operation;
}

namespace tenon {

/// Prints `op` so that `tenon-opt --run-reproducer` runs `pipeline` on it; if `pipeline` is empty, only prints it.
/// Resources of more than half a mebibyte are omitted, so that the file can be sent.
void printReproducer(mlir::Operation *op, llvm::StringRef title, llvm::StringRef pipeline, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_REPRODUCER_H
