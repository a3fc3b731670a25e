//===- Loop.cpp - the instruction loop -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A switch of short cases. They rely on what verifyPlan has checked once, operand
// counts, indices and jump targets, and on what resolve() checks for each new set
// of sizes: that every buffer lies within its storage.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Session.h"
#include "runtime/core/Symbols.h"

#include <cstring>
#include <ctime>
#include <sys/random.h>

namespace tenon::rt {

static int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

struct Session::LaunchJob : Job {
  const Session *session;
  tenon_kernel_fn kernel;
  void *const *buffers;
  const int64_t *sizes;

  static int32_t run(const Job &job, uint32_t thread, Share &share) {
    const auto &self = static_cast<const LaunchJob &>(job);
    const Session &session = *self.session;
    void *scratch = session.scratch.bytes() + thread * session.scratchStride;
    int64_t time = session.profile ? now() : 0, begin, end;
    int32_t result = 0;
    while (!result && share.next(begin, end))
      result = self.kernel(self.buffers, self.sizes, begin, end, scratch);
    if (session.profile)
      session.report(thread, time, share.ownBegin(), share.ownEnd());
    return result;
  }
};

/// A copy or a fill in blocks, so that threads share a large one.
struct Session::BlockJob : Job {
  const Session *session;
  uint8_t *to;
  const uint8_t *from; // null: fill
  int value;
  uint64_t bytes;
  static constexpr uint64_t blockBytes = 256u << 10;

