//===- KernelFacts.cpp - what a kernel says of its launches --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/KernelFacts.h"

#include "runtime/format/Kernel.h"
#include "runtime/plan/Expressions.h"

namespace tenon::rt {

static_assert(int(ExprOp::constant) == TENON_FACT_CONSTANT && int(ExprOp::symbol) == TENON_FACT_SIZE &&
              int(ExprOp::add) == TENON_FACT_ADD && int(ExprOp::max) == TENON_FACT_MAX);

/// Upper bound for the stack depth of an expression.
static constexpr uint32_t kMaxDepth = 32;
/// More operands than any launch has.
static constexpr int64_t kMaxOperands = 1 << 20;

/// Appends an expression to `program`, and sets the end of `range`. Checks that its stack never underflows.
bool KernelFacts::decodeExpr(const int64_t *&next, const int64_t *end, Range *range) {
  range->begin = uint32_t(program.size());
  uint32_t depth = 0;
  for (;;) {
    if (next == end)
      return false;
    int64_t op = *next++;
    if (op == TENON_FACT_END)
      break;
    if (op < TENON_FACT_CONSTANT || op > TENON_FACT_MAX)
      return false;
    int64_t value = 0;
    if (op <= TENON_FACT_SIZE) {
      if (next == end || ++depth > kMaxDepth)
        return false;
      value = *next++;
      if (op == TENON_FACT_SIZE && (value < 0 || value >= int64_t(sizes)))
        return false;
    } else if (depth-- < 2) {
      return false;
    }
    program.push_back({ExprOp(op), value});
  }
  range->end = uint32_t(program.size());
  return depth <= 1;
}

bool KernelFacts::decode(const int64_t *words, size_t count) {
  const int64_t *next = words, *end = words + count;
  if (count < 3 || words[0] < 0 || words[0] > kMaxOperands || words[1] < 0 || words[1] > kMaxOperands || words[2] < 0)
    return false;
  // The vector's size is bounded by the number of words.
  uint32_t buffers = uint32_t(words[0]);
  sizes = uint32_t(words[1]);
  scratch = uint64_t(words[2]);
  next += 3;
  if (!decodeExpr(next, end, &tiles))
    return false;
  for (uint32_t i = 0; i < buffers; ++i) {
    if (next == end || *next < 0 || *next > 1)
      return false;
    Operand operand{*next++ == 1, {}};
    if (!decodeExpr(next, end, &operand.bytes))
      return false;
    operands.push_back(operand);
  }
  // The array of a shared object may be padded.
  return true;
}

bool KernelFacts::evaluate(Range range, const int64_t *sizeValues, int64_t whereEmpty, int64_t *result) const {
  int64_t stack[kMaxDepth];
  uint32_t depth = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const Step &step = program[i];
    if (step.op == ExprOp::constant) {
      stack[depth++] = step.value;
    } else if (step.op == ExprOp::symbol) {
      stack[depth++] = sizeValues[step.value];
    } else {
      --depth;
      if (!applyExprOp(step.op, stack[depth - 1], stack[depth], &stack[depth - 1]))
        return false;
    }
  }
  *result = depth ? stack[0] : whereEmpty;
  return !depth || stack[0] >= 0;
}

#define FAIL(format, ...)                                                                                              \
  Status::make(TENON_INVALID, "damaged: node '%s': its kernel '%s' " format "; compile or copy it again", launch.name, \
               plan.kernels[launch.a].name, __VA_ARGS__)

static Status verifyLaunch(const Plan &plan, const Instruction &launch, const KernelFacts &facts) {
  if (launch.buffers.count != facts.numBuffers() || launch.exprs.count != facts.numSizes())
    return FAIL("takes %u buffers and %u sizes, and is launched with %u and %u", facts.numBuffers(), facts.numSizes(),
                launch.buffers.count, launch.exprs.count);
  for (uint32_t i = 0; i < launch.buffers.count; ++i) {
    const Buffer &buffer = plan.buffers[plan.operands[launch.buffers.begin + i]];
    if (facts.isWritten(i) && (buffer.storage == Storage::weight || buffer.storage == Storage::input))
      return FAIL("writes '%s', which is %s", buffer.name, buffer.storage == Storage::weight ? "a weight" : "an input");
  }
  return {};
}

Status verifyLaunches(const Plan &plan, const std::vector<KernelFacts> &facts) {
  for (const Instruction &instruction : plan.instructions)
    if (instruction.op == fmt::Opcode::launch && facts[instruction.a].exist())
      TENON_TRY(verifyLaunch(plan, instruction, facts[instruction.a]));
  return {};
}

Status checkLaunch(const Plan &plan, const Instruction &launch, const KernelFacts &facts, const int64_t *exprs,
                   const int64_t *sizes) {
  int64_t tiles, bytes;
  if (!facts.countTiles(sizes, &tiles))
    return FAIL("does not take these %u sizes", launch.exprs.count);
  if (tiles >= 0 && tiles != exprs[launch.b])
    return FAIL("has %lld tiles for these sizes, and is launched with %lld", (long long)tiles,
                (long long)exprs[launch.b]);
  if (facts.scratchBytes() > uint64_t(exprs[plan.scratchSize]))
    return FAIL("needs %llu bytes of scratch, the plan has %lld", (unsigned long long)facts.scratchBytes(),
                (long long)exprs[plan.scratchSize]);
  for (uint32_t i = 0; i < launch.buffers.count; ++i) {
    const Buffer &buffer = plan.buffers[plan.operands[launch.buffers.begin + i]];
    if (!facts.leastBytes(i, sizes, &bytes))
      return FAIL("does not take these %u sizes", launch.exprs.count);
    if (bytes > exprs[buffer.size])
      return FAIL("needs %lld bytes of buffer '%s', which has %lld", (long long)bytes, buffer.name,
                  (long long)exprs[buffer.size]);
  }
  return {};
}

} // namespace tenon::rt
