//===- Ptx.h - kernels on buffers to PTX ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_NVPTX_PTX_H
#define TENON_COMPILER_BACKEND_NVPTX_PTX_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace tenon {

/// Registers the translations that emitPtx needs of each dialect. Must be called before the context is created.
void registerPtxTranslations(mlir::DialectRegistry &registry);

/// PTX of every kernel below `kernels`, which are on buffers (buildBufferPipeline) and stay as they are.
/// `chip` is `sm_80`, `sm_90a`... An entry is named as its kernel, and takes a pointer for each buffer, a
/// 64-bit integer for each size, and a 64-bit integer, the number of tiles. Thread t of a one-dimensional
/// grid of one-dimensional blocks computes tile t; threads past the last tile do nothing. Pointers are
/// aligned to their element.
///
/// Mathematical functions come from CUDA's libdevice, which is looked for
/// under CUDA_ROOT, CUDA_HOME, CUDA_PATH, beside nvcc, and in /usr/local/cuda.
llvm::Expected<std::string> emitPtx(mlir::ModuleOp kernels, llvm::StringRef chip);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_NVPTX_PTX_H
