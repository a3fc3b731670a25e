//===- VerifyInstructions.cpp - the part of verifyPlan about instructions ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/VerifyInstructions.h"

#include "runtime/format/plan_generated.h"
#include "runtime/plan/VerifyLoops.h"

#include <cstring>

namespace tenon::rt {

namespace {
/// The range of expressions that depend on a symbol.
struct Dependents {
  uint32_t first = UINT32_MAX, last = 0;
};

/// The last groups of launches that use a buffer, and that write it.
struct GroupUse {
  uint32_t user = UINT32_MAX, writer = UINT32_MAX;
};
} // namespace

/// For each symbol, finds the first and the last expression that depends on it. One backward pass finds, for each
/// expression, the last one that uses it, directly or not, so this takes linear time.
static std::vector<Dependents> findDependents(const Plan &plan) {
  std::vector<uint32_t> lastUser(plan.exprs.size());
  for (uint32_t i = 0; i < plan.exprs.size(); ++i)
    lastUser[i] = i;
  std::vector<Dependents> result(plan.symbols.size());
  for (uint32_t i = uint32_t(plan.exprs.size()); i-- > 0;) {
    const Expr &expr = plan.exprs[i];
    if (expr.op == ExprOp::constant)
      continue;
    if (expr.op == ExprOp::symbol) {
      Dependents &dependents = result[expr.a];
      dependents.first = i;
      if (lastUser[i] > dependents.last)
        dependents.last = lastUser[i];
      continue;
    }
    for (int64_t operand : {expr.a, expr.b})
      if (lastUser[operand] < lastUser[i])
        lastUser[operand] = lastUser[i];
  }
  return result;
}

namespace {
class InstructionVerifier {
public:
  InstructionVerifier(const fmt::Plan &in, size_t maxIndices, Plan &plan)
      : in(in), maxIndices(maxIndices), plan(plan), dependents(findDependents(plan)) {}

  Status run();

private:
  Status verifyOne(uint32_t index, const fmt::Instruction &instruction);
  Status verifyField(fmt::OperandKind kind, char field, uint32_t value);
  Status verifyBufferOperands(const fmt::Instruction &instruction, const Instruction &out);
  Status verifyHostCall(const Instruction &instruction);
  Status verifyExprOperands(const fmt::Instruction &instruction);
  Status verifyBindSymbol(const fmt::Instruction &instruction);
  Status verifyBeside(const Instruction &launch);

  const fmt::Plan &in;
  size_t maxIndices;
  Plan &plan;
  std::vector<Dependents> dependents;
  std::vector<bool> bound;         // symbols that an instruction binds
  std::vector<GroupUse> groupUses; // by buffer
  uint32_t group = 0;              // of launches: its first one

