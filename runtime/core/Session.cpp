//===- Session.cpp - one model being run ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Session.h"

#include "runtime/plan/Footprint.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Work.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace tenon::rt {

Session::Session(const Artifact &artifact, const Program &program, const Shared &shared,
                 const tenon_session_options &options)
    : artifact(artifact), program(program), plan(program.plan), queue(shared.queue), states(shared.states),
      pager(shared.pager), readAhead(shared.readAhead), readsAhead(options.read_ahead),
      isHostAddressable(artifact.device().properties().isHostAddressable), limit(options.memory_limit),
      weightBytes(isHostAddressable ? boundWeights(program.plan, artifact.weightBytes()) : artifact.weightBytes()) {
  if (pager)
    weightBytes = std::min(weightBytes, options.weight_budget);
  inputs.resize(plan.inputs.size());
  outputs.resize(plan.outputs.size());
  needed.resize(plan.outputs.size());
  dims.resize(plan.dims.size());
  rows.resize(2 * plan.states.size());
  const Device &device = artifact.device();
  arena = device.makeMemory();
  for (Output &output : outputs)
    output.own = device.makeMemory();
  for (Input &input : inputs)
    if (!isHostAddressable)
      input.copy = device.makeMemory();
  for (uint32_t i = 0; i < plan.heapBlocks; ++i)
    heap.push_back(device.makeMemory());
  cache.start(plan);
  listUnchecked();
  if (DebugArena::isWanted() && isHostAddressable)
    debug.reset(new DebugArena(plan));
}

void Session::takeMemory(Session &from) {
  assert(&from != this && outputs.size() == from.outputs.size() && "programs of an artifact have the same outputs");
  std::swap(arena, from.arena);
  for (size_t i = 0; i < outputs.size(); ++i)
    std::swap(outputs[i].own, from.outputs[i].own);
  // Each program has blocks of its own.
  for (std::unique_ptr<DeviceMemory> &block : from.heap)
    block = artifact.device().makeMemory();
  cache.forgetAddresses();
  from.cache.forgetAddresses();
  addressesCurrent = from.addressesCurrent = false;
  ran = from.ran = false;
}

/// Returns the alignment in bytes that a pointer to elements of `dtype` needs: complex numbers are pairs.
static uint32_t alignmentOf(tenon_dtype dtype) {
  uint32_t bytes = tenon_dtype_bits(dtype) / 8;
  if (dtype == TENON_C64 || dtype == TENON_C128)
    bytes /= 2;
  return bytes ? bytes : 1;
}

Status Session::checkTensor(const tenon_tensor &tensor, const Tensor &wanted, uint32_t index) const {
  if (tensor.dtype != wanted.dtype)
    return Status::make(TENON_INVALID, "input '%s' has element type %s, expected %s", wanted.name,
                        tenon_dtype_name(tensor.dtype), tenon_dtype_name(wanted.dtype));
  if (tensor.rank != wanted.dims.count)
    return Status::make(TENON_INVALID, "input '%s' has %u dimension%s, expected %u", wanted.name, tensor.rank,
                        tensor.rank == 1 ? "" : "s", wanted.dims.count);
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (tensor.dims[d] < 0)
      return Status::make(TENON_INVALID, "dimension %u of input '%s' is %lld, expected 0 or more", d, wanted.name,
                          (long long)tensor.dims[d]);
  if (tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims) == UINT64_MAX)
    return Status::make(TENON_INVALID, "input '%s' has more elements than any memory holds", wanted.name);
  if (reinterpret_cast<uintptr_t>(tensor.data) % alignmentOf(tensor.dtype))
    return Status::make(TENON_MISUSE, "the data of input '%s' is not aligned to %u bytes", wanted.name,
                        alignmentOf(tensor.dtype));
  return {};
}

Status Session::bindInput(uint32_t index, const tenon_tensor &tensor) {
  if (index >= inputs.size())
    return Status::make(TENON_MISUSE, "input %u of %zu", index, inputs.size());
  const Tensor &wanted = plan.inputs[index];
  TENON_TRY(checkTensor(tensor, wanted, index));
  Input &input = inputs[index];
  ran = false;
  int64_t *known = dims.data() + wanted.dims.begin;
  size_t bytes = wanted.dims.count * sizeof(int64_t);
  // memcpy and memcmp must not receive null pointers, which a scalar's dimensions may be.
  bool same = input.bound && (bytes == 0 || memcmp(known, tensor.dims, bytes) == 0);
  if (!same) {
    if (bytes)
      memcpy(known, tensor.dims, bytes);
    sizesCurrent = false;
  }
  if (input.data != tensor.data)
    addressesCurrent = false;
  input.bound = true;
  input.data = tensor.data;
  input.bytes = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims);
  return {};
}

Status Session::bindOutput(uint32_t index, void *data, uint64_t capacity) {
  if (index >= outputs.size())
    return Status::make(TENON_MISUSE, "output %u of %zu", index, outputs.size());
  const Tensor &output = plan.outputs[index];
  if (reinterpret_cast<uintptr_t>(data) % alignmentOf(output.dtype))
    return Status::make(TENON_MISUSE, "the memory for output '%s' is not aligned to %u bytes", output.name,
                        alignmentOf(output.dtype));
  ran = false;
  sizesCurrent = false;
  outputs[index].data = data;
  outputs[index].capacity = data ? capacity : 0;
  return {};
}

Status Session::measure(tenon_memory *result) {
  TENON_TRY(updateSizes());
  *result = memory;
  return {};
}

