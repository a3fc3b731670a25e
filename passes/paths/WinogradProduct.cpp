//===- WinogradProduct.cpp - convolutions that squares can compute --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/WinogradProduct.h"
#include "dialects/tenon/WeightBytes.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"

using namespace mlir;
using namespace tenon;

bool tenon::hasFrames(ConvolveOp op) { return op.getType().getRank() == 5; }

int64_t tenon::getFrames(ConvolveOp op) { return hasFrames(op) ? op.getFilter().getType().getDimSize(0) : 1; }

std::optional<ArrayRef<char>> tenon::getFilterBytes(ConvolveOp op) {
  auto weight = op.getFilter().getDefiningOp<WeightOp>();
  return weight ? getBytes(weight.getValue()) : std::nullopt;
}

static bool areAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [&](int64_t v) { return v == value; });
}

std::optional<FilterShape> tenon::getSquareFilter(ConvolveOp op) {
  int64_t rank = op.getType().getRank();
  if (!op.getChannelsLast() || (rank != 4 && rank != 5) || op.getGroups() != 1 || !areAll(op.getStrides(), 1) ||
      !areAll(op.getDilations(), 1) || !op.getFilter().getType().hasStaticShape() ||
      (hasFrames(op) && (op.getLow()[0] < 0 || op.getHigh()[0] < 0)))
    return std::nullopt;
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape().take_back(4);
  FilterShape filter{shape[0], getFrames(op) * shape[2], shape[3]};
  bool isSquare = shape[1] == filter.window && filter.channels > 0 && filter.filters > 0;
  return isSquare && getFilterBytes(op) ? std::optional(filter) : std::nullopt;
}

/// Describes the problem for all images if their number is static, else for one.
static WinogradProblem getProblem(ConvolveOp op, const FilterShape &filter, int64_t outputs, WinogradFactors factors,
                                  const Machine &machine) {
  SizeHints hints(op->getParentOfType<func::FuncOp>());
  Dims dims = getDims(op.getType());
  WinogradProblem problem{outputs,
                          filter.window,
                          hints.get(dims[dims.size() - 3]).value_or(kDefaultExtent),
                          hints.get(dims[dims.size() - 2]).value_or(kDefaultExtent),
                          filter.channels,
                          filter.filters,
                          getWinogradPanel(factors, machine),
                          factors};
  AffineExpr images = getDimConstant(op.getContext(), 1);
  for (AffineExpr dim : ArrayRef(dims).drop_back(3))
    images = mulDims(images, dim);
  problem.images = std::max<int64_t>(hints.get(images).value_or(1), 1);
  return problem;
}

WinogradSchedule tenon::scheduleWinograd(ConvolveOp op, const FilterShape &filter, int64_t outputs,
                                         WinogradFactors factors, const Machine &machine) {
  return chooseWinogradSchedule(getProblem(op, filter, outputs, factors, machine), machine);
}

double tenon::estimateWinogradCycles(ConvolveOp op, const FilterShape &filter, int64_t outputs, WinogradFactors factors,
                                     const Machine &machine) {
  WinogradProblem problem = getProblem(op, filter, outputs, factors, machine);
  double images = std::max(getProductShape(op)->rows / double(problem.height * problem.width), 1.0);
  return chooseWinogradSchedule(problem, machine).cycles * images / problem.images;
}
