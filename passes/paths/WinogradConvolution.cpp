//===- WinogradConvolution.cpp - a convolution with few multiplications ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along a third dimension, of frames, nothing is transformed: a frame of the
// result is a convolution of all frames that the window sees, whose channels are
// put side by side.
//
// Where the error budget allows it, the transformed input and filter are rounded to
// bf16. AMX tiles multiply them if the target has such, else vdpbf16ps sums the products
// of two channels. The transforms amplify the errors of rounding, so these are measured
// with the weights.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "passes/cost/PanelPacking.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"
#include "passes/paths/WinogradProduct.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

namespace {
class WinogradConvolution : public Path {
public:
  WinogradConvolution(int64_t outputs, bool rounds, const PathPolicy &policy)
      : outputs(outputs), factors(rounds ? WinogradFactors::bf16 : WinogradFactors::f32), policy(policy),
        name((rounds ? "winograd-bf16-" : "winograd-") + std::to_string(outputs)) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *) const override { return rounds() ? kBf16RoundingError : 0; }
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  bool rounds() const { return factors == WinogradFactors::bf16; }
  SmallVector<int64_t> getShape(const FilterShape &filter, const Machine &machine) const;
  WeightOp transformWeight(ConvolveOp op, const Machine &machine, RewriterBase &rewriter) const;

  int64_t outputs;
  WinogradFactors factors;
  PathPolicy policy;
  std::string name;
};
} // namespace

/// Returns the elements of a constant filter that is not a splat, with the channels of all frames that a frame of the
/// result reads.
static SmallVector<float> getFilterElements(ConvolveOp op) {
  assert(getFilterBytes(op) && "a path is estimated for filters whose bytes are known");
  ArrayRef<char> bytes = *getFilterBytes(op);
  ArrayRef elements(reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float));
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  int64_t frames = getFrames(op), size = shape[shape.size() - 2] * shape.back();
  int64_t taps = static_cast<int64_t>(elements.size()) / (frames * size);
  SmallVector<float> joined;
  joined.reserve(elements.size());
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t frame = 0; frame < frames; ++frame)
      llvm::append_range(joined, elements.slice((frame * taps + tap) * size, size));
  return joined;
}

/// Returns the cycles to concatenate the channels of all frames that a frame of the result reads, for all frames of all
/// images.
static double getJoinCycles(ConvolveOp op, const PathPolicy &policy) {
  ProductShape shape = *getProductShape(op);
  double pixels = shape.rows; // of stride 1: as many as the input has, but for the border
  return pixels * double(op.getFilter().getType().getShape().take_back(2)[0]) * getFrames(op) * sizeof(float) *
         policy.frameCyclesPerByte;
}

/// Of the transformed filter.
SmallVector<int64_t> WinogradConvolution::getShape(const FilterShape &filter, const Machine &machine) const {
  int64_t side = outputs + filter.window - 1, panel = getWinogradPanel(factors, machine),
          panels = llvm::divideCeilSigned(filter.filters, panel);
  if (rounds())
    return {panels, side * side, countBf16Pairs(filter.channels), 2 * panel};
  return {panels, side * side, filter.channels, panel};
}

std::optional<double> WinogradConvolution::estimateCycles(Operation *op, const Machine &machine) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  bool isOfFloats = convolve && convolve.getType().getElementType().isF32() &&
                    convolve.getFilter().getType().getElementType().isF32();
  std::optional<FilterShape> square = isOfFloats ? getSquareFilter(convolve) : std::nullopt;
  if (!square || !hasWinogradTransforms(outputs, square->window) ||
      (rounds() && !machine.bf16Pairs && !machine.amxBf16))
    return std::nullopt;
  FilterShape filter = *square;
  double weights = double(llvm::product_of(getShape(filter, machine)));
  double cycles = estimateWinogradCycles(convolve, filter, outputs, factors, machine) +
                  (hasFrames(convolve) ? getJoinCycles(convolve, policy) : 0) +
                  (multipliesInAmxTiles(factors, machine) ? policy.amxBeginCycles : 0);
  return std::max(cycles, machine.getReadCycles(weights * (rounds() ? sizeof(uint16_t) : sizeof(float))));
}

double WinogradConvolution::measureError(Operation *op) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = *getSquareFilter(convolve);
  double error = measureWinogradError(getWinogradTransforms(outputs, filter.window), filter,
                                      getFilterElements(convolve).data(), factors);
  // Other inputs than those of the measurement may be less lucky.
  return std::max(error, getLeastError(op));
}

static Value createZero(OpBuilder &b, Location loc, Type type) {
  return WeightOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, type), b.getZeroAttr(type)));
}

