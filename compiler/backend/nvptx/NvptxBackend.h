//===- NvptxBackend.h - PTX for NVIDIA GPUs ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_NVPTX_NVPTXBACKEND_H
#define TENON_COMPILER_BACKEND_NVPTX_NVPTXBACKEND_H

#include <memory>

namespace tenon {

class Backend;

/// Generates PTX of all kernels as one text. Kernels are scheduled for the machine of the CPU target, because this
/// backend has no targets yet.
std::unique_ptr<Backend> createNvptxBackend();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_NVPTX_NVPTXBACKEND_H
