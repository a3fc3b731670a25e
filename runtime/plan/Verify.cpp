//===- Verify.cpp - checks a plan once, so that it can be trusted --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Verify.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/format/Kernel.h"
#include "runtime/format/Layout.h"
#include "runtime/format/plan_generated.h"
#include "runtime/plan/VerifyInstructions.h"
#include "runtime/plan/VerifyStates.h"

#include <algorithm>
#include <cstring>

namespace tenon::rt {

static_assert(int(TENON_ROLE_ENDS) == int(fmt::Role::ends) && fmt::Role::MAX == fmt::Role::ends);
static_assert(int(ExprOp::align) == int(fmt::ExprOp::align) && fmt::ExprOp::MAX == fmt::ExprOp::align);
static_assert(fmt::kMaxHostRank == TENON_PLUGIN_MAX_RANK);
static_assert(int(Storage::heap) == int(fmt::Storage::heap) && fmt::Storage::MAX == fmt::Storage::heap);

/// Strings of a verified FlatBuffer end with a zero.
static const char *text(const flatbuffers::String *string) { return string ? string->c_str() : ""; }

template <typename Vector> static uint32_t length(const Vector *vector) { return vector ? vector->size() : 0; }

static Status verifySymbols(const fmt::Plan &in, Plan &plan) {
  for (uint32_t i = 0, e = length(in.symbols()); i < e; ++i) {
    const fmt::Symbol *symbol = in.symbols()->Get(i);
    plan.symbols.push_back({text(symbol->name()), symbol->min(), symbol->max(), false});
    if (symbol->min() > symbol->max())
      return Status::make(TENON_INVALID, "plan: symbol '%s' ranges from %lld to %lld, which is empty",
                          text(symbol->name()), (long long)symbol->min(), (long long)symbol->max());
  }
  return {};
}

/// These expressions are only displayed, so a launch with fewer sizes than they use is valid, without figures.
static Status verifyWork(const fmt::Kernel &in, Kernel &kernel, std::vector<Expr> &exprs) {
  uint32_t count = length(in.work());
  if (count == 0)
    return {};
  auto fail = [&] { return Status::make(TENON_INVALID, "plan: the work of kernel '%s' is malformed", kernel.name); };
  if (reinterpret_cast<uintptr_t>(in.work()->Data()) % alignof(fmt::Expr) || in.work_flops() >= count ||
      in.work_bytes() >= count)
    return fail();
  kernel.work = {uint32_t(exprs.size()), count};
  kernel.workFlops = in.work_flops();
  kernel.workBytes = in.work_bytes();
  for (uint32_t i = 0; i < count; ++i) {
    const fmt::Expr *expr = in.work()->Get(i);
    unsigned op = unsigned(expr->op());
    int64_t a = expr->a(), b = expr->b();
    if (op > unsigned(fmt::ExprOp::MAX))
      return fail();
    bool isLeaf = ExprOp(op) == ExprOp::constant || ExprOp(op) == ExprOp::symbol;
    if (isLeaf ? ExprOp(op) == ExprOp::symbol && a < 0 : a < 0 || a >= i || b < 0 || b >= i)
      return fail();
    exprs.push_back({ExprOp(op), a, b});
  }
  return {};
}

static Status verifyExprs(const fmt::Plan &in, Plan &plan) {
  uint32_t count = length(in.exprs());
  // FlatBuffers' verifier checks the alignment of a vector's start, but not that of its structs.
  if (count && reinterpret_cast<uintptr_t>(in.exprs()->Data()) % alignof(fmt::Expr))
    return Status::make(TENON_INVALID, "plan: its expressions are not aligned to %zu bytes", alignof(fmt::Expr));
  plan.exprs.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const fmt::Expr *expr = in.exprs()->Get(i);
    // Read as a number, because a file may contain a value that the enum lacks.
    unsigned op = unsigned(expr->op());
    if (op > unsigned(fmt::ExprOp::MAX))
      return Status::make(TENON_INVALID, "plan: expression %u has operation %u, the last known is %u", i, op,
                          unsigned(fmt::ExprOp::MAX));
    int64_t a = expr->a(), b = expr->b();
    if (ExprOp(op) == ExprOp::symbol) {
      if (a < 0 || uint64_t(a) >= plan.symbols.size())
        return Status::make(TENON_INVALID, "plan: expression %u names symbol %lld of %zu", i, (long long)a,
                            plan.symbols.size());
    } else if (ExprOp(op) != ExprOp::constant) {
      if (a < 0 || a >= i || b < 0 || b >= i)
        return Status::make(TENON_INVALID,
                            "plan: expression %u names expressions %lld and %lld, which are "
                            "not both before it",
                            i, (long long)a, (long long)b);
    }
    plan.exprs.push_back({ExprOp(op), a, b});
  }
  return {};
}

