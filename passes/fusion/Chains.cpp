//===- Chains.cpp - convolutions whose input is computed in the same kernel ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Chains.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "passes/Kernel.h"
#include "passes/cost/ChainCost.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"

using namespace mlir;
using namespace tenon;

namespace {
/// An intermediate image between two convolutions, with static extents except for the number of images.
struct Image {
  int64_t lines, width, channels;
};
} // namespace

static std::optional<Image> getImage(Value value) {
  Dims dims = getDims(value);
  if (dims.size() != 4)
    return std::nullopt;
  std::optional<int64_t> lines = getConstant(dims[1]), width = getConstant(dims[2]), channels = getConstant(dims[3]);
  if (!lines || !width || !channels || *lines * *width * *channels == 0)
    return std::nullopt;
  return Image{*lines, *width, *channels};
}

/// True if the path of a contraction stores a factor as bf16 terms or as fixed-point numbers instead of f32.
static bool isStoredOtherwise(Value factor) {
  Operation *source = factor.getDefiningOp();
  if (auto dequantize = dyn_cast_or_null<DequantizeOp>(source))
    source = dequantize.getInput().getDefiningOp();
  if (auto unpack = dyn_cast_or_null<UnpackOp>(source))
    return unpack.getBits().has_value();
  return isa_and_nonnull<MergeTermsOp, UnpackTermsOp>(source);
}

/// Returns the cycles that the choice of paths estimated; null unless the path is a plain f32 vector kernel.
static IntegerAttr getEstimate(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>(kPathAttr);
  auto estimates = op->getAttrOfType<DictionaryAttr>(kPathsAttr);
  bool fits = isa<ContractOp, ConvolveOp>(op) && path && estimates && isProductOfFloats(op) &&
              getElementTypeOrSelf(op->getResult(0)).isF32() && !isWidened(op->getOperand(0)) &&
              llvm::none_of(op->getOperands(), isStoredOtherwise);
  return fits ? estimates.getAs<IntegerAttr>(path.getValue()) : IntegerAttr();
}

/// True if an operation can be one of the two loop nests of a chain.
static bool isPlainNest(Operation *op, const ChainPolicy &policy) {
  return getEstimate(op) && getProductShape(op)->depth <= policy.maxDepth;
}

/// True for [m, k] x [k, n] -> [m, n] where `input` is the LHS.
static bool isProductOfRows(ContractOp op, Value input) {
  ArrayRef<int64_t> lhs = op.getLhsDims(), rhs = op.getRhsDims(), result = op.getResultDims();
  return op.getLhs() == input && op.getRhs() != input && lhs.size() == 2 && rhs.size() == 2 && result.size() == 2 &&
         lhs.front() == result.front() && llvm::is_contained(rhs, lhs.back()) &&
         llvm::is_contained(rhs, result.back()) && !llvm::is_contained(rhs, lhs.front());
}

/// Whether each channel has a filter of its own.
static bool isDepthwise(ConvolveOp op) {
  int64_t channels = getConstant(getDims(op.getInput())[op.getChannelDim()]).value_or(0);
  return op.getChannelsLast() && int64_t(op.getGroups()) == channels &&
         getConstant(getDims(op.getType())[op.getChannelDim()]) == channels;
}

namespace {
/// The loop nest before a reshape, and the elementwise operations between the two.
struct NestBefore {
  Operation *nest;
  SmallVector<Operation *> elements;
};
} // namespace

