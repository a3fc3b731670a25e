//===- Spirv.h - kernels on buffers to SPIR-V -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_SPIRV_SPIRV_H
#define TENON_COMPILER_BACKEND_SPIRV_SPIRV_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace tenon {

/// A SPIR-V module with one entry point, for Vulkan 1.1 or later.
struct SpirvKernel {
  std::string name; ///< of the kernel and the entry point
  std::vector<uint32_t> words;
};

/// SPIR-V of every kernel below `kernels`, which are on buffers (buildBufferPipeline) and stay as they are.
/// One module each, so that a kernel asks for no capability that only another one needs. Buffer i of a kernel
/// is the storage buffer at binding i of set 0. Push constants are 32-bit integers: the sizes, then the
/// number of tiles. Workgroups have 64 invocations in one dimension, grids up to two: invocation t, counted
/// row by row, computes tile t, and those past the last tile do nothing. Indices have 32 bits.
///
/// Fails with one line that names the kernel and what Vulkan cannot do of it.
llvm::Expected<std::vector<SpirvKernel>> emitSpirv(mlir::ModuleOp kernels);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_SPIRV_SPIRV_H
