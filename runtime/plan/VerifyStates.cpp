//===- VerifyStates.cpp - what a session keeps from run to run -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/VerifyStates.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/base/Memory.h"
#include "runtime/format/Kernel.h"
#include "runtime/format/Layout.h"
#include "runtime/format/plan_generated.h"

#include <cstring>

namespace tenon::rt {

static_assert(int(StateKind::ring) == int(fmt::StateKind::ring) && fmt::StateKind::MAX == fmt::StateKind::ring);

namespace {
class StateVerifier {
public:
  StateVerifier(const fmt::State &in, Plan &plan, State &out) : in(in), plan(plan), out(out) {}
  Status run(size_t maxDims);

private:
  Status verifyShape(size_t maxDims);
  Status verifySymbol(uint32_t symbol, int64_t max);
  Status verifyRows();
  Status verifyNext();

  const fmt::State &in;
  Plan &plan;
  State &out;
};
} // namespace

#define FAIL(...) Status::make(TENON_INVALID, "plan: state '%s' " __VA_ARGS__)

Status StateVerifier::verifyShape(size_t maxDims) {
  uint32_t bits = tenon_dtype_bits(out.dtype), rank = in.dims() ? in.dims()->size() : 0;
  if (!bits || rank > fmt::kMaxRank || plan.stateDims.size() + rank > maxDims)
    return FAIL("has %u dimensions and element type %s", out.name, rank, tenon_dtype_name(out.dtype));
  out.dims = {uint32_t(plan.stateDims.size()), rank};
  for (uint32_t i = 0; i < rank; ++i)
    plan.stateDims.push_back(in.dims()->Get(i));
  const int64_t *dims = plan.stateDims.data() + out.dims.begin;
  out.bytes = tenon_tensor_bytes(out.dtype, rank, dims);
  out.rowBytes = rank ? tenon_tensor_bytes(out.dtype, rank - 1, dims + 1) : out.bytes;
  out.capacity = rank ? dims[0] : 1;
  if (out.bytes == UINT64_MAX || out.rowBytes == UINT64_MAX || out.bytes > uint64_t(INT64_MAX) / 2)
    return FAIL("has more bytes than can be addressed", out.name);
  return {};
}

/// Gives states their places in a slot: those that begin at a page, and then the others, with the alignment that a
/// kernel expects of its buffers. Each sequence has the same states, in a slot of its own.
static Status placeStates(Plan &plan) {
  size_t count = plan.statesOfSequence();
  for (bool isPaged : {true, false}) {
    uint64_t alignment = isPaged ? kPageMultiple : TENON_BUFFER_ALIGNMENT;
    for (size_t i = 0; i < count; ++i) {
      State &state = plan.states[i];
      if ((state.bytes >= kShareableState) != isPaged)
        continue;
      state.offset = plan.stateSize;
      // None has more than half of what can be addressed.
      uint64_t padded = (state.bytes + alignment - 1) & ~(alignment - 1);
      if (!checkedAdd(plan.stateSize, padded, &plan.stateSize) || plan.stateSize > uint64_t(INT64_MAX) / 2)
        return FAIL("and those before it have more bytes than can be addressed", state.name);
    }
  }
  for (size_t i = count; i < plan.states.size(); ++i)
    plan.states[i].offset = plan.states[i % count].offset;
  return {};
}

/// Marks a symbol that the state binds to values from 0 to `max`. States that grow together share one.
Status StateVerifier::verifySymbol(uint32_t index, int64_t max) {
  if (index >= plan.symbols.size())
    return FAIL("binds symbol %u of %zu", out.name, index, plan.symbols.size());
  Symbol &symbol = plan.symbols[index];
  if (symbol.min < 0 || symbol.max > max)
    return FAIL("binds symbol '%s', which ranges from %lld to %lld, beyond its %lld rows", out.name, symbol.name,
                (long long)symbol.min, (long long)symbol.max, (long long)out.capacity);
  symbol.fromState = true;
  return {};
}

Status StateVerifier::verifyNext() {
  if (out.next == kNoExpr)
    return {};
  if (out.next >= plan.exprs.size())
    return FAIL("names expression %u of %zu", out.name, out.next, plan.exprs.size());
  if (out.kind != StateKind::ring)
    return {};
  const Expr &rows = plan.exprs[out.next];
  if (rows.op != ExprOp::constant || rows.a <= 0 || out.capacity % rows.a)
    return FAIL("is written by a number of rows that does not divide its %lld", out.name, (long long)out.capacity);
  out.ringRows = rows.a;
  return {};
}

Status StateVerifier::verifyRows() {
  bool isWhole = out.kind == StateKind::whole, isRing = out.kind == StateKind::ring;
  if ((out.live != kNoExpr) == isWhole || (out.slot != kNoExpr) != isRing || (isWhole && out.next != kNoExpr))
    return FAIL("does not have the symbols of its kind", out.name);
  if (isWhole)
    return {};
  if (in.has_initial() || !out.dims.count || out.capacity < 1)
    return FAIL("has live rows, and no memory for any or an initial value", out.name);
  TENON_TRY(verifyNext());
  TENON_TRY(verifySymbol(out.live, out.capacity));
  return isRing ? verifySymbol(out.slot, out.capacity - 1) : Status();
}

Status StateVerifier::run(size_t maxDims) {
  if (unsigned(in.kind()) > unsigned(fmt::StateKind::MAX))
    return FAIL("is of kind %u, the last known is %u", out.name, unsigned(in.kind()), unsigned(fmt::StateKind::MAX));
  out.kind = StateKind(in.kind());
  out.dtype = tenon_dtype(in.dtype());
  out.live = in.live();
  out.slot = in.slot();
  out.next = in.next();
  out.sequence = in.sequence();
  TENON_TRY(verifyShape(maxDims));
  if (in.has_initial())
    out.initial = in.initial();
  return verifyRows();
}

/// True if two states have the same memory; their symbols may differ.
static bool matches(const Plan &plan, const State &a, const Plan &other, const State &b) {
  bool isSame = strcmp(a.name, b.name) == 0 && a.dtype == b.dtype && a.kind == b.kind && a.initial == b.initial &&
                a.dims.count == b.dims.count;
  for (uint32_t d = 0; isSame && d < a.dims.count; ++d)
    isSame = plan.stateDims[a.dims.begin + d] == other.stateDims[b.dims.begin + d];
  return isSame;
}

/// Computes of how many sequences a run is, from the last state.
static Status countSequences(const fmt::Plan &in, uint32_t count, Plan &plan) {
  constexpr uint32_t kMaxSequences = 1u << 12; // limit: a run's slots are listed
  if (!count)
    return {};
  uint64_t sequences = uint64_t(in.states()->Get(count - 1)->sequence()) + 1;
  if (sequences > kMaxSequences || count % sequences)
    return Status::make(TENON_INVALID, "plan: %u states are not those of %llu sequences", count,
                        (unsigned long long)sequences);
  plan.sequences = uint32_t(sequences);
  return {};
}

Status verifyStates(const fmt::Plan &in, size_t maxDims, Plan &plan) {
  uint32_t count = in.states() ? in.states()->size() : 0;
  TENON_TRY(countSequences(in, count, plan));
  uint32_t ofSequence = count / plan.sequences;
  plan.states.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const fmt::State &state = *in.states()->Get(i);
    plan.states.emplace_back();
    State &out = plan.states.back();
    out.name = state.name() ? state.name()->c_str() : "";
    if (state.sequence() != i / ofSequence)
      return FAIL("is of sequence %u, expected %u", out.name, state.sequence(), i / ofSequence);
    TENON_TRY(StateVerifier(state, plan, out).run(maxDims));
    const State &first = plan.states[i % ofSequence];
    if (!matches(plan, first, plan, out))
      return FAIL("is not the same in sequence %u", out.name, out.sequence);
  }
  return placeStates(plan);
}

Status compareStates(const Plan &plan, const Plan &other) {
  size_t count = plan.statesOfSequence(), otherCount = other.statesOfSequence();
  for (size_t i = 0; i < std::max(count, otherCount); ++i)
    if (i >= count || i >= otherCount || !matches(plan, plan.states[i], other, other.states[i]))
      return Status::make(TENON_INVALID, "damaged: its plans have different states, '%s' is not the same",
                          (i < count ? plan : other).states[i].name);
  return {};
}

} // namespace tenon::rt
