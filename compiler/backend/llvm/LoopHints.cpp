//===- LoopHints.cpp - what LLVM is told of loops --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/LoopHints.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace tenon;

namespace {
/// Prevents that loops are unrolled before the vectorizer runs, which would then vectorize the loop around them with
/// scatters. Short loops, as over a window, are unrolled.
struct KeepLongLoops : PassInfoMixin<KeepLongLoops> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &results, LPMUpdater &) {
    constexpr unsigned kShort = 8;
    if (results.SE.getSmallConstantTripCount(&loop) > kShort)
      loop.setLoopAlreadyUnrolled();
    return PreservedAnalyses::all();
  }
};

/// Interleaves several vectors if each has a long chain of dependent operations, as in a math function, or depends on
/// the one before, as in a sum: otherwise a core mostly waits for results, since few chains fit its reorder buffer.
/// LLVM does not interleave loops of many instructions, or loops whose unrolling is disabled. A loop of few vectors is
/// done in one iteration, so that the accumulators of the loop around it stay in registers.
struct InterleaveChains : PassInfoMixin<InterleaveChains> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &results, LPMUpdater &);
};

/// Vectorizes loops that round f32 to bf16 with vectors of 512 bits, for targets that have an instruction for it
/// (vcvtneps2bf16). LLVM's cost model does not know that, and would take vectors of 128 bits where pairs are stored.
/// Where the width is given, LLVM vectorizes no remainder, so masks cover it.
struct WidenRoundings : PassInfoMixin<WidenRoundings> {
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &results, LPMUpdater &);
};
} // namespace

/// Approximate latency in cycles of an operation on recent processors.
static unsigned getLatency(const Instruction &instruction) {
  constexpr unsigned kFloat = 4, kDivision = 12;
  if (isa<PHINode, CastInst>(instruction))
    return 0;
  if (instruction.getOpcode() == Instruction::FDiv)
    return kDivision;
  return isa<FPMathOperator>(instruction) && instruction.getType()->isFPOrFPVectorTy() ? kFloat : 1;
}

/// Returns the latency in cycles from the loads of an iteration to its stores.
static unsigned getChainCycles(Loop &loop, LoopInfo &info) {
  LoopBlocksRPO blocks(&loop);
  blocks.perform(&info);
  DenseMap<const Value *, unsigned> ready;
  unsigned longest = 0;
  for (BasicBlock *block : blocks)
    for (Instruction &instruction : *block) {
      unsigned cycles = 0;
      // Values from the previous iteration are not part of the chain.
      if (!isa<PHINode>(instruction) || block != loop.getHeader())
        for (const Value *operand : instruction.operands())
          cycles = std::max(cycles, ready.lookup(operand));
      ready[&instruction] = cycles + getLatency(instruction);
      longest = std::max(longest, ready[&instruction]);
    }
  return longest;
}

static bool hasSums(const Loop &loop) {
  return any_of(loop.getHeader()->phis(), [](const PHINode &phi) { return phi.getType()->isFPOrFPVectorTy(); });
}

/// Returns the largest width in bits of the elements that the loop loads and stores; 0 if it does neither.
static unsigned getElementBits(const Loop &loop) {
  unsigned bits = 0;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (isa<LoadInst, StoreInst>(instruction))
        bits = std::max(bits, getLoadStoreType(&instruction)->getScalarSizeInBits());
  return bits;
}

/// Chooses how many of `vectors` are interleaved; 0 means that the number is unknown. The remainder is done one by one.
static unsigned chooseCount(unsigned vectors) {
  constexpr unsigned kMax = 4;
  unsigned count = kMax;
  auto leavesMuch = [&] { return vectors < count || (vectors % count > 1 && vectors < 4 * count); };
  while (vectors > 0 && count > 1 && leavesMuch())
    count /= 2;
  return count;
}

PreservedAnalyses InterleaveChains::run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &results,
                                        LPMUpdater &) {
  constexpr unsigned kLongChain = 36, kFewVectors = 4;
  const char *name = "llvm.loop.interleave.count";
  unsigned bits = getElementBits(loop), trips = results.SE.getSmallConstantTripCount(&loop);
  if (!loop.isInnermost() || bits == 0 || getOptionalIntLoopAttribute(&loop, name))
    return PreservedAnalyses::all();
  unsigned lanes =
      std::max<unsigned>(results.TTI.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector) / bits, 1);
  bool isFew = trips > 0 && trips % lanes == 0 && trips <= kFewVectors * lanes;
  if (!isFew && !hasSums(loop) && getChainCycles(loop, results.LI) < kLongChain)
    return PreservedAnalyses::all();
  unsigned count = trips > 0 && trips < lanes ? 1 : chooseCount(trips / lanes);
  if (count > 1)
    addStringMetadataToLoop(&loop, name, count);
  return PreservedAnalyses::all();
}

static bool roundsToBf16(const Instruction &instruction) {
  return isa<FPTruncInst>(instruction) && instruction.getType()->isBFloatTy();
}

PreservedAnalyses WidenRoundings::run(Loop &loop, LoopAnalysisManager &, LoopStandardAnalysisResults &results,
                                      LPMUpdater &) {
  constexpr unsigned kLanes = 16; // format: f32 in 512 bits
  const char *name = "llvm.loop.vectorize.width";
  unsigned trips = results.SE.getSmallConstantTripCount(&loop);
  bool isShort = trips > 0 && trips < kLanes;
  if (!loop.isInnermost() || isShort || getOptionalIntLoopAttribute(&loop, name))
    return PreservedAnalyses::all();
  if (any_of(loop.blocks(), [](BasicBlock *block) { return any_of(*block, roundsToBf16); })) {
    addStringMetadataToLoop(&loop, name, kLanes);
    addStringMetadataToLoop(&loop, "llvm.loop.vectorize.predicate.enable", 1);
  }
  return PreservedAnalyses::all();
}

void tenon::addLoopHints(PassBuilder &builder, bool hasBf16) {
  builder.registerLateLoopOptimizationsEPCallback([hasBf16](LoopPassManager &passes, OptimizationLevel) {
    if (hasBf16)
      passes.addPass(WidenRoundings());
    passes.addPass(InterleaveChains());
    passes.addPass(KeepLongLoops());
  });
}