static Status verifyTensors(const flatbuffers::Vector<flatbuffers::Offset<fmt::Tensor>> *in, const char *what,
                            Plan &plan, size_t maxDims, std::vector<Tensor> &out) {
  for (uint32_t i = 0, e = length(in); i < e; ++i) {
    const fmt::Tensor *tensor = in->Get(i);
    const char *name = text(tensor->name());
    tenon_dtype dtype = tenon_dtype(tensor->dtype());
    if (!tenon_dtype_bits(dtype))
      return Status::make(TENON_UNSUPPORTED,
                          "plan: %s '%s' has element type %s, which this runtime does not "
                          "support",
                          what, name, tenon_dtype_name(dtype));
    uint32_t rank = length(tensor->dims());
    if (rank > fmt::kMaxRank)
      return Status::make(TENON_INVALID, "plan: %s '%s' has %u dimensions, at most %u are allowed", what, name, rank,
                          fmt::kMaxRank);
    // Tables may share a list, so the file's size alone does not bound the sum.
    if (plan.dims.size() + rank > maxDims)
      return Status::make(TENON_INVALID, "plan: %s '%s' shares its dimensions with too many others", what, name);
    if (unsigned(tensor->role()) > unsigned(fmt::Role::MAX))
      return Status::make(TENON_INVALID, "plan: %s '%s' has role %u, the last known is %u", what, name,
                          unsigned(tensor->role()), unsigned(fmt::Role::MAX));
    out.push_back({name, dtype, {uint32_t(plan.dims.size()), rank}, tenon_role(tensor->role())});
    for (uint32_t d = 0; d < rank; ++d) {
      uint32_t expr = tensor->dims()->Get(d);
      if (expr >= plan.exprs.size())
        return Status::make(TENON_INVALID, "plan: dimension %u of %s '%s' is expression %u of %zu", d, what, name, expr,
                            plan.exprs.size());
      plan.dims.push_back(expr);
    }
  }
  return {};
}

/// Marks the symbols that inputs bind.
static void markInputSymbols(Plan &plan) {
  for (const Tensor &input : plan.inputs)
    for (uint32_t d = 0; d < input.dims.count; ++d) {
      const Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op == ExprOp::symbol)
        plan.symbols[expr.a].fromInput = true;
    }
}

static Status verifyBuffers(const fmt::Plan &in, Plan &plan) {
  for (uint32_t i = 0, e = length(in.buffers()); i < e; ++i) {
    const fmt::Buffer *buffer = in.buffers()->Get(i);
    const char *name = text(buffer->name());
    unsigned storage = unsigned(buffer->storage());
    if (storage > unsigned(fmt::Storage::MAX))
      return Status::make(TENON_INVALID, "plan: buffer %u ('%s') has storage %u, the last known is %u", i, name,
                          storage, unsigned(fmt::Storage::MAX));
    size_t count = Storage(storage) == Storage::input    ? plan.inputs.size()
                   : Storage(storage) == Storage::output ? plan.outputs.size()
                   : Storage(storage) == Storage::heap   ? plan.heapBlocks
                   : Storage(storage) == Storage::state  ? plan.states.size()
                                                         : 0;
    if (count ? buffer->index() >= count : Storage(storage) >= Storage::state)
      return Status::make(TENON_INVALID, "plan: buffer %u ('%s') lies in %s %u of %zu", i, name,
                          Storage(storage) == Storage::input    ? "input"
                          : Storage(storage) == Storage::output ? "output"
                          : Storage(storage) == Storage::state  ? "state"
                                                                : "block",
                          buffer->index(), count);
    if (buffer->offset() >= plan.exprs.size() || buffer->size() >= plan.exprs.size())
      return Status::make(TENON_INVALID, "plan: buffer %u ('%s') names expressions %u and %u of %zu", i, name,
                          buffer->offset(), buffer->size(), plan.exprs.size());
    uint32_t start = buffer->start(), room = buffer->room();
    bool hasRoom = start != kNoExpr || room != kNoExpr;
    if (hasRoom && (Storage(storage) != Storage::arena || start >= plan.exprs.size() || room >= plan.exprs.size()))
      return Status::make(TENON_INVALID, "plan: buffer %u ('%s') has expressions %u and %u of %zu for its room", i,
                          name, start, room, plan.exprs.size());
    plan.buffers.push_back({name, Storage(storage), buffer->index(), buffer->offset(), buffer->size(), start, room});
    plan.placesBuffers |= hasRoom || Storage(storage) == Storage::heap;
  }
  return {};
}

