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

bool tenon::paysToRecompute(const Broadcast &value, const Machine &machine) {
  assert(value.elementBytes > 0 && "elements have bytes");
  double lanes = machine.vectorBytes / value.elementBytes, stored = value.elements * value.elementBytes;
  double readerCycles = value.reads / lanes * value.readerVectorCycles,
         readerBytes = 2 * value.reads * value.elementBytes;
  KernelWork own{value.elements / lanes * value.vectorCycles, 2 * stored};
  KernelWork reader{readerCycles, readerBytes + stored};
  KernelWork joined{readerCycles + value.reads / lanes * value.vectorCycles, readerBytes + stored};
  return getKernelCycles(joined, machine) <= getKernelCycles(own, machine) + getKernelCycles(reader, machine);
}
