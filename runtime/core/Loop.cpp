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

#include "runtime/base/Clock.h"
#include "runtime/core/Session.h"
#include "runtime/plan/Symbols.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <sys/random.h>

namespace tenon::rt {

/// Reports what the caller's thread does itself.
void Session::report(uint32_t instruction, int64_t beginTime) const {
  tenon_profile_event event{program.firstInstruction + instruction, 0, beginTime, now(), 0, 0};
  profile(profileUser, &event);
}

/// What an error calls an instruction.
static const char *nameOf(const Plan &plan, const Instruction &instruction) {
  if (*instruction.name || instruction.op != fmt::Opcode::launch)
    return instruction.name;
  const Kernel &kernel = plan.kernels[instruction.a];
  return *kernel.display ? kernel.display : kernel.name;
}

/// Reports which index was out of range. If the report is all zeros, the kernel has left none.
static Status indexOutOfRange(const char *name, const tenon_kernel_index_report &report) {
  if (report.index >= report.first && report.index <= report.last)
    return Status::make(TENON_INVALID,
                        "node '%s': an index that the model computed lies outside of its tensor; "
                        "check the values of the inputs",
                        name);
  if (report.last < report.first)
    return Status::make(
        TENON_INVALID,
        "node '%s': index %lld is out of range, the dimension is empty; check the sizes and the values of "
        "the inputs",
        name, (long long)report.index);
  return Status::make(
      TENON_INVALID,
      "node '%s': index %lld is out of range, it has to be from %lld to %lld; check the values of the inputs", name,
      (long long)report.index, (long long)report.first, (long long)report.last);
}

Status Session::kernelFailed(const Instruction &instruction, const CommandFailure &failure) const {
  const char *name = nameOf(plan, instruction);
  switch (failure.code) {
  case TENON_KERNEL_INDEX_OUT_OF_RANGE:
    return indexOutOfRange(name, failure.report);
  case TENON_KERNEL_BAD_VALUE:
    return Status::make(TENON_INVALID,
                        "node '%s': a value that the model computed is not allowed there; check the "
                        "values of the inputs",
                        name);
  default:
    return Status::make(TENON_FAULT, "node '%s': its kernel '%s' failed with code %d; compile the model again", name,
                        plan.kernels[instruction.a].name, failure.code);
  }
}

Status Session::operandTooSmall(const Instruction &instruction, uint32_t operand, int64_t wanted) const {
  uint32_t index = instruction.buffers.begin + operand;
  return Status::make(TENON_INVALID, "node '%s': %s of %lld bytes, but buffer '%s' has %llu", instruction.name,
                      fmt::kInstructions[uint32_t(instruction.op)].name, (long long)wanted,
                      plan.buffers[plan.operands[index]].name, (unsigned long long)sizeOf(index));
}

/// The first few runs are timed, and later ones occasionally: the times of launches determine over how many threads
/// they are split.
void Session::beginTiming() {
  constexpr uint32_t kFirst = 4, kEvery = 64;
  assert(bound && bound->work.size() == plan.instructions.size() && "sizes are bound, and times kept, before a run");
  uint32_t run = bound->runs++;
  isTimed = queue.setTimed(run < kFirst || run % kEvery == 0);
}

void Session::endTiming() {
  if (!isTimed)
    return;
  isTimed = queue.setTimed(false);
  for (size_t i = 0; i < plan.instructions.size(); ++i) {
    uint64_t mean = std::min<uint64_t>(queue.takeTime(program.firstInstruction + uint32_t(i)), UINT32_MAX);
    if (!mean)
      continue;
    // The minimum counts, because another process may have had the CPU. It increases slowly, in case the time has
    // really increased.
    uint64_t known = bound->work[i];
    bound->work[i] = uint32_t(!known || mean < known ? mean : known + (mean - known) / 8);
  }
}

Status Session::neverEnds(const Instruction &jump) const {
  return Status::make(
      TENON_INVALID,
      "node '%s': its loop never ends: no iteration changes what the condition depends on; check the values of the "
      "inputs",
      plan.instructions[jump.a].name);
}

/// Sets the fields of the current instruction's command that all kinds share. Consecutive instructions form one list of
/// commands, during which the device need not wait for the loop.
Command Session::makeCommand(const Instruction &instruction) const {
  assert(&instruction == &plan.instructions[current] && "a command has the number of the instruction at hand");
  Command command;
  command.number = program.firstInstruction + current;
  // The time of an instruction with data-dependent sizes varies between runs.
  command.nanoseconds = instruction.isLate ? 0 : bound->work[current];
  command.buffers = bound->operands.data() + instruction.buffers.begin;
  return command;
}

/// Waits for the commands that were submitted.
Status Session::wait() {
  int64_t begin = pager ? now() : 0;
  CommandFailure failure = queue.wait();
  if (pager)
    pager->giveBack(now() - begin);
  if (failure.code == TENON_KERNEL_OK)
    return {};
  assert(failure.number >= program.firstInstruction &&
         failure.number - program.firstInstruction < plan.instructions.size() &&
         "a session waits for commands of its own program");
  return kernelFailed(plan.instructions[failure.number - program.firstInstruction], failure);
}

Status Session::addLaunch(const Instruction &instruction) {
  assert(instruction.a < program.entries.size() && "a launch names a kernel of its plan");
  int64_t tiles = bound->exprs[instruction.b];
  if (tiles < 0)
    return Status::make(TENON_INVALID, "node '%s': a launch of %lld tiles", nameOf(plan, instruction),
                        (long long)tiles);
  if (instruction.isLate)
    TENON_TRY(checkFacts(instruction));
  Command command = makeCommand(instruction);
  command.isConcurrent = instruction.c;
  command.kernel = program.entries[instruction.a];
  command.sizes = bound->sizes.data() + instruction.exprs.begin;
  command.count = uint64_t(tiles);
  queue.submit(command);
  return {};
}

Status Session::addCopyOrFill(const Instruction &instruction) {
  int64_t bytes = bound->sizes[instruction.exprs.begin];
  for (uint32_t i = 0; i < instruction.buffers.count; ++i)
    // A negative count is a huge one here.
    if (uint64_t(bytes) > sizeOf(instruction.buffers.begin + i))
      return operandTooSmall(instruction, i, bytes);
  Command command = makeCommand(instruction);
  bool isFill = instruction.op == fmt::Opcode::fill;
  assert(instruction.buffers.count == (isFill ? 1u : 2u) && "a fill has a target, a copy a source and a target");
  command.kind = isFill ? Command::Kind::fill : Command::Kind::copy;
  command.value = isFill ? uint8_t(instruction.a) : 0;
  command.count = uint64_t(bytes);
  queue.submit(command);
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
  // Each seed is the next number of SplitMix64 (Steele, Lea, Flood, 2014), so that iterations of loops differ.
  uint64_t value = seed + ++seedsWritten * 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  value ^= value >> 31;
  if (sizeOf(instruction.buffers.begin) < sizeof value)
    return operandTooSmall(instruction, 0, sizeof value);
  if (!hasSeed && getrandom(&value, sizeof value, 0) != sizeof value)
    return Status::make(TENON_RESOURCES, "node '%s': the system gives no random numbers; set a seed", instruction.name);
  return queue.write(bound->operands[instruction.buffers.begin], &value, sizeof value);
}

/// True if threads execute an instruction; the caller executes the others itself, in between.
static bool isJob(const Instruction &instruction) {
  return instruction.op == fmt::Opcode::launch || instruction.op == fmt::Opcode::copy ||
         instruction.op == fmt::Opcode::fill;
}

Status Session::execute() {
  const Instruction *instructions = plan.instructions.data();
  seedsWritten = 0;
  isBackward = false;
  queue.setBackward(false);
  steadyIterations = 0;
  for (uint32_t next = 0;;) {
    assert(next < plan.instructions.size() &&
           "verified jumps stay in the plan, whose last instruction does not fall through");
    const Instruction &instruction = instructions[next];
    current = next++;
    if (!isJob(instruction))
      TENON_TRY(wait());
    if (plan.placesBuffers)
      TENON_TRY(checkOperands(instruction));
    if (watchesWeights) [[unlikely]]
      TENON_TRY(enterWeights(instruction));
    if (debug) [[unlikely]]
      debug->enter(current);
    switch (instruction.op) {
    case fmt::Opcode::launch:
      TENON_TRY(addLaunch(instruction));
      break;
    case fmt::Opcode::copy:
    case fmt::Opcode::fill:
      TENON_TRY(addCopyOrFill(instruction));
      break;
    case fmt::Opcode::jump:
      if (instruction.a < next)
        queue.setBackward(isBackward = !isBackward);
      // Loops with a known bound contain no other loops, so one counter suffices.
      if (instruction.iterations && steadyIterations++ > instruction.iterations)
        return neverEnds(instruction);
      next = instruction.a;
      break;
    case fmt::Opcode::branch_if_zero: {
      uint8_t condition;
      if (sizeOf(instruction.buffers.begin) == 0)
        return operandTooSmall(instruction, 0, 1);
      TENON_TRY(queue.read(&condition, bound->operands[instruction.buffers.begin], sizeof condition));
      if (condition == 0) {
        next = instruction.a;
        if (instruction.iterations)
          steadyIterations = 0;
      }
      break;
    }
    case fmt::Opcode::bind_symbol: {
      int64_t time = profile ? now() : 0;
      TENON_TRY(readSymbol(instruction));
      if (profile)
        report(current, time);
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
      if (!pager)
        artifact.releaseWeights(bound->operands[instruction.buffers.begin], sizeOf(instruction.buffers.begin));
      break;
    case fmt::Opcode::host_call: {
      int64_t time = profile ? now() : 0;
      TENON_TRY(runHostCall(instruction));
      if (profile)
        report(current, time);
      break;
    }
    case fmt::Opcode::halt:
      return {};
    }
    if (debug) [[unlikely]] {
      TENON_TRY(wait());
      TENON_TRY(debug->leave(current, next));
    }
  }
}

Status Session::executeGuarded() {
  assert(debug && "buffers are guarded by the arena for debugging");
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Input &input : inputs)
    from.push_back(input.data);
  for (const Output &output : outputs)
    to.push_back(output.place(isHostAddressable));
  debug->begin(from);
  TENON_TRY(execute());
  debug->end(to);
  return {};
}

} // namespace tenon::rt
