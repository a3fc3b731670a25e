//===- PlanTarget.cpp - a plan, verified and examined ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/KernelFacts.h"
#include "runtime/plan/Expressions.h"
#include "runtime/plan/Footprint.h"
#include "runtime/plan/Liveness.h"
#include "runtime/plan/ResidentWeights.h"
#include "runtime/plan/Verify.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace tenon::rt;

/// All that is said of a plan that has been accepted, for sizes of 3.
static void examine(const Plan &plan) {
  std::vector<int64_t> symbols(plan.symbols.size(), 3), exprs(plan.exprs.size());
  std::vector<uint8_t> known(plan.exprs.size(), 1);
  char text[64];
  for (uint32_t i = 0; i < std::min<size_t>(plan.exprs.size(), 64); ++i)
    printExpr(plan, i, text, sizeof text);
  boundExprs(plan, rangesOf(plan));
  boundWeights(plan, 4096);
  if (evaluate(plan, symbols.data(), 0, uint32_t(exprs.size()), exprs.data()).failed())
    return;
  Liveness liveness;
  (void)findLiveness(plan, exprs.data(), known.data(), &liveness);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first half byte says how many words are facts of a kernel; the rest is the plan.
  size_t words = size ? std::min<size_t>(data[0] % 64, (size - 1) / 8) : 0;
  std::vector<int64_t> facts(words);
  if (words)
    memcpy(facts.data(), data + 1, words * 8);
  KernelFacts decoded;
  if (decoded.decode(facts.data(), facts.size())) {
    std::vector<int64_t> sizes(decoded.numSizes(), 5);
    int64_t result;
    (void)decoded.countTiles(sizes.data(), &result);
    for (uint32_t i = 0; i < decoded.numBuffers(); ++i)
      (void)decoded.leastBytes(i, sizes.data(), &result);
  }
  size_t begin = size ? 1 + words * 8 : 0;
  Plan plan;
  if (!verifyPlan(data + begin, size - begin, &plan).failed())
    examine(plan);
  return 0;
}
