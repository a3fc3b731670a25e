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
#include "runtime/device/cpu/Spin.h"
#include "runtime/plan/Symbols.h"

#include <algorithm>
#include <cstring>
#include <sys/random.h>

namespace tenon::rt {

int32_t Session::runLaunch(const Job &job, uint32_t thread, Share &share) {
  const Session &session = *static_cast<const Session *>(job.owner);
  const Instruction &instruction = session.plan.instructions[job.number];
  tenon_kernel_fn kernel = session.program.entries[instruction.a];
  void *const *buffers = session.bound->operands.data() + instruction.buffers.begin;
  const int64_t *sizes = session.bound->sizes.data() + instruction.exprs.begin;
  void *scratch = session.scratch.bytes() + thread * session.scratchStride;
  int64_t time = session.profile || session.isTimed ? now() : 0, begin, end, lastEnd = -1;
  int32_t result = 0;
  for (; !result && share.next(begin, end); lastEnd = end)
    result = kernel(buffers, sizes, begin, end, scratch, lastEnd);
  if (session.isTimed)
    session.spent[job.number].nanoseconds.fetch_add(uint64_t(now() - time), std::memory_order_relaxed);
  if (session.profile)
    session.report(job.number, thread, time, share.ownBegin(), share.ownEnd());
  return result;
}

/// A copy or a fill is done in blocks, so that threads share a large one.
static constexpr uint64_t kBlockBytes = 256u << 10;

int32_t Session::runCopyOrFill(const Job &job, uint32_t thread, Share &share) {
  const Session &session = *static_cast<const Session *>(job.owner);
  const Instruction &instruction = session.plan.instructions[job.number];
  void *const *buffer = session.bound->operands.data() + instruction.buffers.begin;
  uint64_t bytes = uint64_t(session.bound->sizes[instruction.exprs.begin]);
  int64_t time = session.profile || session.isTimed ? now() : 0, begin, end;
  while (share.next(begin, end)) {
    uint64_t first = uint64_t(begin) * kBlockBytes, last = std::min(uint64_t(end) * kBlockBytes, bytes);
    if (instruction.op == fmt::Opcode::copy)
      memmove(static_cast<uint8_t *>(buffer[1]) + first, static_cast<const uint8_t *>(buffer[0]) + first, last - first);
    else
      memset(static_cast<uint8_t *>(buffer[0]) + first, int(instruction.a), last - first);
  }
  if (session.isTimed)
    session.spent[job.number].nanoseconds.fetch_add(uint64_t(now() - time), std::memory_order_relaxed);
  if (session.profile)
    session.report(job.number, thread, time, 0, 0);
  return 0;
}

void Session::report(uint32_t instruction, uint32_t thread, int64_t beginTime, int64_t begin, int64_t end) const {
  tenon_profile_event event{program.firstInstruction + instruction, thread, beginTime, now(), begin, end};
  profile(profileUser, &event);
}

/// What an error calls an instruction.
static const char *nameOf(const Plan &plan, const Instruction &instruction) {
  if (*instruction.name || instruction.op != fmt::Opcode::launch)
    return instruction.name;
  const Kernel &kernel = plan.kernels[instruction.a];
  return *kernel.display ? kernel.display : kernel.name;
}

/// What a kernel has left in the scratch of the thread that ran it. It names no index where the scratch has no room, or
/// where what is there is no report.
Status Session::indexOutOfRange(const char *name, uint32_t thread) const {
  tenon_kernel_index_report report{};
  if (scratchStride >= sizeof report)
    memcpy(&report, scratch.bytes() + thread * scratchStride, sizeof report);
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

Status Session::kernelFailed(const Instruction &instruction, const JobFailure &failure) const {
  const char *name = nameOf(plan, instruction);
  switch (failure.code) {
  case TENON_KERNEL_INDEX_OUT_OF_RANGE:
    return indexOutOfRange(name, failure.thread);
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

/// Some of the first runs are timed, and later ones now and then: what launches take decides over how many threads they
/// are split.
void Session::beginTiming() {
  constexpr uint32_t kFirst = 4, kEvery = 64;
  uint32_t run = bound->runs++;
  isTimed = spent && pool.size() > 1 && (run < kFirst || run % kEvery == 0);
}

void Session::endTiming() {
  if (!isTimed)
    return;
  isTimed = false;
  for (size_t i = 0; i < plan.instructions.size(); ++i) {
    uint32_t times = spent[i].times;
    uint64_t took = spent[i].nanoseconds.load(std::memory_order_relaxed);
    spent[i].times = 0;
    spent[i].nanoseconds.store(0, std::memory_order_relaxed);
    if (!times)
      continue;
    // The least counts: another process may have had the CPU. It rises slowly, should it have become more.
    uint64_t mean = std::clamp<uint64_t>(took / times, 1, UINT32_MAX), known = bound->work[i];
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

/// The instruction at hand becomes a job. Jobs of instructions that follow each other are run as one list, in which
/// threads need not wait for the loop. Most are what they were in the run before: then other cores still have them.
void Session::addJob(int32_t (*run)(const Job &, uint32_t, Share &), int64_t tiles, bool isBeside) {
  // What depends on data takes another time in each run.
  Job job{run, this, current, isBeside, tiles, plan.instructions[current].isLate ? 0 : bound->work[current]};
  if (isTimed)
    ++spent[current].times;
  if (jobs[current] != job)
    jobs[current] = job;
  ++numWaiting;
}

/// Runs the jobs of the instructions right before `end`.
Status Session::runJobs(uint32_t end) {
  if (!numWaiting)
    return {};
  uint32_t first = end - numWaiting;
  JobFailure failure = pool.run({&jobs[first], numWaiting, isBackward});
  numWaiting = 0;
  return failure.code == TENON_KERNEL_OK ? Status() : kernelFailed(plan.instructions[first + failure.job], failure);
}

Status Session::addLaunch(const Instruction &instruction) {
  int64_t tiles = bound->exprs[instruction.b];
  if (tiles < 0)
    return Status::make(TENON_INVALID, "node '%s': a launch of %lld tiles", nameOf(plan, instruction),
                        (long long)tiles);
  if (instruction.isLate)
    TENON_TRY(checkFacts(instruction));
  addJob(runLaunch, tiles, instruction.c);
  return {};
}

Status Session::addCopyOrFill(const Instruction &instruction) {
  int64_t bytes = bound->sizes[instruction.exprs.begin];
  for (uint32_t i = 0; i < instruction.buffers.count; ++i)
    // A negative count is a huge one here.
    if (uint64_t(bytes) > sizeOf(instruction.buffers.begin + i))
      return operandTooSmall(instruction, i, bytes);
  addJob(runCopyOrFill, int64_t((uint64_t(bytes) + kBlockBytes - 1) / kBlockBytes), false);
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
    return Status::make(TENON_RESOURCES, "node '%s': the system gives no random numbers; set a seed", instruction.name);
  memcpy(bound->operands[instruction.buffers.begin], &value, sizeof value);
  return {};
}

/// Whether threads do an instruction: the others the caller does by itself, between them.
static bool isJob(const Instruction &instruction) {
  return instruction.op == fmt::Opcode::launch || instruction.op == fmt::Opcode::copy ||
         instruction.op == fmt::Opcode::fill;
}

Status Session::execute() {
  const Instruction *instructions = plan.instructions.data();
  seedsWritten = 0;
  isBackward = false;
  numWaiting = 0;
  steadyIterations = 0;
  for (uint32_t next = 0;;) {
    const Instruction &instruction = instructions[next];
    current = next++;
    if (!isJob(instruction))
      TENON_TRY(runJobs(current));
    if (plan.placesBuffers)
      TENON_TRY(checkOperands(instruction));
    if (numUnchecked) [[unlikely]]
      TENON_TRY(checkWeights(instruction));
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
        isBackward = !isBackward;
      // Loops of which this is known hold no others: one counter will do.
      if (instruction.iterations && steadyIterations++ > instruction.iterations)
        return neverEnds(instruction);
      next = instruction.a;
      break;
    case fmt::Opcode::branch_if_zero:
      if (sizeOf(instruction.buffers.begin) == 0)
        return operandTooSmall(instruction, 0, 1);
      if (*static_cast<const uint8_t *>(bound->operands[instruction.buffers.begin]) == 0) {
        next = instruction.a;
        if (instruction.iterations)
          steadyIterations = 0;
      }
      break;
    case fmt::Opcode::bind_symbol: {
      int64_t time = profile ? now() : 0;
      TENON_TRY(readSymbol(instruction));
      if (profile)
        report(current, 0, time, 0, 0);
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
    case fmt::Opcode::host_call: {
      int64_t time = profile ? now() : 0;
      TENON_TRY(runHostCall(instruction));
      if (profile)
        report(current, 0, time, 0, 0);
      break;
    }
    case fmt::Opcode::halt:
      return {};
    }
    if (debug) [[unlikely]] {
      TENON_TRY(runJobs(next));
      TENON_TRY(debug->leave(current, next));
    }
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
