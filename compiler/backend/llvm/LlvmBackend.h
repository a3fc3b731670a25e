//===- LlvmBackend.h - machine code for CPUs -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LLVMBACKEND_H
#define TENON_COMPILER_BACKEND_LLVM_LLVMBACKEND_H

#include <memory>

namespace tenon {

class Backend;

/// Generates machine code for CPUs, as LLVM IR, assembly, an object or a shared object; artifacts contain the latter.
std::unique_ptr<Backend> createLlvmBackend();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_LLVMBACKEND_H
