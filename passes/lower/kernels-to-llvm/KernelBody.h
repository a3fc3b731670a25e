//===- KernelBody.h - kernels on pointers and sizes -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELBODY_H
#define TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELBODY_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::func {
class FuncOp;
}

namespace tenon {

/// Emits an expression over symbols as i64 arithmetic; `symbols` are the values of these. The runtime rejects sizes for
/// which an expression would divide by 0.
mlir::Value emitSize(mlir::OpBuilder &b, mlir::Location loc, mlir::AffineExpr dim,
                     const llvm::DenseMap<unsigned, mlir::Value> &symbols);

/// Replaces memref arguments of a kernel by pointers, marked as aliasing nothing, and index arguments by i64.
/// Descriptors are built inside, from the dimensions in `tenon.dims`. Two arguments are added: the thread's scratch
/// memory, and the end of the tile range of its last call, and the function returns a status of
/// runtime/format/Kernel.h. All targets with pointers use this body, and wrap their own entry point around it.
void lowerKernelArguments(mlir::func::FuncOp kernel);

} // namespace tenon

#endif // TENON_PASSES_LOWER_KERNELS_TO_LLVM_KERNELBODY_H
