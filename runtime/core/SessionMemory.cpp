//===- SessionMemory.cpp - sizes and addresses of one model being run ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/CheckedMath.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/core/Session.h"
#include "runtime/format/Kernel.h"
#include "runtime/plan/Expressions.h"
#include "runtime/plan/Footprint.h"
#include "runtime/plan/Symbols.h"

#include <cassert>
#include <cstring>

namespace tenon::rt {

/// The address of empty buffers, so that no kernel receives a null pointer.
alignas(TENON_BUFFER_ALIGNMENT) static uint8_t nothing[TENON_BUFFER_ALIGNMENT];

static const char *storageName(Storage storage) {
  switch (storage) {
  case Storage::arena:
    return "the arena";
  case Storage::weight:
    return "the weights";
  case Storage::state:
    return "its state";
  case Storage::input:
    return "its input";
  case Storage::output:
    return "its output";
  case Storage::heap:
    return "its block";
  }
  return "its storage";
}

/// Computes the fields of `sizes` that follow from the shapes of the inputs.
Status Session::evaluateSizes(BoundSizes &sizes) const {
  assert(sizes.symbols.size() == plan.symbols.size() && sizes.exprs.size() == plan.exprs.size() &&
         "the cache has room for the values of this plan");
  TENON_TRY(bindSymbols(plan, dims.data(), rows.data(), sizes.symbols.data()));
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    sizes.symbolKnown[i] = plan.symbols[i].isEarly();
  Known known{sizes.symbolKnown.data(), sizes.exprKnown.data()};
  TENON_TRY(evaluate(plan, sizes.symbols.data(), 0, uint32_t(plan.exprs.size()), sizes.exprs.data(), &known));
  TENON_TRY(checkShapes(plan, dims.data(), sizes.symbols.data(), sizes.exprs.data()));
  for (const Check &check : plan.checks)
    if (!check.inPlace && sizes.exprKnown[check.expr] && sizes.exprs[check.expr] < 0)
      return requirementFails(plan, check, sizes.symbols.data(), nullptr);
  return {};
}

Status Session::updateSizes() {
  if (statesVersion != states.version()) {
    statesVersion = states.version();
    states.rows(plan, rows.data());
    sizesCurrent = false;
  }
  if (sizesCurrent)
    return {};
  addressesCurrent = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].bound)
      return Status::make(TENON_MISUSE, "input '%s' is not bound", plan.inputs[i].name);
  BoundSizes &sizes = cache.find(dims.data(), rows.data());
  if (!sizes.isEvaluated)
    TENON_TRY(evaluateSizes(sizes));
  sizes.isEvaluated = true;
  bound = &sizes;
  TENON_TRY(addUpMemory());
  sizesCurrent = true;
  return {};
}

/// Computes the bytes of outputs that the caller did not bind.
Status Session::addUpOwnOutputs() {
  TENON_TRY(addUpOutputs(plan, bound->exprs.data(), needed.data()));
  memory.outputs = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data) {
      if (needed[i] > outputs[i].capacity)
        return Status::make(TENON_INVALID, "output '%s' needs %llu bytes, its memory has %llu", plan.outputs[i].name,
                            (unsigned long long)needed[i], (unsigned long long)outputs[i].capacity);
    }
    bool isOwn = !outputs[i].data || !isHostAddressable;
    if (isOwn && !checkedAdd(memory.outputs, needed[i], &memory.outputs)) {
      return Status::make(TENON_RESOURCES, "the outputs need more bytes than any memory holds");
    }
  }
  return {};
}

Status Session::addUpMemory() {
  assert(bound && "sizes are evaluated before memory is added up");
  int64_t arenaBytes = bound->exprs[plan.arenaSize];
  if (arenaBytes < 0)
    return Status::make(TENON_INVALID, "the arena comes to %lld bytes", (long long)arenaBytes);
  TENON_TRY(addUpScratch(plan, bound->exprs.data(), &scratchStride));
  TENON_TRY(addUpOwnOutputs());
  memory.arena = uint64_t(arenaBytes);
  memory.weights = weightBytes;
  memory.state = states.bytes();
  memory.heap = 0;
  for (const std::unique_ptr<DeviceMemory> &block : heap)
    memory.heap += block->capacity();
  memory.inputs = 0;
  for (const Input &input : inputs)
    memory.inputs += input.bytes;
  bool fine =
      checkedMul(scratchStride, queue.workers(), &memory.scratch) &&
      checkedAdd(memory.arena, memory.scratch, &memory.total) && checkedAdd(memory.total, memory.heap, &memory.total) &&
      checkedAdd(memory.total, memory.weights, &memory.total) &&
      checkedAdd(memory.total, memory.state, &memory.total) && checkedAdd(memory.total, memory.outputs, &memory.total);
  if (!fine)
    return Status::make(TENON_RESOURCES, "the run needs more bytes than any memory holds");
  return {};
}

