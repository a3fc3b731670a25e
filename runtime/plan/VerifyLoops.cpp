//===- VerifyLoops.cpp - the part of verifyPlan about loops ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The condition at the end of an iteration is followed backwards through the iteration, by a backward slice: the
// buffers at its beginning that the condition depends on. These are followed through the iteration before it, and so
// on. A counter depends on itself. Where nothing does that is on the way, the condition is the same from some iteration
// on: whether the loop ends then or never, the run tells.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/VerifyLoops.h"

#include <algorithm>

namespace tenon::rt {

namespace {
/// A loop: instructions [begin, end]; the first one is the exit branch, and the last one jumps back to it.
class LoopSlice {
public:
  LoopSlice(const Plan &plan, uint32_t begin, uint32_t end) : plan(plan), begin(begin), end(end) {}

  /// True if anything in the loop writes the condition, or rebinds its buffer.
  bool changesCondition() const;
  /// Returns the iteration from which on the condition is constant; 0 if it is not known.
  uint32_t countIterations();

private:
  bool isSimple();
  bool sliceBack(std::vector<uint32_t> &wanted, size_t limit) const;
  bool writes(const Instruction &instruction, uint32_t operand) const;
  bool overwrites(const Instruction &instruction, uint32_t operand, uint32_t buffer) const;
  bool mayWrite(const Instruction &instruction, uint32_t buffer) const;
  bool mayOverlap(const Buffer &a, const Buffer &b) const;
  bool isLoopVariant(uint32_t buffer) const;
  const uint32_t *operandsOf(const Instruction &instruction) const {
    return plan.operands.data() + instruction.buffers.begin;
  }

  const Plan &plan;
  uint32_t begin, end;
  std::vector<bool> isConditional; // by instruction from `begin` on
};
} // namespace

/// True if two buffers may overlap for some sizes.
bool LoopSlice::mayOverlap(const Buffer &a, const Buffer &b) const {
  bool hasIndex = a.storage == Storage::input || a.storage == Storage::output || a.storage == Storage::heap;
  if (a.storage != b.storage || (hasIndex && a.index != b.index))
    return false;
  int64_t begins[2], ends[2];
  const Buffer *both[] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    const Expr &offset = plan.exprs[both[i]->offset], &size = plan.exprs[both[i]->size];
    if (offset.op != ExprOp::constant || size.op != ExprOp::constant ||
        __builtin_add_overflow(offset.a, size.a, &ends[i]))
      return true;
    begins[i] = offset.a;
  }
  return begins[0] < ends[1] && begins[1] < ends[0];
}

/// True if an instruction may write an operand. If it is unknown which buffers are results, all may be.
bool LoopSlice::writes(const Instruction &instruction, uint32_t operand) const {
  const char *kinds = fmt::kInstructions[uint32_t(instruction.op)].buffers;
  if (*kinds != '*')
    return kinds[operand] == 'w';
  uint32_t results = plan.resultsOf(instruction);
  return !results || operand >= instruction.buffers.count - results;
}

/// True if an instruction that writes the operand overwrites all of `buffer`. Kernels write all of their results.
bool LoopSlice::overwrites(const Instruction &instruction, uint32_t operand, uint32_t buffer) const {
  uint32_t index = operandsOf(instruction)[operand];
  const Buffer &a = plan.buffers[index], &b = plan.buffers[buffer];
  if (index != buffer && (a.storage != b.storage || a.index != b.index || a.offset != b.offset || a.size != b.size))
    return false;
  switch (instruction.op) {
  case fmt::Opcode::launch:
  case fmt::Opcode::host_call:
    return plan.resultsOf(instruction) != 0;
  case fmt::Opcode::copy:
  case fmt::Opcode::fill: {
    uint32_t bytes = plan.sizes[instruction.exprs.begin];
    const Expr &written = plan.exprs[bytes], &size = plan.exprs[a.size];
    return bytes == a.size || (written.op == ExprOp::constant && size.op == ExprOp::constant && written.a >= size.a);
  }
  default:
    return true;
  }
}

bool LoopSlice::mayWrite(const Instruction &instruction, uint32_t buffer) const {
  for (uint32_t i = 0; i < instruction.buffers.count; ++i)
    if (writes(instruction, i) && mayOverlap(plan.buffers[operandsOf(instruction)[i]], plan.buffers[buffer]))
      return true;
  return false;
}

bool LoopSlice::isLoopVariant(uint32_t buffer) const {
  return std::any_of(plan.instructions.begin() + begin, plan.instructions.begin() + end,
                     [&](const Instruction &instruction) { return mayWrite(instruction, buffer); });
}