/// True if outputs have sizes that are late according to `isLate`, or contain buffers at such offsets.
static bool haveLateOutputs(const Plan &plan, const std::vector<bool> &isLate) {
  auto hasLateDims = [&](const Tensor &output) {
    auto first = plan.dims.begin() + output.dims.begin;
    return std::any_of(first, first + output.dims.count, [&](uint32_t dim) { return isLate[dim]; });
  };
  auto isLatePart = [&](const Buffer &buffer) {
    return buffer.storage == Storage::output && (isLate[buffer.offset] || isLate[buffer.size]);
  };
  return std::any_of(plan.outputs.begin(), plan.outputs.end(), hasLateDims) ||
         std::any_of(plan.buffers.begin(), plan.buffers.end(), isLatePart);
}

/// Lists what is recomputed when instructions bind symbols and reserve blocks. The arena's size is not affected.
static Status listLate(Plan &plan) {
  std::vector<bool> isLate(plan.exprs.size()), isLateBuffer(plan.buffers.size());
  for (size_t i = 0; i < plan.exprs.size(); ++i) {
    const Expr &expr = plan.exprs[i];
    if (expr.op == ExprOp::symbol)
      isLate[i] = !plan.symbols[expr.a].isEarly();
    else if (expr.op != ExprOp::constant)
      isLate[i] = isLate[expr.a] || isLate[expr.b];
  }
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer &buffer = plan.buffers[i];
    if (buffer.hasRoom() && (isLate[buffer.start] || isLate[buffer.room]))
      return Status::make(TENON_INVALID,
                          "plan: the room of buffer %u ('%s') depends on a symbol that instructions bind", i,
                          buffer.name);
    isLateBuffer[i] = buffer.storage == Storage::heap || buffer.storage == Storage::output || isLate[buffer.offset] ||
                      isLate[buffer.size];
    if (isLateBuffer[i])
      plan.lateBuffers.push_back(i);
  }
  for (Instruction &instruction : plan.instructions) {
    for (uint32_t i = instruction.exprs.begin; i < instruction.exprs.begin + instruction.exprs.count; ++i)
      instruction.isLate |= isLate[plan.sizes[i]];
    for (uint32_t i = instruction.buffers.begin; i < instruction.buffers.begin + instruction.buffers.count; ++i)
      instruction.isLate |= isLate[plan.buffers[plan.operands[i]].size];
    instruction.isLate |= instruction.op == fmt::Opcode::launch && isLate[instruction.b];
  }
  for (uint32_t i = 0; i < plan.operands.size(); ++i)
    if (isLateBuffer[plan.operands[i]])
      plan.lateOperands.push_back(i);
  for (uint32_t i = 0; i < plan.sizes.size(); ++i)
    if (isLate[plan.sizes[i]])
      plan.lateSizes.push_back(i);
  plan.hasLateOutputs = haveLateOutputs(plan, isLate);
  if (isLate[plan.arenaSize] || isLate[plan.scratchSize])
    return Status::make(TENON_INVALID, "plan: the size of %s depends on a symbol that instructions bind",
                        isLate[plan.arenaSize] ? "the arena" : "scratch");
  return {};
}

static bool isMoving(const Buffer &buffer) {
  return buffer.storage == Storage::input || buffer.storage == Storage::output || buffer.storage == Storage::state;
}

static void listMoving(Plan &plan) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    if (isMoving(plan.buffers[i]))
      plan.movingBuffers.push_back(i);
  for (uint32_t i = 0; i < plan.operands.size(); ++i)
    if (isMoving(plan.buffers[plan.operands[i]]))
      plan.movingOperands.push_back(i);
}