  // Of the instruction at hand, for errors.
  uint32_t number = 0;
  const char *name = "";
  const fmt::InstructionInfo *info = nullptr;
};
} // namespace

#define FAIL(format, ...)                                                                                              \
  Status::make(TENON_INVALID, "plan: instruction %u (%s '%s'): " format, number, info->name, name, __VA_ARGS__)

Status InstructionVerifier::verifyField(fmt::OperandKind kind, char field, uint32_t value) {
  size_t limit = 0;
  switch (kind) {
  case fmt::OperandKind::none:
    limit = 1;
    break;
  case fmt::OperandKind::kernel:
    limit = plan.kernels.size();
    break;
  case fmt::OperandKind::expr:
    limit = plan.exprs.size();
    break;
  case fmt::OperandKind::target:
    limit = in.instructions()->size();
    break;
  case fmt::OperandKind::symbol:
    limit = plan.symbols.size();
    break;
  case fmt::OperandKind::byte:
    limit = 256;
    break;
  case fmt::OperandKind::block:
    limit = plan.heapBlocks;
    break;
  case fmt::OperandKind::flag:
  case fmt::OperandKind::beside:
    limit = 2;
    break;
  case fmt::OperandKind::check:
    limit = plan.checks.size();
    break;
  case fmt::OperandKind::host_call:
    limit = plan.hostCalls.size();
    break;
  case fmt::OperandKind::exprs_begin:
  case fmt::OperandKind::exprs_end:
    limit = plan.exprs.size() + 1;
    break;
  }
  if (value >= limit)
    return FAIL("'%c' is %u, expected less than %zu", field, value, limit);
  return {};
}

Status InstructionVerifier::verifyBufferOperands(const fmt::Instruction &instruction, const Instruction &out) {
  const auto *buffers = instruction.buffers();
  uint32_t count = buffers ? buffers->size() : 0;
  bool any = info->buffers[0] == '*', isHostCall = out.op == fmt::Opcode::host_call;
  uint32_t results = any ? plan.resultsOf(out) : 0;
  if (results > count)
    return FAIL("has %u buffers, its %s writes %u", count, isHostCall ? "operator" : "kernel", results);
  if (!any && count != strlen(info->buffers))
    return FAIL("has %u buffers, %zu are wanted", count, strlen(info->buffers));
  if (plan.operands.size() + count > maxIndices)
    return FAIL("shares its %u buffers with too many others", count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t buffer = buffers->Get(i);
    if (buffer >= plan.buffers.size())
      return FAIL("buffer operand %u is buffer %u of %zu", i, buffer, plan.buffers.size());
    Storage storage = plan.buffers[buffer].storage;
    bool isWritten = any ? i >= count - results : info->buffers[i] == 'w';
    if (isWritten && (storage == Storage::weight || storage == Storage::input))
      return FAIL("writes '%s', which is %s", plan.buffers[buffer].name,
                  storage == Storage::weight ? "a weight" : "an input");
    if (fmt::Opcode(instruction.op()) == fmt::Opcode::release && storage != Storage::weight)
      return FAIL("releases '%s', which is no weight", plan.buffers[buffer].name);
    plan.operands.push_back(buffer);
  }
  return {};
}

Status InstructionVerifier::verifyExprOperands(const fmt::Instruction &instruction) {
  const auto *exprs = instruction.exprs();
  uint32_t count = exprs ? exprs->size() : 0;
  if (info->exprs[0] != '*' && count != strlen(info->exprs))
    return FAIL("has %u expressions, %zu are wanted", count, strlen(info->exprs));
  if (plan.sizes.size() + count > maxIndices)
    return FAIL("shares its %u expressions with too many others", count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t expr = exprs->Get(i);
    if (expr >= plan.exprs.size())
      return FAIL("expression operand %u is expression %u of %zu", i, expr, plan.exprs.size());
    plan.sizes.push_back(expr);
  }
  return {};
}

Status InstructionVerifier::verifyBindSymbol(const fmt::Instruction &instruction) {
  const Symbol &symbol = plan.symbols[instruction.a()];
  if (symbol.isEarly())
    return FAIL("binds symbol '%s', which %s binds already", symbol.name, symbol.fromState ? "a state" : "an input");
  if (instruction.b() > instruction.c())
    return FAIL("evaluates expressions [%u, %u), which is no range", instruction.b(), instruction.c());
  const Dependents &range = dependents[instruction.a()];
  if (range.first != UINT32_MAX && (range.first < instruction.b() || range.last >= instruction.c()))
    return FAIL("evaluates expressions [%u, %u), but expressions %u to %u depend on symbol '%s'", instruction.b(),
                instruction.c(), range.first, range.last, symbol.name);
  bound[instruction.a()] = true;
  plan.bindsSymbols = true;
  return {};
}

/// Checks that a concurrent launch shares no buffer with the others of its group that one of them writes. Overlapping
/// bytes of different buffers are not checked: the compiler guarantees that there are none.
Status InstructionVerifier::verifyBeside(const Instruction &launch) {
  if (!launch.c)
    group = number;
  else if (number == 0 || plan.instructions.back().op != fmt::Opcode::launch)
    return FAIL("is beside %s, which is no launch", number ? "the instruction before it" : "nothing");
  const uint32_t *operands = plan.operands.data() + launch.buffers.begin;
  uint32_t results = plan.kernels[launch.a].results;
  auto isWritten = [&](uint32_t i) { return !results || i >= launch.buffers.count - results; };
  for (uint32_t i = 0; i < launch.buffers.count; ++i) {
    const GroupUse &use = groupUses[operands[i]];
    if (launch.c && (use.writer == group || (isWritten(i) && use.user == group)))
      return FAIL("uses '%s' beside a launch that uses it, and one of the two writes it",
                  plan.buffers[operands[i]].name);
  }
  for (uint32_t i = 0; i < launch.buffers.count; ++i) {
    groupUses[operands[i]].user = group;
    if (isWritten(i))
      groupUses[operands[i]].writer = group;
  }
  return {};
}

/// Checks the numbers of buffers and extents of a call's operands. The sizes of buffers are checked when they are
/// known.
Status InstructionVerifier::verifyHostCall(const Instruction &instruction) {
  const HostCall &call = plan.hostCalls[instruction.a];
  uint64_t buffers = 0, extents = 0;
  auto count = [&](IndexRange range) {
    for (uint32_t i = range.begin; i < range.begin + range.count; ++i) {
      buffers += plan.hostOperands[i].isPresent;
      extents += plan.hostOperands[i].isPresent ? plan.hostOperands[i].rank : 0;
    }
  };
  count(call.inputs);
  if (call.infers)
    ++buffers;
  else
    count(call.results);
  if (instruction.buffers.count != buffers || instruction.exprs.count != extents)
    return FAIL("has %u buffers and %u expressions, its operands want %llu and %llu", instruction.buffers.count,
                instruction.exprs.count, (unsigned long long)buffers, (unsigned long long)extents);
  return {};
}

Status InstructionVerifier::verifyOne(uint32_t index, const fmt::Instruction &instruction) {
  number = index;
  name = instruction.name() ? instruction.name()->c_str() : "";
  if (instruction.op() >= fmt::kInstructionCount)
    return Status::make(TENON_INVALID, "plan: instruction %u ('%s') has opcode %u, the last known is %u", index, name,
                        instruction.op(), fmt::kInstructionCount - 1);
  info = &fmt::kInstructions[instruction.op()];
  TENON_TRY(verifyField(info->a, 'a', instruction.a()));
  TENON_TRY(verifyField(info->b, 'b', instruction.b()));
  TENON_TRY(verifyField(info->c, 'c', instruction.c()));
  Instruction out{fmt::Opcode(instruction.op()), instruction.a(), instruction.b(), instruction.c(), {}, {}, name};
  out.buffers.begin = uint32_t(plan.operands.size());
  out.exprs.begin = uint32_t(plan.sizes.size());
  TENON_TRY(verifyBufferOperands(instruction, out));
  TENON_TRY(verifyExprOperands(instruction));
  out.buffers.count = uint32_t(plan.operands.size()) - out.buffers.begin;
  out.exprs.count = uint32_t(plan.sizes.size()) - out.exprs.begin;
  if (out.op == fmt::Opcode::launch)
    TENON_TRY(verifyBeside(out));
  if (out.op == fmt::Opcode::host_call)
    TENON_TRY(verifyHostCall(out));
  if (out.op == fmt::Opcode::bind_symbol || out.op == fmt::Opcode::set_symbol)
    TENON_TRY(verifyBindSymbol(instruction));
  if (out.op == fmt::Opcode::check)
    plan.checks[out.a].inPlace = true;
  plan.instructions.push_back(out);
  return {};
}

Status InstructionVerifier::run() {
  uint32_t count = in.instructions() ? in.instructions()->size() : 0;
  bound.resize(plan.symbols.size());
  groupUses.resize(plan.buffers.size());
  for (uint32_t i = 0; i < count; ++i)
    TENON_TRY(verifyOne(i, *in.instructions()->Get(i)));
  // This allows the loop to proceed without testing for the end of the list.
  if (count == 0 || plan.instructions.back().op != fmt::Opcode::halt)
    return Status::make(TENON_INVALID, "plan: the last of %u instructions must be a halt", count);
  TENON_TRY(verifyLoops(plan));
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    if (!plan.symbols[i].isEarly() && !bound[i] && dependents[i].first != UINT32_MAX)
      return Status::make(TENON_INVALID, "plan: symbol '%s' is bound by no input and by no instruction",
                          plan.symbols[i].name);
  return {};
}

Status verifyInstructions(const fmt::Plan &in, size_t maxIndices, Plan &plan) {
  return InstructionVerifier(in, maxIndices, plan).run();
}

} // namespace tenon::rt