Status Session::checkLimit() const {
  if (!limit || memory.total <= limit)
    return {};
  return Status::make(TENON_RESOURCES,
                      "needs %llu bytes (weights %llu, arena %llu, heap %llu, scratch %llu, state %llu, "
                      "outputs %llu), the memory limit is %llu; raise it or bind smaller inputs",
                      (unsigned long long)memory.total, (unsigned long long)memory.weights,
                      (unsigned long long)memory.arena, (unsigned long long)memory.heap,
                      (unsigned long long)memory.scratch, (unsigned long long)memory.state,
                      (unsigned long long)memory.outputs, (unsigned long long)limit);
}

/// Compares what the run is going to write for the first time with the free memory. Weights are excluded, since they
/// are mapped from files, and their pages can be evicted.
Status Session::checkRoom() {
  if (debug || !isHostAddressable)
    return {};
  auto beyond = [](uint64_t wanted, uint64_t reserved) { return wanted > reserved ? wanted - reserved : 0; };
  uint64_t activations = beyond(memory.arena, arena->capacity()), results = 0, left = 0;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].data)
      results += beyond(needed[i], outputs[i].own->capacity());
  uint64_t rowsAdded = states.countNew(plan, bound->exprs.data(), bound->exprKnown.data());
  // Each is less than what addUpMemory() has added up.
  uint64_t more = activations + results + rowsAdded;
  if (watch.allows(more, &left))
    return {};
  return Status::make(TENON_RESOURCES,
                      "needs %llu more bytes (activations %llu, state %llu, outputs %llu), and the system, or this "
                      "process's control group, has %llu left; bind smaller inputs",
                      (unsigned long long)more, (unsigned long long)activations, (unsigned long long)rowsAdded,
                      (unsigned long long)results, (unsigned long long)left);
}

Status Session::reserveMemory() {
  const uint8_t *arenaBefore = arena->address();
  if (!debug)
    TENON_TRY(arena->reserve(memory.arena, true, "activations"));
  TENON_TRY(queue.reserveScratch(scratchStride));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].data || !isHostAddressable)
      TENON_TRY(outputs[i].own->reserve(needed[i], true, plan.outputs[i].name));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].copy)
      TENON_TRY(inputs[i].copy->reserve(inputs[i].bytes, false, plan.inputs[i].name));
  if (arena->address() != arenaBefore)
    cache.forgetAddresses();
  return {};
}

Session::Place Session::placeOf(const State &state) const {
  uint8_t *slot = states.address(state.sequence);
  return {slot ? slot + state.offset : nullptr, state.bytes};
}

Session::Place Session::placeOf(const Buffer &buffer) const {
  Place place{nullptr, 0};
  switch (buffer.storage) {
  case Storage::arena:
    place = {arena->address(), uint64_t(bound->exprs[plan.arenaSize])};
    break;
  case Storage::weight:
    // Kernels have a single pointer type; the verifier and page protection keep weights from being written.
    place = {const_cast<uint8_t *>(artifact.weights()), artifact.weightBytes()};
    break;
  case Storage::state:
    place = placeOf(plan.states[buffer.index]);
    break;
  case Storage::input:
    place = {inputs[buffer.index].copy ? inputs[buffer.index].copy->address()
                                       : static_cast<uint8_t *>(inputs[buffer.index].data),
             inputs[buffer.index].bytes};
    break;
  case Storage::output:
    place = {outputs[buffer.index].place(isHostAddressable), needed[buffer.index]};
    break;
  case Storage::heap:
    place = {heap[buffer.index]->address(), heap[buffer.index]->capacity()};
    break;
  }
  if (!place.base)
    place.base = nothing;
  return place;
}

/// True if a buffer is within the room that is reserved for it in the arena.
bool Session::isInRoom(const Buffer &buffer) const {
  if (!buffer.hasRoom())
    return true;
  int64_t offset = bound->exprs[buffer.offset] - bound->exprs[buffer.start], room = bound->exprs[buffer.room];
  return bound->exprKnown[buffer.offset] && bound->exprKnown[buffer.size] && offset >= 0 && room >= 0 &&
         fits(uint64_t(offset), uint64_t(bound->exprs[buffer.size]), uint64_t(room));
}

Status Session::resolveBuffer(uint32_t index) {
  assert(index < plan.buffers.size() && index < bound->buffers.size() &&
         "a buffer of the plan has a place for its address");
  const Buffer &buffer = plan.buffers[index];
  int64_t offset = bound->exprs[buffer.offset], size = bound->exprs[buffer.size];
  Place place = placeOf(buffer);
  bool fit = offset >= 0 && size >= 0 && fits(uint64_t(offset), uint64_t(size), place.limit) && isInRoom(buffer);
  // A data-dependent buffer gets its address later. Until then it is null, because nothing may use it.
  if (!fit && (buffer.storage == Storage::heap || buffer.hasRoom())) {
    bound->buffers[index] = nullptr;
    return {};
  }
  if (!fit)
    return Status::make(TENON_INVALID, "buffer '%s' has %lld bytes at %lld, outside of %s's %llu", buffer.name,
                        (long long)size, (long long)offset, storageName(buffer.storage),
                        (unsigned long long)place.limit);
  uint8_t *address = place.base + offset;
  bound->buffers[index] = debug ? debug->address(index, uint64_t(offset), address) : address;
  return {};
}

