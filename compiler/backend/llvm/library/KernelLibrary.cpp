//===- KernelLibrary.cpp - kernels that are written in C, as bitcode ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/library/KernelLibrary.h"
#include "compiler/backend/llvm/EmbeddedBitcode.h"

TENON_EMBED_BITCODE(tenon_library_x86_64, TENON_BITCODE_DIR "/library-x86_64.bc")
TENON_EMBED_BITCODE(tenon_library_aarch64, TENON_BITCODE_DIR "/library-aarch64.bc")

std::string_view tenon::getKernelLibraryBitcode(std::string_view arch) {
  if (arch == "x86_64")
    return {tenon_library_x86_64_begin, tenon_library_x86_64_end};
  if (arch == "aarch64")
    return {tenon_library_aarch64_begin, tenon_library_aarch64_end};
  return {};
}
