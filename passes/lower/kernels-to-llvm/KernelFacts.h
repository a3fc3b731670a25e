//===- KernelFacts.h - what a kernel says of its launches -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELFACTS_H
#define TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELFACTS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::func {
class FuncOp;
}
namespace tenon::kernel {
class MergedOp;
}

namespace tenon {

/// Returns the facts of a kernel on memrefs, encoded as in runtime/format/Kernel.h: its numbers of buffers and sizes
/// and, as expressions over the sizes, the number of tiles of a launch and the minimal bytes of each buffer.
llvm::SmallVector<int64_t> getKernelFacts(mlir::func::FuncOp kernel);
/// Returns the facts of a merged kernel, whose parts are on memrefs.
llvm::SmallVector<int64_t> getKernelFacts(kernel::MergedOp merged);

} // namespace tenon

#endif // TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELFACTS_H
