//===- EmbeddedBitcode.h - a library's bitcode in the program ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_EMBEDDEDBITCODE_H
#define TENON_COMPILER_BACKEND_LLVM_EMBEDDEDBITCODE_H

/// Embeds the file `path` in the program, and declares `symbol##_begin` and `symbol##_end` around its bytes. The list
/// of sources names the file as a dependency (tenon_embed_bitcode in cmake/TenonBitcode.cmake), which the compiler does
/// not see.
#define TENON_EMBED_BITCODE(symbol, path)                                                                              \
  asm(".pushsection .rodata\n"                                                                                         \
      ".balign 16\n" #symbol "_begin:\n"                                                                               \
      ".incbin \"" path "\"\n" #symbol "_end:\n"                                                                       \
      ".popsection\n");                                                                                                \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_begin[];                                        \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];

#endif // TENON_COMPILER_BACKEND_LLVM_EMBEDDEDBITCODE_H