/// Pads [N, D, H, W, C] with zero frames.
static Value padFrames(OpBuilder &b, ConvolveOp op) {
  Value input = op.getInput();
  int64_t low = op.getLow()[0], high = op.getHigh()[0];
  if (low == 0 && high == 0)
    return input;
  Dims dims = getDims(input), before(dims.size(), getDimConstant(b.getContext(), 0));
  before[1] = getDimConstant(b.getContext(), low);
  dims[1] = addDims(dims[1], getDimConstant(b.getContext(), low + high));
  Type type = getElementTypeOrSelf(input);
  return PadOp::create(b, op.getLoc(), getTensorType(dims, type), PadMode::constant, input,
                       createZero(b, op.getLoc(), type), ShapeAttr::get(b.getContext(), before),
                       SmallVector<int64_t>(dims.size(), 0));
}

/// Returns the frames of the result as images [N * D, H, W, channels of all frames in the window].
static Value joinFrames(OpBuilder &b, ConvolveOp op) {
  Location loc = op.getLoc();
  Value padded = padFrames(b, op);
  Type type = getElementTypeOrSelf(padded);
  Dims dims = getDims(padded), first(dims.size(), getDimConstant(b.getContext(), 0));
  dims[1] = getDims(op.getType())[1];
  SmallVector<Value> parts;
  for (int64_t frame = 0; frame < getFrames(op); ++frame) {
    first[1] = getDimConstant(b.getContext(), frame);
    parts.push_back(SliceOp::create(b, loc, getTensorType(dims, type), padded, ShapeAttr::get(b.getContext(), first),
                                    SmallVector<int64_t>(dims.size(), 1)));
  }
  Value joined = ConcatOp::create(b, loc, parts, dims.size() - 1);
  dims = getDims(joined);
  Dims images{mulDims(dims[0], dims[1]), dims[2], dims[3], dims[4]};
  return ReshapeOp::create(b, loc, getTensorType(images, type), joined);
}

/// Creates the transformed filter.
WeightOp WinogradConvolution::transformWeight(ConvolveOp op, const Machine &machine, RewriterBase &rewriter) const {
  FilterShape filter = *getSquareFilter(op);
  auto weight = op.getFilter().getDefiningOp<WeightOp>();
  WinogradTransforms transforms = getWinogradTransforms(outputs, filter.window);
  auto type =
      RankedTensorType::get(getShape(filter, machine), rounds() ? Type(rewriter.getBF16Type()) : rewriter.getF32Type());
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, 64, /*dataIsMutable=*/true);
  char *result = blob.getMutableData().data();
  SmallVector<float> elements = getFilterElements(op);
  if (rounds())
    transformFilterToBf16(transforms, filter, elements.data(), getWinogradPanel(factors, machine),
                          reinterpret_cast<uint16_t *>(result));
  else
    transformFilter(transforms, filter, elements.data(), machine.panelColumns, reinterpret_cast<float *>(result));
  auto transformed = WeightOp::create(rewriter, weight.getLoc(), createElements(type, "winograd", std::move(blob)));
  transformed.setNameAttr(deriveName(weight.getNameAttr(), name));
  return transformed;
}

Operation *WinogradConvolution::take(Operation *op, const Machine &machine, RewriterBase &rewriter) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = *getSquareFilter(convolve);
  auto weight = convolve.getFilter().getDefiningOp<WeightOp>();
  WeightOp transformed = transformWeight(convolve, machine, rewriter);
  WinogradSchedule chosen = scheduleWinograd(convolve, filter, outputs, factors, machine);
  Value images = hasFrames(convolve) ? joinFrames(rewriter, convolve) : convolve.getInput();
  auto winograd = WinogradOp::create(rewriter, convolve.getLoc(), images, transformed, convolve.getLow().take_back(2),
                                     convolve.getHigh().take_back(2), outputs, filter.window, filter.filters,
                                     SmallVector<int64_t>{chosen.rows * outputs, chosen.columns * outputs,
                                                          chosen.panels * getWinogradPanel(factors, machine)});
  if (hasFrames(convolve))
    rewriter.replaceOpWithNewOp<ReshapeOp>(convolve, convolve.getType(), winograd);
  else
    rewriter.replaceOp(convolve, winograd);
  if (weight->use_empty())
    rewriter.eraseOp(weight);
  return winograd;
}

std::unique_ptr<Path> tenon::createWinogradConvolution(int64_t outputs, bool rounds, const PathPolicy &policy) {
  return std::make_unique<WinogradConvolution>(outputs, rounds, policy);
}
