//===- Disassembly.h - kernels of an artifact as assembly ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_DISASSEMBLY_H
#define TENON_COMPILER_REPORT_DISASSEMBLY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace tenon {

/// The machine code of a kernel.
struct KernelCode {
  uint64_t bytes = 0, instructions = 0;
  std::string text; ///< an instruction a line, as `tenon compile --emit asm` writes it; targets of jumps have labels
};

/// Disassembles the exported functions of a code section, an ELF object for x86-64 or AArch64. `text` has the first
/// `maxInstructions` of each function, and says how many are omitted. The section may be hostile: an error describes
/// what is wrong with it, and the time is bounded by its size.
llvm::Expected<std::map<std::string, KernelCode>> disassemble(llvm::StringRef elf, uint64_t maxInstructions);

/// Returns the code size in bytes of these functions; empty if the section is invalid.
std::map<std::string, uint64_t> measureFunctions(llvm::StringRef elf);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_DISASSEMBLY_H
