//===- KernelLibrary.cpp - kernels that are written in C, as bitcode ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/library/KernelLibrary.h"

#define EMBED(symbol, file)                                                                                            \
  asm(".pushsection .rodata\n"                                                                                         \
      ".balign 16\n" #symbol "_begin:\n"                                                                               \
      ".incbin \"" TENON_LIBRARY_BITCODE_DIR "/" file "\"\n" #symbol "_end:\n"                                         \
      ".popsection\n");                                                                                                \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_begin[];                                        \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];

EMBED(tenon_library_x86_64, "library-x86_64.bc")
EMBED(tenon_library_aarch64, "library-aarch64.bc")

std::string_view tenon::getKernelLibraryBitcode(std::string_view arch) {
  if (arch == "x86_64")
    return {tenon_library_x86_64_begin, tenon_library_x86_64_end};
  if (arch == "aarch64")
    return {tenon_library_aarch64_begin, tenon_library_aarch64_end};
  return {};
}
