//===- SplitReductions.cpp - long sums of small products, in parts --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are parallel over tiles of their results. A contraction with a small result and long sums, such as a Gram
// matrix of images or the gradient of a filter, has too few tiles for all threads; so has a reduction to a few numbers.
// Split-K (as CUTLASS calls it) computes parts of the sums as a further dimension of the result, and combines these in
// a second kernel.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/ReductionParts.h"
#include "passes/cost/SizeHints.h"
#include "passes/cost/TilePolicy.h"
#include "passes/forms/FormSource.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

namespace {
/// A dimension along which a contraction or a reduction sums, and the number of equal parts that it is split into.
struct SplitAxis {
  unsigned lhs, rhs; ///< the dimension of each operand; a reduction has one operand
  int64_t numParts;
};
} // namespace

/// Returns the place of an index in an operand; none unless there is exactly one.
static std::optional<unsigned> findOnly(ArrayRef<int64_t> indices, int64_t index) {
  if (llvm::count(indices, index) != 1)
    return std::nullopt;
  return llvm::find(indices, index) - indices.begin();
}

/// Returns the longest dimension that both operands share and that is summed.
static std::optional<SplitAxis> findLongestAxis(ContractOp op) {
  Dims lhs = getDims(op.getLhs()), rhs = getDims(op.getRhs());
  std::optional<SplitAxis> longest;
  int64_t depth = 0;
  for (int64_t index : op.getLhsDims()) {
    std::optional<unsigned> lhsAxis = findOnly(op.getLhsDims(), index), rhsAxis = findOnly(op.getRhsDims(), index);
    if (!lhsAxis || !rhsAxis || llvm::is_contained(op.getResultDims(), index) || lhs[*lhsAxis] != rhs[*rhsAxis])
      continue;
    if (std::optional<int64_t> extent = getConstant(lhs[*lhsAxis]); extent && *extent > depth) {
      depth = *extent;
      longest = {*lhsAxis, *rhsAxis, 1};
    }
  }
  return longest;
}

static std::optional<SplitAxis> findLongestAxis(ReduceOp op) {
  Dims dims = getDims(op.getInput());
  std::optional<SplitAxis> longest;
  int64_t depth = 0;
  for (int64_t axis : op.getAxes())
    if (std::optional<int64_t> extent = getConstant(dims[axis]); extent && *extent > depth) {
      depth = *extent;
      longest = {static_cast<unsigned>(axis), 0, 1};
    }
  return longest;
}

/// Returns rows, columns and products of a contraction; a reduction has one product for each element of its input.
static ProductShape getSumShape(Operation *op) {
  if (isa<ContractOp>(op))
    return *getProductShape(op);
  auto reduce = cast<ReduceOp>(op);
  SizeHints hints(op->getParentOfType<func::FuncOp>());
  ProductShape shape{1, 1, 1, 1, 1};
  for (auto [axis, dim] : llvm::enumerate(getDims(reduce.getInput())))
    (llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)) ? shape.depth : shape.columns) *=
        estimateExtent(hints, dim);
  return shape;
}

/// Returns the number of tiles of the unsplit kernel. Of reductions only those to a single element are split: of two
/// long rows, read by two threads, parts are read more slowly than the whole.
static double countTiles(Operation *op, const TilePolicy &tiles) {
  ProductShape shape = getSumShape(op);
  if (isa<ReduceOp>(op) && shape.columns > 1)
    return static_cast<double>(tiles.someTiles);
  return countReductionTiles(shape.rows, shape.columns, tiles);
}

static std::optional<SplitAxis> matchSplit(Operation *op, const FormPolicy &policy, const TilePolicy &tiles) {
  if (!isa<ContractOp, ReduceOp>(op) || !isProductOfFloats(op) || !op->getDiscardableAttrs().empty())
    return std::nullopt;
  std::optional<SplitAxis> split =
      isa<ContractOp>(op) ? findLongestAxis(cast<ContractOp>(op)) : findLongestAxis(cast<ReduceOp>(op));
  if (!split)
    return std::nullopt;
  int64_t depth = *getConstant(getDims(op->getOperand(0))[split->lhs]);
  ProductShape shape = getSumShape(op);
  LongSums sums{shape.rows, shape.columns, depth, shape.getProducts() / static_cast<double>(depth)};
  bool isInexact = isa<ContractOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32() &&
                   shape.depth * shape.repetitions >= static_cast<double>(policy.minInexactDepth);
  split->numParts = chooseReductionParts(sums, isInexact ? 1 : countTiles(op, tiles), tiles);
  return split->numParts > 1 ? split : std::nullopt;
}

/// Reshapes dimension `axis` to two: the parts, and the elements of a part.
static Value splitDim(OpBuilder &b, Location loc, Value value, unsigned axis, int64_t numParts) {
  Dims dims = getDims(value);
  int64_t extent = *getConstant(dims[axis]);
  assert(extent % numParts == 0 && "all parts are equally long");
  dims[axis] = getDimConstant(b.getContext(), extent / numParts);
  dims.insert(dims.begin() + axis, getDimConstant(b.getContext(), numParts));
  return ReshapeOp::create(b, loc, getTensorType(dims, getElementTypeOrSelf(value)), value);
}