Status Session::resolveSome(const std::vector<uint32_t> &bufferList, const std::vector<uint32_t> &operandList) {
  for (uint32_t i : bufferList)
    TENON_TRY(resolveBuffer(i));
  for (uint32_t i : operandList)
    bound->operands[i] = bound->buffers[plan.operands[i]];
  return {};
}

/// Moves every buffer to an island; earlier addresses become invalid.
Status Session::layOutDebug() {
  std::vector<uint64_t> inputBytes;
  for (const Input &input : inputs)
    inputBytes.push_back(input.bytes);
  cache.forgetAddresses();
  return debug->layOut(*bound, inputBytes, needed);
}

Status Session::resolve() {
  if (debug)
    TENON_TRY(layOutDebug());
  if (bound->hasAddresses) {
    // The caller may have bound other memory since then, or selected another slot.
    TENON_TRY(resolveSome(plan.movingBuffers, plan.movingOperands));
    addressesCurrent = true;
    return {};
  }
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    TENON_TRY(resolveBuffer(i));
  for (size_t i = 0; i < bound->operands.size(); ++i)
    bound->operands[i] = bound->buffers[plan.operands[i]];
  for (size_t i = 0; i < bound->sizes.size(); ++i)
    bound->sizes[i] = bound->exprs[plan.sizes[i]];
  for (const Instruction &instruction : plan.instructions)
    if (instruction.op == fmt::Opcode::launch && !instruction.isLate)
      TENON_TRY(checkFacts(instruction));
  bound->hasAddresses = addressesCurrent = true;
  return {};
}

/// Checks a launch against the facts of its kernel.
Status Session::checkFacts(const Instruction &launch) const {
  assert(launch.op == fmt::Opcode::launch && launch.a < program.facts.size() &&
         "facts are those of a kernel of the plan");
  const KernelFacts &facts = program.facts[launch.a];
  if (!facts.exist())
    return {};
  return checkLaunch(plan, launch, facts, bound->exprs.data(), bound->sizes.data() + launch.exprs.begin);
}

Status Session::resolveLate() {
  TENON_TRY(resolveSome(plan.lateBuffers, plan.lateOperands));
  for (uint32_t i : plan.lateSizes)
    bound->sizes[i] = bound->exprs[plan.sizes[i]];
  return {};
}

Status Session::readSymbol(const Instruction &instruction) {
  uint32_t operand = instruction.buffers.begin;
  int64_t value;
  if (sizeOf(operand) < sizeof value)
    return operandTooSmall(instruction, 0, sizeof value);
  TENON_TRY(queue.read(&value, bound->operands[operand], sizeof value));
  return setSymbol(instruction, value);
}

Status Session::setSymbol(const Instruction &instruction, int64_t value) {
  uint32_t symbol = instruction.a;
  assert(!plan.symbols[symbol].isEarly() && "a symbol that inputs bind keeps its value during a run");
  TENON_TRY(checkRange(plan.symbols[symbol], value, instruction.name));
  if (bound->symbolKnown[symbol] && bound->symbols[symbol] == value)
    return {};
  bound->symbols[symbol] = value;
  bound->symbolKnown[symbol] = 1;
  Known known{bound->symbolKnown.data(), bound->exprKnown.data()};
  TENON_TRY(evaluate(plan, bound->symbols.data(), instruction.b, instruction.c, bound->exprs.data(), &known));
  // Instructions that count iterations bind symbols on which nothing else depends; nothing is recomputed for these.
  if (plan.hasLateOutputs) {
    TENON_TRY(addUpMemory());
    TENON_TRY(checkLimit());
    TENON_TRY(checkRoom());
    TENON_TRY(reserveMemory());
  }
  return resolveLate();
}

Status Session::reserveBlock(const Instruction &instruction) {
  int64_t bytes = bound->sizes[instruction.exprs.begin];
  assert(instruction.a < heap.size() && "a plan says how many blocks it has on the heap");
  DeviceMemory &block = *heap[instruction.a];
  if (bytes < 0)
    return Status::make(TENON_INVALID, "node '%s': a block of %lld bytes", instruction.name, (long long)bytes);
  // The block grows by a factor of 1.5, so that repeated growth seldom moves it.
  uint64_t wanted = uint64_t(bytes), before = block.capacity();
  if (wanted > before && before && wanted < before + before / 2)
    wanted = before + before / 2;
  if (limit && wanted > before && memory.total - before + wanted > limit)
    wanted = uint64_t(bytes);
  if (wanted <= before)
    return {};
  if (!debug && isHostAddressable)
    TENON_TRY(checkFreeMemory(wanted - before, "activations"));
  TENON_TRY(block.reserve(wanted, instruction.b != 0, "activations"));
  cache.forgetAddresses();
  TENON_TRY(addUpMemory());
  TENON_TRY(checkLimit());
  return resolveLate();
}

} // namespace tenon::rt
