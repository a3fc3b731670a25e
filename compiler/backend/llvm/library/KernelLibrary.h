//===- KernelLibrary.h - kernels that are written in C, as bitcode --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNELLIBRARY_H
#define TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNELLIBRARY_H

#include <string_view>

namespace tenon {

/// The bitcode of all library kernels for `arch`, "x86_64" or "aarch64"; empty for any other. It lives as
/// long as the program. Kernels have external linkage and call nothing but memcmp and its kin.
std::string_view getKernelLibraryBitcode(std::string_view arch);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_LIBRARY_KERNELLIBRARY_H