Status Session::checkMeasured() {
  TENON_TRY(updateSizes());
  return checkLimit();
}

Status Session::boundMemory(tenon_memory_bounds *result) {
  TENON_TRY(updateSizes());
  Liveness liveness;
  bool isFound = findLiveness(plan, bound->exprs.data(), bound->exprKnown.data(), &liveness);
  result->arena_least = isFound ? liveness.peak() : UINT64_MAX;
  std::vector<Interval> symbols = rangesOf(plan);
  for (size_t i = 0; i < symbols.size(); ++i)
    if (bound->symbolKnown[i])
      symbols[i] = {bound->symbols[i], bound->symbols[i]};
  std::vector<Interval> bounds = boundExprs(plan, symbols);
  result->heap_most = boundHeap(plan, bounds);
  result->outputs_most = boundOutputs(plan, bounds);
  return {};
}

Status Session::measureWork(uint32_t instruction, uint64_t *flops, uint64_t *bytes) {
  TENON_TRY(updateSizes());
  *flops = *bytes = 0;
  uint32_t own = instruction - program.firstInstruction;
  if (instruction < program.firstInstruction || own >= plan.instructions.size())
    return {};
  if (std::optional<Work> work = getWork(plan, plan.instructions[own], bound->exprs.data(), bound->exprKnown.data())) {
    *flops = work->flops;
    *bytes = work->bytes;
  }
  return {};
}

Status Session::listLiveBytes(uint64_t *bytes, uint32_t count) {
  TENON_TRY(updateSizes());
  Liveness liveness;
  if (!findLiveness(plan, bound->exprs.data(), bound->exprKnown.data(), &liveness))
    return Status::make(TENON_UNSUPPORTED, "the plan is too large to tell which bytes are live");
  std::copy_n(liveness.liveBytes.begin(), std::min<size_t>(count, liveness.liveBytes.size()), bytes);
  return {};
}

bool Session::explainAddress(const void *address, tenon_error *text) const {
  char where[256];
  if (!debug || !debug->describe(address, where, sizeof where))
    return false;
  const Instruction &instruction = plan.instructions[current];
  snprintf(text->message, sizeof text->message, "%s: instruction %u (%s '%s') reaches %s; compile the model again",
           artifact.label(), current, fmt::kInstructions[uint32_t(instruction.op)].name, instruction.name, where);
  return true;
}

Status Session::prepare() {
  TENON_TRY(updateSizes());
  TENON_TRY(states.checkUsable());
  if (addressesCurrent)
    return {};
  TENON_TRY(checkLimit());
  TENON_TRY(checkRoom());
  TENON_TRY(states.prepare());
  TENON_TRY(reserveMemory());
  return resolve();
}

Status Session::run() {
  ran = false;
  TENON_TRY(updateSizes());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].data && inputs[i].bytes)
      return Status::make(TENON_MISUSE, "input '%s' is bound without data", plan.inputs[i].name);
  TENON_TRY(prepare());
  beginTiming();
  beginWeights();
  states.beginRun(plan, bound->exprs.data(), bound->exprKnown.data());
  Status status = copyInputs();
  if (!status.failed())
    status = debug ? executeGuarded() : execute();
  if (status.failed())
    queue.drop();
  else
    status = copyOutputs();
  if (pager) {
    pager->giveBack(0);
    if (!status.failed())
      pager->endRun();
  }
  endTiming();
  if (!status.failed())
    status = states.endRun(plan, bound->exprs.data());
  // The next run begins with what is known before it.
  if (plan.bindsSymbols) {
    bound->isEvaluated = false;
    sizesCurrent = false;
  }
  TENON_TRY(std::move(status));
  for (const Tensor &output : plan.outputs)
    for (uint32_t d = output.dims.begin; d < output.dims.begin + output.dims.count; ++d)
      dims[d] = bound->exprs[plan.dims[d]];
  ran = true;
  return {};
}

/// Copies the caller's inputs to inputs that have memory of their own on the device.
Status Session::copyInputs() {
  for (Input &input : inputs)
    if (input.copy && input.bytes)
      TENON_TRY(queue.write(input.copy->address(), input.data, input.bytes));
  return {};
}

/// Copies outputs that have memory of their own on the device to the caller.
Status Session::copyOutputs() {
  assert(needed.size() == outputs.size() && "the bytes of each output are added up");
  for (size_t i = 0; i < outputs.size() && !isHostAddressable; ++i) {
    Output &output = outputs[i];
    if (!output.data)
      TENON_TRY(output.host.reserve(needed[i], false, plan.outputs[i].name));
    if (needed[i])
      TENON_TRY(queue.read(hostCopyOf(output), output.own->address(), needed[i]));
  }
  return {};
}

Status Session::output(uint32_t index, tenon_tensor *tensor) {
  if (index >= outputs.size())
    return Status::make(TENON_MISUSE, "output %u of %zu", index, outputs.size());
  if (!ran)
    return Status::make(TENON_MISUSE, "there is no output before a run has ended well");
  const Tensor &output = plan.outputs[index];
  Buffer place{output.name, Storage::output, index, 0, 0};
  *tensor = {output.dtype, output.dims.count, dims.data() + output.dims.begin,
             isHostAddressable ? placeOf(place).base : hostCopyOf(outputs[index])};
  return {};
}

void Session::setProfile(tenon_profile_fn callback, void *user) {
  profile = callback;
  profileUser = user;
}

} // namespace tenon::rt