static Status verifyMemory(const fmt::Plan &in, Plan &plan) {
  if (in.arena_size() >= plan.exprs.size() || in.scratch_size() >= plan.exprs.size())
    return Status::make(TENON_INVALID, "plan: the sizes of arena and scratch are expressions %u and %u of %zu",
                        in.arena_size(), in.scratch_size(), plan.exprs.size());
  if (!isPowerOfTwo(in.arena_align()) || in.arena_align() < TENON_BUFFER_ALIGNMENT ||
      in.arena_align() > fmt::kMaxArenaAlignment)
    return Status::make(TENON_INVALID,
                        "plan: the arena's alignment is %u, a power of two from %u to %u is "
                        "wanted",
                        in.arena_align(), TENON_BUFFER_ALIGNMENT, fmt::kMaxArenaAlignment);
  plan.arenaSize = in.arena_size();
  plan.scratchSize = in.scratch_size();
  plan.arenaAlign = in.arena_align();
  return {};
}

/// Only letters, digits, '_' and '-', so that a plan cannot refer to another folder.
static bool isPluginName(const char *name) {
  size_t length = 0;
  for (; name[length]; ++length) {
    char c = name[length];
    bool isAllowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!isAllowed || length >= fmt::kMaxPluginName)
      return false;
  }
  return length > 0;
}

static Status verifyHostOperands(const flatbuffers::Vector<flatbuffers::Offset<fmt::HostOperand>> *in, const char *name,
                                 size_t maxIndices, Plan &plan, IndexRange *out) {
  *out = {uint32_t(plan.hostOperands.size()), length(in)};
  if (plan.hostOperands.size() + length(in) > maxIndices)
    return Status::make(TENON_INVALID, "plan: operator '%s' shares its operands with too many others", name);
  for (uint32_t i = 0; i < out->count; ++i) {
    const fmt::HostOperand *operand = in->Get(i);
    if (operand->rank() > TENON_PLUGIN_MAX_RANK || !tenon_dtype_bits(tenon_dtype(operand->dtype())))
      return Status::make(TENON_INVALID, "plan: operand %u of operator '%s' has %u dimensions and element type %s", i,
                          name, operand->rank(), tenon_dtype_name(tenon_dtype(operand->dtype())));
    plan.hostOperands.push_back({tenon_dtype(operand->dtype()), operand->rank(), operand->present()});
  }
  return {};
}

static Status verifyHostAttribute(const fmt::HostAttribute &in, const char *name, Plan &plan) {
  tenon_plugin_attribute out{};
  out.name = text(in.name());
  // As for expressions, FlatBuffers only checks the start of a vector.
  auto isAligned = [](const void *data) { return reinterpret_cast<uintptr_t>(data) % alignof(int64_t) == 0; };
  static const int64_t none[1] = {};
  switch (in.kind()) {
  case fmt::HostAttributeKind::ints:
    out.kind = TENON_ATTRIBUTE_INTS;
    out.count = length(in.ints());
    out.value.ints = out.count ? reinterpret_cast<const int64_t *>(in.ints()->Data()) : none;
    break;
  case fmt::HostAttributeKind::floats:
    out.kind = TENON_ATTRIBUTE_FLOATS;
    out.count = length(in.floats());
    out.value.floats =
        out.count ? reinterpret_cast<const double *>(in.floats()->Data()) : reinterpret_cast<const double *>(none);
    break;
  case fmt::HostAttributeKind::text:
    out.kind = TENON_ATTRIBUTE_STRING;
    out.count = in.text() ? in.text()->size() : 0;
    out.value.string = text(in.text());
    plan.hostAttributes.push_back(out);
    return {};
  default:
    return Status::make(TENON_INVALID, "plan: attribute '%s' of operator '%s' has kind %u", out.name, name,
                        unsigned(in.kind()));
  }
  if (!isAligned(out.value.ints))
    return Status::make(TENON_INVALID, "plan: attribute '%s' of operator '%s' is not aligned", out.name, name);
  plan.hostAttributes.push_back(out);
  return {};
}

