//===- SpirvBackend.h - SPIR-V for Vulkan --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_SPIRV_SPIRVBACKEND_H
#define TENON_COMPILER_BACKEND_SPIRV_SPIRVBACKEND_H

#include <memory>

namespace tenon {

class Backend;

/// Generates a SPIR-V module for each kernel. Kernels are scheduled for the machine of the CPU target, because this
/// backend has no targets yet.
std::unique_ptr<Backend> createSpirvBackend();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_SPIRV_SPIRVBACKEND_H
