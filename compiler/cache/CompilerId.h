//===- CompilerId.h - which compiler this is ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CACHE_COMPILERID_H
#define TENON_COMPILER_CACHE_COMPILERID_H

#include <string>

namespace tenon {

/// Returns a fingerprint of the code of this process: of the program and of each loaded shared library, such as LLVM's.
/// It changes when the compiler is rebuilt or runs with another library.
const std::string &getCompilerId();

} // namespace tenon

#endif // TENON_COMPILER_CACHE_COMPILERID_H