/// True if all iterations have the same sizes, run to the loop's end, contain no other loop, and only have
/// deterministic instructions. Finds the instructions that not all iterations execute.
bool LoopSlice::isSimple() {
  isConditional.assign(end - begin + 1, false);
  for (uint32_t i = begin + 1; i < end; ++i) {
    const Instruction &instruction = plan.instructions[i];
    switch (instruction.op) {
    case fmt::Opcode::jump:
    case fmt::Opcode::branch_if_zero:
      if (instruction.a <= i || instruction.a > end)
        return false;
      std::fill(isConditional.begin() + (i + 1 - begin), isConditional.begin() + (instruction.a - begin), true);
      break;
    case fmt::Opcode::bind_symbol:
    case fmt::Opcode::set_symbol:
    case fmt::Opcode::run_seed:
    case fmt::Opcode::host_call:
    case fmt::Opcode::halt:
      return false;
    default:
      break;
    }
  }
  return true;
}

/// Replaces the buffers that are needed at the end of an iteration by those that they depend on at its beginning.
/// Returns false if there are more than `limit` on the way.
bool LoopSlice::sliceBack(std::vector<uint32_t> &wanted, size_t limit) const {
  bool wantsBranches = false;
  for (uint32_t i = end; i-- > begin + 1;) {
    const Instruction &instruction = plan.instructions[i];
    const uint32_t *operands = operandsOf(instruction);
    if (instruction.op == fmt::Opcode::branch_if_zero && wantsBranches)
      wanted.push_back(operands[0]);
    if (std::none_of(wanted.begin(), wanted.end(), [&](uint32_t buffer) { return mayWrite(instruction, buffer); }))
      continue;
    bool isAlways = !isConditional[i - begin];
    wantsBranches |= !isAlways;
    if (isAlways)
      std::erase_if(wanted, [&](uint32_t buffer) {
        for (uint32_t k = 0; k < instruction.buffers.count; ++k)
          if (writes(instruction, k) && overwrites(instruction, k, buffer))
            return true;
        return false;
      });
    for (uint32_t k = 0; k < instruction.buffers.count; ++k)
      if (!writes(instruction, k) ||
          (*fmt::kInstructions[uint32_t(instruction.op)].buffers == '*' && !plan.resultsOf(instruction)))
        wanted.push_back(operands[k]);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    if (wanted.size() > limit)
      return false;
  }
  return true;
}

bool LoopSlice::changesCondition() const {
  const Instruction *first = plan.instructions.data() + begin, *last = plan.instructions.data() + end;
  uint32_t condition = operandsOf(*first)[0];
  bool moves = plan.exprs[plan.buffers[condition].offset].op != ExprOp::constant;
  return std::any_of(first + 1, last, [&](const Instruction &inside) {
    bool bindsSymbol = inside.op == fmt::Opcode::bind_symbol || inside.op == fmt::Opcode::set_symbol;
    return mayWrite(inside, condition) || (moves && bindsSymbol);
  });
}

uint32_t LoopSlice::countIterations() {
  if (!isSimple())
    return 0;
  // Longer chains and more buffers are treated as cyclic, so that loading takes linear time.
  constexpr uint32_t kMaxIterations = 16, kMaxBuffers = 16;
  std::vector<uint32_t> slice{operandsOf(plan.instructions[begin])[0]};
  for (uint32_t i = 1; i <= kMaxIterations; ++i) {
    if (!sliceBack(slice, kMaxBuffers))
      return 0;
    std::erase_if(slice, [&](uint32_t buffer) { return !isLoopVariant(buffer); });
    if (slice.empty())
      return i;
  }
  return 0;
}

#define FAIL(format, ...)                                                                                              \
  Status::make(TENON_INVALID, "plan: instruction %u (%s '%s'): " format, i,                                            \
               fmt::kInstructions[uint32_t(jump.op)].name, jump.name, __VA_ARGS__)

Status verifyLoops(Plan &plan) {
  constexpr uint64_t kMaxDepth = 64; // of loops in loops; what a model has is a few
  uint64_t steps = 0;
  for (uint32_t i = 0; i < plan.instructions.size(); ++i) {
    Instruction &jump = plan.instructions[i];
    bool isBranch = jump.op == fmt::Opcode::branch_if_zero;
    if ((jump.op != fmt::Opcode::jump && !isBranch) || jump.a > i)
      continue;
    Instruction &branch = plan.instructions[jump.a];
    if (isBranch || branch.op != fmt::Opcode::branch_if_zero || branch.a != i + 1)
      return FAIL("goes back to instruction %u, which is no loop's beginning that leaves it", jump.a);
    steps += i - jump.a;
    if (steps > kMaxDepth * plan.instructions.size())
      return FAIL("more than %llu loops lie in each other", (unsigned long long)kMaxDepth);
    LoopSlice loop(plan, jump.a, i);
    if (!loop.changesCondition())
      return FAIL("nothing in the loop from instruction %u on changes its condition '%s', so it never ends", jump.a,
                  plan.buffers[plan.operands[branch.buffers.begin]].name);
    jump.iterations = branch.iterations = loop.countIterations();
  }
  return {};
}

} // namespace tenon::rt
