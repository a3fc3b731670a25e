//===- ContractionProblem.cpp - a contraction on buffers, for one core ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ContractionProblem.h"

using namespace mlir;
using namespace tenon;

/// Returns the reduction loop that appears in the same LHS index as the row loop, as the window of a convolution does;
/// none if there are several, or if a step is not constant.
static std::optional<WindowLoop> findWindow(kernel::ContractOp op, const Contraction &contraction) {
  std::optional<WindowLoop> found;
  SmallVector<AffineExpr> indices(contraction.lhs.map.getResults());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto *moving = llvm::find_if(indices, [&](AffineExpr index) { return index.isFunctionOfDim(*contraction.rowLoop); });
  // The position of a single row may have been folded to a constant.
  if (moving == indices.end())
    return std::nullopt;
  std::optional<int64_t> stride = getStep(*moving, *contraction.rowLoop);
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator == utils::IteratorType::parallel || !moving->isFunctionOfDim(loop))
      continue;
    std::optional<int64_t> dilation = getStep(*moving, loop);
    if (found || !stride || !dilation || ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    found = WindowLoop{static_cast<unsigned>(loop), *stride, *dilation, ranges[loop], false};
  }
  return found;
}

static void setWindow(ContractionProblem &problem) {
  Contraction &contraction = problem.contraction;
  if (!contraction.rowLoop)
    return;
  problem.window = findWindow(problem.op, contraction);
  bool hasBounds = llvm::any_of(
      contraction.lhs.bounds, [&](const ReadBound &bound) { return bound.rest.isFunctionOfDim(*contraction.rowLoop); });
  if (problem.window)
    problem.window->hasBounds = hasBounds;
  else if (hasBounds)
    contraction.rowLoop.reset();
}

/// Returns the bytes of a vector: those of the target, or fewer if the schedule says so. Only floating-point
/// micro-kernels allow shorter vectors; the others have instructions and panel formats for the target's vectors.
static int64_t getVectorBytes(kernel::ContractOp op, const Contraction &contraction, Type type, int64_t targetBytes) {
  int64_t bytes = kernel::getSchedule(op).getVectorBits() / 8;
  bool isFree = isa<FloatType>(type) && !contraction.isDepthwiseInt8 && !contraction.terms &&
                !contraction.dequantization && !contraction.integerGroups && !contraction.isPackedBf16;
  return bytes && isFree ? std::min(bytes, targetBytes) : targetBytes;
}

ContractionProblem tenon::getContractionProblem(kernel::ContractOp op, const Contraction &contraction,
                                                const ContractionMachine &machine, bool isFromZero) {
  Type type =
      contraction.isDepthwiseInt8 ? Float32Type::get(op.getContext()) : getElementTypeOrSelf(op.getDpsInits()[0]);
  int64_t lanes = getVectorBytes(op, contraction, type, machine.vectorBytes) * 8 / type.getIntOrFloatBitWidth();
  assert(lanes > 0 && llvm::isPowerOf2_64(lanes) && "vectors have room for an element, and no remainder");
  ContractionProblem problem{op,
                             contraction,
                             kernel::getSchedule(op),
                             getScratchLayout(op, contraction),
                             /*window=*/std::nullopt,
                             machine.registers,
                             machine.l1Ways,
                             machine.int8Dot,
                             machine.bf16Pairs,
                             type,
                             lanes,
                             isFromZero};
  setWindow(problem);
  return problem;
}