static SmallVector<int64_t> insertIndex(ArrayRef<int64_t> indices, unsigned axis, int64_t index) {
  SmallVector<int64_t> inserted(indices);
  inserted.insert(inserted.begin() + axis, index);
  return inserted;
}

/// Returns the partial sums, [parts, result...].
static Value computeParts(OpBuilder &b, ContractOp op, const SplitAxis &split) {
  int64_t part = 0;
  for (ArrayRef<int64_t> indices : {op.getLhsDims(), op.getRhsDims()})
    for (int64_t index : indices)
      part = std::max(part, index + 1);
  return ContractOp::create(
      b, op.getLoc(), splitDim(b, op.getLoc(), op.getLhs(), split.lhs, split.numParts),
      splitDim(b, op.getLoc(), op.getRhs(), split.rhs, split.numParts), insertIndex(op.getLhsDims(), split.lhs, part),
      insertIndex(op.getRhsDims(), split.rhs, part), insertIndex(op.getResultDims(), 0, part), TypeAttr());
}

/// Returns the partial results, with the parts where the split dimension was, as far as dimensions are kept.
static Value computeParts(OpBuilder &b, ReduceOp op, const SplitAxis &split) {
  SmallVector<int64_t> axes;
  for (int64_t axis : op.getAxes())
    axes.push_back(axis < split.lhs ? axis : axis + 1);
  return ReduceOp::create(b, op.getLoc(), op.getKind(),
                          splitDim(b, op.getLoc(), op.getInput(), split.lhs, split.numParts), axes, op.getKeepdims());
}

/// Returns the dimension of partial results that the parts are.
static int64_t getPartAxis(ReduceOp op, const SplitAxis &split) {
  if (op.getKeepdims())
    return split.lhs;
  return split.lhs - llvm::count_if(op.getAxes(), [&](int64_t axis) { return axis < split.lhs; });
}

static constexpr llvm::StringLiteral kForms[] = {kWholeReductionForm, kSplitReductionForm};
enum ReductionForm : size_t { kWhole, kSplit };

namespace {
struct SplitReductions : public FormSource {
  explicit SplitReductions(const FormPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "long sums"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<double> estimateErrors(const FormSite &site, size_t form) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t, RewriterBase &rewriter) const override;

private:
  FormPolicy policy;
  TilePolicy tiles;
};
} // namespace

std::vector<FormSite> SplitReductions::listSites(func::FuncOp function) const {
  std::vector<FormSite> sites;
  function.walk([&](Operation *op) {
    if (matchSplit(op, policy, tiles))
      sites.push_back({{op}, "split sum " + PathRegion::get(op).text});
  });
  return sites;
}

/// Returns the cycles of all cores, if all of them have tiles.
static double estimateWork(Operation *op, const Machine &machine) {
  if (isa<ContractOp>(op))
    return estimateFloats(op, machine, /*share=*/1);
  double bytes = getSumShape(op).getProducts() * static_cast<double>(getElementBytes(op));
  return bytes / machine.llcBytesPerCycle;
}

double SplitReductions::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  Operation *op = site.operations.front();
  ProductShape shape = getSumShape(op);
  if (form == kWhole) {
    // Threads without a tile wait for the others.
    double idle = static_cast<double>(tiles.minTiles) / countTiles(op, tiles) - 1;
    return machine.launchCycles + std::max(idle, 0.0) * estimateWork(op, machine);
  }
  double partBytes = shape.rows * shape.columns * static_cast<double>(matchSplit(op, policy, tiles)->numParts) *
                     static_cast<double>(getElementBytes(op));
  return 2 * machine.launchCycles + 2 * partBytes / machine.llcBytesPerCycle;
}

/// Each addition of a sum rounds to half a unit in the last place of what was added before. These errors are
/// independent, so that of random factors the error of a sum grows with the root of their number (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd edition, section 4.2).
SmallVector<double> SplitReductions::estimateErrors(const FormSite &site, size_t form) const {
  Operation *op = site.operations.front();
  if (form == kSplit || !isa<ContractOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32())
    return {};
  constexpr double kHalfUlp = 0x1p-24; // format: of f32
  double depth = getSumShape(op).depth * getSumShape(op).repetitions;
  if (depth < static_cast<double>(policy.minLongDepth))
    return {};
  return {kHalfUlp * std::sqrt(depth)};
}

SmallVector<Operation *> SplitReductions::take(const FormSite &site, size_t, RewriterBase &rewriter) const {
  Operation *op = site.operations.front();
  SplitAxis split = *matchSplit(op, policy, tiles);
  rewriter.setInsertionPoint(op);
  auto reduce = dyn_cast<ReduceOp>(op);
  Value parts = reduce ? computeParts(rewriter, reduce, split) : computeParts(rewriter, cast<ContractOp>(op), split);
  rewriter.replaceOpWithNewOp<ReduceOp>(op, reduce ? reduce.getKind() : ReduceKind::sum, parts,
                                        reduce ? getPartAxis(reduce, split) : 0, /*keepdims=*/false);
  return {parts.getDefiningOp()};
}

std::unique_ptr<FormSource> tenon::createSplitReductions(const FormPolicy &policy) {
  return std::make_unique<SplitReductions>(policy);
}