/// Finds the loop nest that computes a reshape's input, with only single-use elementwise operations in between.
static std::optional<NestBefore> findNestBefore(ReshapeOp link, const ChainPolicy &policy) {
  Dims dims = getDims(link.getInput());
  llvm::SmallPtrSet<Operation *, 16> inside{link};
  SmallVector<Operation *> pending{link.getInput().getDefiningOp()};
  NestBefore before{nullptr, {}};
  while (!pending.empty() && static_cast<int64_t>(inside.size()) + 1 < policy.maxOpsBefore) {
    Operation *op = pending.pop_back_val();
    // An operation is visited once for each operation that reads it.
    if (!op || op->getBlock() != link->getBlock() || inside.contains(op) || getDims(op->getResult(0)) != dims ||
        !llvm::all_of(op->getUsers(), [&](Operation *user) { return inside.contains(user); }))
      continue;
    if (isPlainNest(op, policy)) {
      if (before.nest && before.nest != op)
        return std::nullopt;
      before.nest = op;
    } else if (op->hasTrait<Elementwise>()) {
      inside.insert(op);
      before.elements.push_back(op);
      for (Value operand : op->getOperands())
        pending.push_back(operand.getDefiningOp());
    }
  }
  if (!before.nest || !before.nest->hasOneUse())
    return std::nullopt;
  llvm::sort(before.elements, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return before;
}

/// Returns the elements of one image in an operand or result, which may have the rows of all images as one dimension.
static std::optional<double> countElements(Value value, const Image &between) {
  Dims dims = getDims(value);
  assert(!dims.empty() && "an image has dimensions");
  if (dims.size() == 2)
    dims = {getDimConstant(value.getContext(), between.lines * between.width), dims.back()};
  else
    dims.erase(dims.begin());
  std::optional<int64_t> elements = getConstant(getElementCount(value.getContext(), dims));
  return elements ? std::optional(double(*elements)) : std::nullopt;
}

/// Cycles of so many rows of the result.
static double getCycles(Operation *nest, double rows) {
  assert(getEstimate(nest) && getProductShape(nest)->rows > 0 && "a loop nest of a chain has an estimate and rows");
  return getEstimate(nest).getInt() / getProductShape(nest)->rows * rows;
}

/// Returns the inputs of the cost model; none if extents are dynamic.
static std::optional<ChainShape> getShape(Operation *first, Operation *second, const Image &between, int64_t images,
                                          const Machine &machine) {
  constexpr int64_t kElementBytes = sizeof(float); // format: chains are of f32
  std::optional<double> read = countElements(first->getOperand(0), between),
                        written = countElements(second->getResult(0), between);
  if (!read || !written)
    return std::nullopt;
  ProductShape firstShape = *getProductShape(first), secondShape = *getProductShape(second);
  ChainShape shape{images, between.lines, between.width, between.channels};
  shape.elementBytes = kElementBytes;
  if (isa<ContractOp>(second)) {
    shape.resultLines = between.lines;
    shape.needsEqualTiles = true;
  } else {
    auto convolve = cast<ConvolveOp>(second);
    std::optional<Image> result = getImage(convolve.getResult());
    std::optional<int64_t> window = getConstant(getDims(convolve.getFilter()).front());
    if (!result || !window || !getConstant(getDims(convolve.getFilter())[1]))
      return std::nullopt;
    shape.resultLines = result->lines;
    shape.window = *window;
    shape.stride = convolve.getStrides()[0];
    shape.dilation = convolve.getDilations()[0];
    shape.channelStep = between.channels % machine.panelColumns == 0 ? machine.panelColumns : between.channels;
  }
  double resultRows = *written / secondShape.columns;
  shape.firstCycles = images * getCycles(first, between.lines * between.width);
  shape.secondCycles = images * getCycles(second, resultRows);
  double firstWeights = firstShape.getWeights() * kElementBytes,
         secondWeights = secondShape.getWeights() * kElementBytes;
  shape.firstBytes = images * *read * kElementBytes + firstWeights;
  shape.secondBytes = images * *written * kElementBytes + secondWeights;
  shape.weightBytes = firstWeights + secondWeights;
  return shape;
}

/// A tile in elements of the second one's result.
static SmallVector<int64_t> getTile(Operation *second, const ChainTile &tile, const Image &between) {
  Dims dims = getDims(second->getResult(0));
  if (isa<ContractOp>(second))
    return {tile.lines * between.width, *getConstant(dims.back())};
  assert(dims.size() == 4 && getConstant(dims[2]) &&
         "the second loop nest of a chain gives an image of constant width");
  return {1, tile.lines, *getConstant(dims[2]), tile.channels};
}

/// Returns the images between the two loop nests of a chain.
static Value getImages(const ChainMatch &match) {
  Operation *link = match.link;
  return isa<ContractOp>(match.first) ? link->getResult(0) : link->getOperand(0);
}

std::optional<ChainMatch> tenon::matchChain(ReshapeOp link, const ChainPolicy &policy) {
  if (!link->hasOneUse())
    return std::nullopt;
  Operation *second = *link->user_begin();
  std::optional<NestBefore> before = findNestBefore(link, policy);
  if (!before || !isPlainNest(second, policy) || second->getBlock() != link->getBlock())
    return std::nullopt;
  Operation *first = before->nest;
  auto rows = dyn_cast<ContractOp>(isa<ContractOp>(first) ? first : second);
  auto image = dyn_cast<ConvolveOp>(isa<ConvolveOp>(first) ? first : second);
  if (!rows || !image || !image.getChannelsLast() ||
      !isProductOfRows(rows, rows == first ? rows.getLhs() : link.getResult()))
    return std::nullopt;
  if (image == second && (!isDepthwise(image) || image.getInput() != link.getResult()))
    return std::nullopt;
  ChainMatch match{first, std::move(before->elements), link, second};
  if (!getImage(getImages(match)) ||
      getElementTypeOrSelf(link.getResult()) != getElementTypeOrSelf(first->getResult(0)) ||
      !getConstant(getDims(second->getResult(0)).back()))
    return std::nullopt;
  return match;
}

std::optional<ChainPlan> tenon::planChain(const ChainMatch &match, const Machine &machine, const ChainPolicy &policy) {
  std::optional<Image> between = getImage(getImages(match));
  assert(between && "a chain has images between its loop nests");
  std::optional<ChainShape> shape =
      getShape(match.first, match.second, *between, getConstant(getDims(getImages(match))[0]).value_or(1), machine);
  std::optional<ChainTile> tile = shape ? chooseChainTile(*shape, machine, policy) : std::nullopt;
  if (!tile)
    return std::nullopt;
  // The cost model plans one image if their number is dynamic.
  AffineExpr images = getDims(getImages(match))[0];
  SizeHints hints(match.first->getParentOfType<func::FuncOp>());
  double count = getConstant(images) ? 1.0 : estimateExtent(hints, images);
  return ChainPlan{getTile(match.second, *tile, *between), count * tile->cycles, count * tile->separateCycles};
}