static Status verifyHostCalls(const fmt::Plan &in, size_t maxIndices, Plan &plan) {
  for (uint32_t i = 0, e = length(in.host_calls()); i < e; ++i) {
    const fmt::HostCall *call = in.host_calls()->Get(i);
    const char *name = text(call->operator_name());
    HostCall out{text(call->plugin()), text(call->domain()), name, {}, {}, {}, call->infers()};
    if (!isPluginName(out.plugin))
      return Status::make(TENON_INVALID, "plan: operator '%s' is of a plug-in with an invalid name", name);
    TENON_TRY(verifyHostOperands(call->inputs(), name, maxIndices, plan, &out.inputs));
    TENON_TRY(verifyHostOperands(call->results(), name, maxIndices, plan, &out.results));
    out.attributes = {uint32_t(plan.hostAttributes.size()), length(call->attributes())};
    if (plan.hostAttributes.size() + out.attributes.count > maxIndices)
      return Status::make(TENON_INVALID, "plan: operator '%s' shares its attributes with too many others", name);
    for (uint32_t k = 0; k < out.attributes.count; ++k)
      TENON_TRY(verifyHostAttribute(*call->attributes()->Get(k), name, plan));
    bool hasResults = out.results.count > 0;
    for (uint32_t k = out.results.begin; k < out.results.begin + out.results.count; ++k)
      hasResults &= plan.hostOperands[k].isPresent;
    if (!hasResults)
      return Status::make(TENON_INVALID, "plan: operator '%s' lacks results", name);
    plan.hostCalls.push_back(out);
  }
  return {};
}

Status verifyPlan(const void *bytes, size_t size, Plan *out) {
  if (size > INT32_MAX)
    return Status::make(TENON_INVALID, "plan: %zu bytes, at most 2 GiB are allowed", size);
  // A private copy, so that nobody can change it after the checks, and strings can be referenced.
  Plan plan;
  plan.bytes.reset(new uint64_t[size / 8 + 1]);
  memcpy(plan.bytes.get(), bytes, size);
  // A table takes at least four bytes of the buffer, so more visits than this mean that it shares tables to inflate
  // itself.
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(plan.bytes.get()), size, 16, uint32_t(size / 4 + 1));
  if (size < 16 || !fmt::VerifyPlanBuffer(verifier))
    return Status::make(TENON_INVALID, "plan: not a valid FlatBuffers plan");
  const fmt::Plan &in = *fmt::GetPlan(plan.bytes.get());

  size_t maxIndices = size / sizeof(uint32_t);
  TENON_TRY(verifySymbols(in, plan));
  TENON_TRY(verifyExprs(in, plan));
  TENON_TRY(verifyTensors(in.inputs(), "input", plan, maxIndices, plan.inputs));
  TENON_TRY(verifyTensors(in.outputs(), "output", plan, maxIndices, plan.outputs));
  markInputSymbols(plan);
  TENON_TRY(verifyStates(in, maxIndices, plan));
  // Each block contains a buffer, so their number is bounded by the file's size.
  plan.heapBlocks = in.heap_blocks();
  if (plan.heapBlocks > length(in.buffers()))
    return Status::make(TENON_INVALID, "plan: %u heap blocks for %u buffers", plan.heapBlocks, length(in.buffers()));
  TENON_TRY(verifyBuffers(in, plan));
  for (uint32_t i = 0, e = length(in.kernels()); i < e; ++i) {
    const fmt::Kernel *kernel = in.kernels()->Get(i);
    plan.kernels.push_back(
        {text(kernel->name()), text(kernel->display()), kernel->flops(), kernel->results(), kernel->bytes()});
    TENON_TRY(verifyWork(*kernel, plan.kernels.back(), plan.workExprs));
  }
  for (uint32_t i = 0, e = length(in.checks()); i < e; ++i) {
    const fmt::Check *check = in.checks()->Get(i);
    if (check->expr() >= plan.exprs.size())
      return Status::make(TENON_INVALID, "check %u names expression %u, and there are %zu", i, check->expr(),
                          plan.exprs.size());
    plan.checks.push_back({check->expr(), text(check->text()), false});
  }
  TENON_TRY(verifyHostCalls(in, maxIndices, plan));
  TENON_TRY(verifyInstructions(in, maxIndices, plan));
  TENON_TRY(verifyMemory(in, plan));
  TENON_TRY(listLate(plan));
  listMoving(plan);
  plan.modelName = text(in.model_name());
  plan.compiler = text(in.compiler());
  plan.madeFor = text(in.sizes());
  *out = std::move(plan);
  return {};
}

} // namespace tenon::rt
