//===- ProgramSession.cpp - a session on all programs of an artifact ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ProgramSession.h"

#include "runtime/plan/Symbols.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

namespace tenon::rt {

Status ProgramSession::start(const tenon_session_options &options) {
  if (options.read_ahead > TENON_READ_AHEAD_ALWAYS)
    return Status::make(TENON_MISUSE, "read_ahead is %u, which has no meaning", options.read_ahead);
  const Program &last = artifact.programs().back();
  uint32_t commands = last.firstInstruction + uint32_t(last.plan.instructions.size());
  TENON_TRY(artifact.device().makeQueue(options.threads, commands, &queue));
  stateStore.reset(new StateStore(artifact, *queue));
  TENON_TRY(stateStore->start(options.slots ? options.slots : 1));
  readAhead.reset(new ReadAhead);
  if (options.weight_budget) {
    pager.reset(new WeightPager);
    TENON_TRY(pager->start(artifact, options.weight_budget));
  }
  for (const Program &program : artifact.programs())
    sessions.emplace_back(artifact, program, Session::Shared{*queue, *stateStore, pager.get(), *readAhead}, options);
  active = uint32_t(sessions.size()) - 1;
  inputs.resize(artifact.plan().inputs.size());
  outputs.resize(artifact.plan().outputs.size());
  dims.resize(artifact.plan().dims.size());
  size_t numStates = 0;
  for (const Program &program : artifact.programs())
    numStates = std::max(numStates, program.plan.states.size());
  rows.resize(2 * numStates);
  return {};
}

Status ProgramSession::bindInput(uint32_t index, const tenon_tensor &tensor) {
  TENON_TRY(current().bindInput(index, tensor));
  int64_t *known = dims.data() + artifact.plan().inputs[index].dims.begin;
  size_t bytes = tensor.rank * sizeof(int64_t);
  if (bytes && memcmp(known, tensor.dims, bytes) != 0)
    memcpy(known, tensor.dims, bytes);
  else if (inputs[index].bound && inputs[index].data == tensor.data)
    return {};
  inputs[index] = {true, tensor.data};
  pickCurrent = false;
  return {};
}

Status ProgramSession::bindOutput(uint32_t index, void *data, uint64_t capacity) {
  TENON_TRY(current().bindOutput(index, data, capacity));
  outputs[index] = {data, capacity};
  return {};
}

Status ProgramSession::use(uint32_t index) {
  if (index != TENON_ANY_PROGRAM && index >= sessions.size())
    return Status::make(TENON_MISUSE, "program %u of %zu", index, sessions.size());
  chosen = index;
  pickCurrent = false;
  return {};
}

/// Returns the program for the number of sequences and the bound shapes; if none is selected and none fits, the last
/// one for that number, whose error explains why.
uint32_t ProgramSession::find() {
  if (chosen != TENON_ANY_PROGRAM)
    return chosen;
  if (sessions.size() == 1)
    return 0;
  bool isBound = std::all_of(inputs.begin(), inputs.end(), [](const Input &input) { return input.bound; });
  uint32_t last = uint32_t(sessions.size()) - 1;
  for (uint32_t i = 0; i < sessions.size(); ++i) {
    const Plan &plan = artifact.programs()[i].plan;
    if (plan.sequences != stateStore->sequences())
      continue;
    last = i;
    if (!isBound)
      continue;
    stateStore->rows(plan, rows.data());
    if (fitsShapes(plan, dims.data(), rows.data()))
      break;
  }
  return last;
}

/// Fails if a program is for runs of another number of sequences.
Status ProgramSession::checkSequences(uint32_t index) const {
  uint32_t wanted = stateStore->sequences(), has = artifact.programs()[index].plan.sequences;
  if (has == wanted)
    return {};
  if (chosen == index)
    return Status::make(TENON_MISUSE, "program %u is for %u sequences, and %u slots are in use", index, has, wanted);
  std::string known;
  for (const Program &program : artifact.programs())
    if (program.plan.sequences > 1)
      known += ", " + std::to_string(program.plan.sequences);
  return Status::make(TENON_UNSUPPORTED, "there is no program for runs of %u sequences; there are for 1%s", wanted,
                      known.c_str());
}

Status ProgramSession::moveTo(uint32_t index) {
  assert(index < sessions.size() && index != active && "a move is to another program");
  Session &from = current(), &to = sessions[index];
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Tensor &input = artifact.plan().inputs[i];
    tenon_tensor tensor{input.dtype, input.dims.count, dims.data() + input.dims.begin, inputs[i].data};
    if (inputs[i].bound)
      TENON_TRY(to.bindInput(i, tensor));
  }
  for (uint32_t i = 0; i < outputs.size(); ++i)
    TENON_TRY(to.bindOutput(i, outputs[i].data, outputs[i].capacity));
  to.takeMemory(from);
  active = index;
  return {};
}

Status ProgramSession::pick() {
  if (pickCurrent && statesVersion == stateStore->version())
    return {};
  uint32_t index = find();
  TENON_TRY(checkSequences(index));
  if (index != active)
    TENON_TRY(moveTo(index));
  pickCurrent = true;
  statesVersion = stateStore->version();
  return {};
}

void ProgramSession::setProfile(tenon_profile_fn callback, void *user) {
  queue->setProfile(callback, user);
  for (Session &session : sessions)
    session.setProfile(callback, user);
}

void ProgramSession::setSeed(uint64_t seed) {
  for (Session &session : sessions)
    session.setSeed(seed);
}

} // namespace tenon::rt
