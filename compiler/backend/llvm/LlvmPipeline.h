//===- LlvmPipeline.h - kernels on buffers to the LLVM dialect -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LLVMPIPELINE_H
#define TENON_COMPILER_BACKEND_LLVM_LLVMPIPELINE_H

namespace mlir {
class OpPassManager;
}

namespace tenon {

struct Machine;

/// Lowers kernels on buffers to register-blocked loops for `machine`.
void buildLoopPipeline(mlir::OpPassManager &pm, const Machine &machine);
/// Lowers kernels in loops on buffers to the LLVM dialect.
void buildLLVMPipeline(mlir::OpPassManager &pm);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_LLVMPIPELINE_H
