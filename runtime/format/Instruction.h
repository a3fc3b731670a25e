//===- Instruction.h - Instructions.def as C++ ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_FORMAT_INSTRUCTION_H
#define TENON_RUNTIME_FORMAT_INSTRUCTION_H

#include <cstdint>

namespace tenon::fmt {

enum class Opcode : uint8_t {
#define TENON_INSTRUCTION(opcode, name, a, b, c, buffers, exprs, synopsis) name = opcode,
#include "runtime/format/Instructions.def"
#undef TENON_INSTRUCTION
};

/// The meaning of the field `a`, `b` or `c` of an instruction.
enum class OperandKind : uint8_t {
  none,        // zero
  kernel,      // an index into kernels
  expr,        // an index into exprs
  target,      // an index into instructions
  symbol,      // an index into symbols, of one that no input binds
  byte,        // a value from 0 to 255
  block,       // a heap block's number
  flag,        // 0 or 1
  beside,      // 1 where it may run at the same time as the launch right before it, and all that this one may
  check,       // an index into checks
  host_call,   // an index into host_calls
  exprs_begin, // start of a range of exprs
  exprs_end,   // end of that range: one past its last
};

struct InstructionInfo {
  const char *name;
  OperandKind a, b, c;
  const char *buffers;
  const char *exprs;
  const char *synopsis;
};

/// Indexed by opcode: opcodes are dense.
inline constexpr InstructionInfo kInstructions[] = {
#define TENON_INSTRUCTION(opcode, name, a, b, c, buffers, exprs, synopsis)                                             \
  {#name, OperandKind::a, OperandKind::b, OperandKind::c, buffers, exprs, synopsis},
#include "runtime/format/Instructions.def"
#undef TENON_INSTRUCTION
};
inline constexpr uint32_t kInstructionCount = sizeof(kInstructions) / sizeof(kInstructions[0]);

namespace detail {
inline constexpr uint32_t kOpcodeAt[] = {
#define TENON_INSTRUCTION(opcode, name, a, b, c, buffers, exprs, synopsis) opcode,
#include "runtime/format/Instructions.def"
#undef TENON_INSTRUCTION
};
constexpr bool opcodesAreDense() {
  for (uint32_t i = 0; i < kInstructionCount; ++i)
    if (kOpcodeAt[i] != i)
      return false;
  return true;
}
static_assert(opcodesAreDense(), "Instructions.def must list its opcodes in order, without gaps");
} // namespace detail

} // namespace tenon::fmt

#endif // TENON_RUNTIME_FORMAT_INSTRUCTION_H
