//===- FusionCost.cpp - what it costs to store a value, and to compute it again //
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/FusionCost.h"

#include <algorithm>
#include <cassert>

using namespace tenon;

double tenon::getMoveCycles(double bytes, const Machine &machine) {
  assert(machine.l2BytesPerCycle > 0 && machine.llcBytesPerCycle > 0 && machine.dramBytesPerCycle > 0 &&
         "memory has a bandwidth");
  assert(bytes >= 0 && "a kernel moves no fewer bytes than none");
  if (bytes <= machine.l2Bytes)
    return bytes / machine.l2BytesPerCycle;
  return bytes / (bytes <= machine.llcBytes ? machine.llcBytesPerCycle : machine.dramBytesPerCycle);
}

double tenon::getKernelCycles(const KernelWork &work, const Machine &machine) {
  assert(work.cycles >= 0 && "a kernel takes no less time than none");
  return std::max(work.cycles, getMoveCycles(work.bytes, machine)) + machine.launchCycles;
}

static double getLanes(const Producer &producer, const Machine &machine) {
  assert(producer.elementBytes > 0 && producer.elements >= 0 && "elements have bytes");
  return machine.vectorBytes / producer.elementBytes;
}

double tenon::getMaterializedCycles(const Producer &producer, llvm::ArrayRef<Consumer> consumers,
                                    const Machine &machine) {
  double stored = producer.elements * producer.elementBytes, lanes = getLanes(producer, machine);
  double cycles =
      getKernelCycles({producer.elements / lanes * producer.vectorCycles, producer.operandBytes + stored}, machine);
  for (const Consumer &consumer : consumers)
    cycles += getKernelCycles({consumer.work.cycles, consumer.work.bytes + stored}, machine);
  return cycles;
}

double tenon::getRecomputedCycles(const Producer &producer, llvm::ArrayRef<Consumer> consumers,
                                  const Machine &machine) {
  double lanes = getLanes(producer, machine), cycles = 0;
  for (const Consumer &consumer : consumers)
    cycles += getKernelCycles({consumer.work.cycles + consumer.reads / lanes * producer.vectorCycles,
                               consumer.work.bytes + producer.operandBytes},
                              machine);
  return cycles;
}

bool tenon::paysToRecompute(const Broadcast &value, const Machine &machine) {
  Producer producer{value.elements, value.elementBytes, value.elements * value.elementBytes, value.vectorCycles};
  Consumer reader{
      value.reads,
      {value.reads / getLanes(producer, machine) * value.readerVectorCycles, 2 * value.reads * value.elementBytes}};
  return getRecomputedCycles(producer, reader, machine) <= getMaterializedCycles(producer, reader, machine);
}
