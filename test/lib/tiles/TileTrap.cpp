//===- TileTrap.cpp - AMX instructions on a processor without --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All these instructions have a prefix of three bytes (VEX), an opcode and a byte for
// registers and memory: Intel's manual, volume 2, chapters 2.1 and 2.3.
//
//===----------------------------------------------------------------------===//

#include "test/lib/tiles/TileTrap.h"
#include "test/lib/tiles/TileMachine.h"

#include <csignal>
#include <cstring>
#include <optional>
#include <ucontext.h>

using namespace tenon;

namespace {
/// What the last two bits of the prefix say.
enum Prefix { none, operandSize, repeat, repeatNotEqual };

/// One instruction, decoded.
struct TileInstruction {
  uint8_t opcode;
  Prefix prefix;
  int reg, rm, vector; ///< numbers of registers
  bool hasMemory;
  uint64_t address = 0; ///< of the memory operand
  int64_t stride = 0;   ///< its index, scaled, which is what rows are apart
  int64_t length = 0;   ///< in bytes
};

/// Where the registers are that instructions number.
constexpr int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
} // namespace

static thread_local TileMachine tiles;

/// The instruction at `code`, if it is one of map 2 with a VEX prefix.
static std::optional<TileInstruction> decode(const uint8_t *code, const greg_t *registers) {
  constexpr uint8_t kVex = 0xc4, kMap = 2, kHasIndex = 4, kNoBase = 5;
  if (code[0] != kVex || (code[1] & 0x1f) != kMap)
    return std::nullopt;
  auto get = [&](int number) { return int64_t(registers[kRegisters[number]]); };
  int extendedBase = code[1] & 0x20 ? 0 : 8, extendedIndex = code[1] & 0x40 ? 0 : 8;
  const uint8_t *at = code + 5;
  int mode = code[4] >> 6;
  TileInstruction result{code[3], Prefix(code[2] & 3), code[4] >> 3 & 7, code[4] & 7, ~code[2] >> 3 & 15, mode != 3};
  if (result.hasMemory) {
    int base = result.rm;
    bool hasBase = !(mode == 0 && base == kNoBase), isFromHere = !hasBase;
    if (base == kHasIndex) {
      int scale = *at >> 6, index = (*at >> 3 & 7) | extendedIndex;
      base = *at++ & 7;
      hasBase = !(mode == 0 && base == kNoBase);
      isFromHere = false;
      if (index != kHasIndex)
        result.stride = get(index) * (int64_t(1) << scale);
    }
    int64_t displacement = 0;
    if (mode == 1) {
      displacement = int8_t(*at++);
    } else if (mode == 2 || !hasBase) {
      int32_t word;
      memcpy(&word, at, sizeof(word));
      displacement = word;
      at += sizeof(word);
    }
    result.address = displacement + (hasBase ? get(base | extendedBase) : 0);
    if (isFromHere)
      result.address += reinterpret_cast<uint64_t>(at);
  }
  result.length = at - code;
  return result;
}

/// Whether `instruction` is one that there is, with operands as it wants them.
static bool execute(const TileInstruction &instruction) {
  constexpr uint8_t kState = 0x49, kMove = 0x4b, kHalves = 0x5c, kBytes = 0x5e;
  auto *memory = reinterpret_cast<uint8_t *>(instruction.address);
  switch (instruction.opcode) {
  case kState:
    if (instruction.prefix == repeatNotEqual && !instruction.hasMemory)
      return tiles.clear(instruction.reg);
    if (instruction.prefix != none)
      return false;
    if (instruction.hasMemory)
      return tiles.configure(memory + instruction.stride);
    tiles.release();
    return true;
  case kMove:
    if (!instruction.hasMemory || instruction.prefix == none)
      return false;
    if (instruction.prefix == repeat)
      return tiles.store(instruction.reg, memory, instruction.stride);
    return tiles.load(instruction.reg, memory, instruction.stride);
  case kHalves:
    return !instruction.hasMemory && instruction.prefix == repeat &&
           tiles.multiplyHalves(instruction.reg, instruction.rm, instruction.vector);
  case kBytes: {
    TileMachine::Signs signs{instruction.prefix == repeat || instruction.prefix == repeatNotEqual,
                             instruction.prefix == operandSize || instruction.prefix == repeatNotEqual};
    return !instruction.hasMemory && tiles.multiplyBytes(instruction.reg, instruction.rm, instruction.vector, signs);
  }
  default:
    return false;
  }
}

static void handle(int signal, siginfo_t *, void *context) {
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  std::optional<TileInstruction> instruction = decode(reinterpret_cast<const uint8_t *>(registers[REG_RIP]), registers);
  if (instruction && execute(*instruction))
    registers[REG_RIP] += instruction->length;
  else
    ::signal(signal, SIG_DFL);
}

void tenon::trapTileInstructions() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}
