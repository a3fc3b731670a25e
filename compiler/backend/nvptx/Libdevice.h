//===- Libdevice.h - CUDA's mathematical functions ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_NVPTX_LIBDEVICE_H
#define TENON_COMPILER_BACKEND_NVPTX_LIBDEVICE_H

#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class Module;
}

namespace tenon {

/// Returns the path of libdevice on this machine; empty if it was not found.
std::string findLibdevice();

/// Links the functions of libdevice that `module` calls into it. Fails if there are any and libdevice cannot be found
/// or read.
llvm::Error linkLibdevice(llvm::Module &module);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_NVPTX_LIBDEVICE_H
