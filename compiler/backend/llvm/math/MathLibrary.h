//===- MathLibrary.h - math for CPU kernels, as bitcode ---------*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_MATH_MATHLIBRARY_H
#define TENON_COMPILER_BACKEND_LLVM_MATH_MATHLIBRARY_H

#include <string_view>

namespace tenon {

/// The bitcode of the math library for `arch`, an LLVM architecture name: "x86_64" or "aarch64". Empty for
/// any other. It lives as long as the program.
///
/// Every function has external linkage, the name that C gives it, and no attribute that names a CPU. The
/// module refers to no symbol outside of itself.
std::string_view getMathLibraryBitcode(std::string_view arch);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_MATH_MATHLIBRARY_H