  static int32_t run(const Job &job, uint32_t thread, Share &share) {
    const auto &self = static_cast<const BlockJob &>(job);
    int64_t time = self.session->profile ? now() : 0, begin, end;
    while (share.next(begin, end)) {
      uint64_t first = uint64_t(begin) * blockBytes, last = uint64_t(end) * blockBytes;
      if (last > self.bytes)
        last = self.bytes;
      if (self.from)
        memmove(self.to + first, self.from + first, last - first);
      else
        memset(self.to + first, self.value, last - first);
    }
    if (self.session->profile)
      self.session->report(thread, time, 0, 0);
    return 0;
  }
};

void Session::report(uint32_t thread, int64_t beginTime, int64_t begin, int64_t end) const {
  tenon_profile_event event{program.firstInstruction + current, thread, beginTime, now(), begin, end};
  profile(profileUser, &event);
}

/// What an error calls an instruction.
static const char *nameOf(const Plan &plan, const Instruction &instruction) {
  if (*instruction.name || instruction.op != fmt::Opcode::launch)
    return instruction.name;
  const Kernel &kernel = plan.kernels[instruction.a];
  return *kernel.display ? kernel.display : kernel.name;
}

Status Session::kernelFailed(const Instruction &instruction, int32_t code) const {
  const char *name = nameOf(plan, instruction);
  switch (code) {
  case TENON_KERNEL_INDEX_OUT_OF_RANGE:
    return Status::make(TENON_INVALID,
                        "node '%s': an index that the model computed lies outside of its tensor; "
                        "check the values of the inputs",
                        name);
  case TENON_KERNEL_BAD_VALUE:
    return Status::make(TENON_INVALID,
                        "node '%s': a value that the model computed is not allowed there; check the "
                        "values of the inputs",
                        name);
  default:
    return Status::make(TENON_FAULT,
                        "node '%s': its kernel '%s' failed with code %d; compile the model again", name,
                        plan.kernels[instruction.a].name, code);
  }
}

Status Session::operandTooSmall(const Instruction &instruction, uint32_t operand, int64_t wanted) const {
  uint32_t index = instruction.buffers.begin + operand;
  return Status::make(TENON_INVALID, "node '%s': %s of %lld bytes, but buffer '%s' has %llu",
                      instruction.name, fmt::kInstructions[uint32_t(instruction.op)].name, (long long)wanted,
                      plan.buffers[plan.operands[index]].name, (unsigned long long)sizeOf(index));
}

Status Session::launch(const Instruction &instruction) {
  int64_t tiles = bound->exprs[instruction.b];
  if (tiles <= 0) {
    if (tiles == 0)
      return {};
    return Status::make(TENON_INVALID, "node '%s': a launch of %lld tiles", nameOf(plan, instruction),
                        (long long)tiles);
  }
  LaunchJob job{{LaunchJob::run, tiles, isBackward},
                this,
                program.entries[instruction.a],
                bound->operands.data() + instruction.buffers.begin,
                bound->sizes.data() + instruction.exprs.begin};
  int32_t code = pool.run(job);
  return code == TENON_KERNEL_OK ? Status() : kernelFailed(instruction, code);
}

Status Session::copyOrFill(const Instruction &instruction) {
  int64_t bytes = bound->sizes[instruction.exprs.begin];
  for (uint32_t i = 0; i < instruction.buffers.count; ++i)
    // A negative count is a huge one here.
    if (uint64_t(bytes) > sizeOf(instruction.buffers.begin + i))
      return operandTooSmall(instruction, i, bytes);
  if (bytes == 0)
    return {};
  void *const *buffer = bound->operands.data() + instruction.buffers.begin;
  bool copy = instruction.op == fmt::Opcode::copy;
  int64_t blocks = int64_t((uint64_t(bytes) + BlockJob::blockBytes - 1) / BlockJob::blockBytes);
  BlockJob job{{BlockJob::run, blocks},
               this,
               static_cast<uint8_t *>(buffer[copy ? 1 : 0]),
               copy ? static_cast<const uint8_t *>(buffer[0]) : nullptr,
               int(instruction.a),
               uint64_t(bytes)};
  pool.run(job);
  return {};
}

/// What is used has had its memory.
Status Session::checkOperands(const Instruction &instruction) const {
  for (uint32_t i = 0; i < instruction.buffers.count; ++i) {
    uint32_t operand = instruction.buffers.begin + i;
    if (!bound->operands[operand]) [[unlikely]]
      return Status::make(TENON_INVALID, "node '%s': buffer '%s' is used before it has its %llu bytes",
                          nameOf(plan, instruction), plan.buffers[plan.operands[operand]].name,
                          (unsigned long long)sizeOf(operand));
  }
  return {};
}

Status Session::check(const Instruction &instruction) const {
  const Check &check = plan.checks[instruction.a];
  if (bound->exprs[check.expr] >= 0)
    return {};
  return requirementFails(plan, check, bound->symbols.data(), instruction.name);
}

Status Session::writeSeed(const Instruction &instruction) {
  // Each time another one, of the sequence SplitMix64 (Steele, Lea, Flood, 2014): so loops differ from time to time.
  uint64_t value = seed + ++seedsWritten * 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  value ^= value >> 31;
  if (sizeOf(instruction.buffers.begin) < sizeof value)
    return operandTooSmall(instruction, 0, sizeof value);
  if (!hasSeed && getrandom(&value, sizeof value, 0) != sizeof value)
    return Status::make(TENON_RESOURCES, "node '%s': the system gives no random numbers; set a seed",
                        instruction.name);
  memcpy(bound->operands[instruction.buffers.begin], &value, sizeof value);
  return {};
}

Status Session::execute() {
  const Instruction *instructions = plan.instructions.data();
  seedsWritten = 0;
  isBackward = false;
  for (uint32_t next = 0;;) {
    const Instruction &instruction = instructions[next];
    current = next++;
    if (plan.placesBuffers)
      TENON_TRY(checkOperands(instruction));
    if (debug) [[unlikely]]
      debug->enter(current);
    switch (instruction.op) {
    case fmt::Opcode::launch:
      TENON_TRY(launch(instruction));
      break;
    case fmt::Opcode::copy:
    case fmt::Opcode::fill:
      TENON_TRY(copyOrFill(instruction));
      break;
    case fmt::Opcode::jump:
      if (instruction.a < next)
        isBackward = !isBackward;
      next = instruction.a;
      break;
    case fmt::Opcode::branch_if_zero:
      if (sizeOf(instruction.buffers.begin) == 0)
        return operandTooSmall(instruction, 0, 1);
      if (*static_cast<const uint8_t *>(bound->operands[instruction.buffers.begin]) == 0)
        next = instruction.a;
      break;
    case fmt::Opcode::bind_symbol: {
      int64_t time = profile ? now() : 0;
      TENON_TRY(readSymbol(instruction));
      if (profile)
        report(0, time, 0, 0);
      break;
    }
    case fmt::Opcode::set_symbol:
      TENON_TRY(setSymbol(instruction, bound->sizes[instruction.exprs.begin]));
      break;
    case fmt::Opcode::reserve:
      TENON_TRY(reserveBlock(instruction));
      break;
    case fmt::Opcode::check:
      TENON_TRY(check(instruction));
      break;
    case fmt::Opcode::run_seed:
      TENON_TRY(writeSeed(instruction));
      break;
    case fmt::Opcode::release:
      artifact.releaseWeights(bound->operands[instruction.buffers.begin], sizeOf(instruction.buffers.begin));
      break;
    case fmt::Opcode::halt:
      return {};
    }
    if (debug) [[unlikely]]
      TENON_TRY(debug->leave(current, next));
  }
}

Status Session::executeGuarded() {
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Input &input : inputs)
    from.push_back(input.data);
  for (const Output &output : outputs)
    to.push_back(output.data ? output.data : output.own.bytes());
  debug->begin(from);
  TENON_TRY(execute());
  debug->end(to);
  return {};
}

} // namespace tenon::rt
