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
// of two channels. Or they are rounded to i16, whose products vpdpwssd sums: all channels
// of a point of a square have a scale, and all points of a filter another one, which the
// results are scaled by. The transforms amplify the errors of rounding, so these are
// measured with the weights.
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
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

namespace {
struct TransformedFilter {
  WeightOp filter;
  WeightOp scales; ///< of the results of each filter; null if they have none
};

class WinogradConvolution : public Path {
public:
  WinogradConvolution(int64_t outputs, WinogradFactors factors, const PathPolicy &policy)
      : outputs(outputs), factors(factors), policy(policy), name(getPrefix(factors) + std::to_string(outputs)) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  static std::string getPrefix(WinogradFactors factors) {
    return factors == WinogradFactors::bf16        ? "winograd-bf16-"
           : factors == WinogradFactors::scaledI16 ? "winograd-int16-"
                                                   : "winograd-";
  }
  bool isOfBf16() const { return factors == WinogradFactors::bf16; }
  bool isOfI16() const { return factors == WinogradFactors::scaledI16; }
  WinogradTransforms getTransforms(int64_t window) const {
    WinogradTransforms transforms = getWinogradTransforms(outputs, window);
    return isOfI16() ? balanceFilter(transforms) : transforms;
  }
  bool hasFactors(const Machine &machine) const;
  SmallVector<int64_t> getShape(const FilterShape &filter, const Machine &machine) const;
  TransformedFilter transformWeight(ConvolveOp op, const Machine &machine, RewriterBase &rewriter) const;

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
  if (isOfBf16())
    return {panels, side * side, countBf16Pairs(filter.channels), 2 * panel};
  if (isOfI16())
    return {panels, side * side, llvm::divideCeilSigned(filter.channels, 2), panel};
  return {panels, side * side, filter.channels, panel};
}

/// True if the machine has instructions that sum two products of such factors.
bool WinogradConvolution::hasFactors(const Machine &machine) const {
  if (isOfI16())
    return machine.int8Dot == Int8Dot::vnni;
  return !isOfBf16() || machine.bf16Pairs || machine.amxBf16;
}

std::optional<double> WinogradConvolution::estimateCycles(Operation *op, const Machine &machine) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  bool isOfFloats = convolve && convolve.getType().getElementType().isF32() &&
                    convolve.getFilter().getType().getElementType().isF32();
  std::optional<FilterShape> square = isOfFloats ? getSquareFilter(convolve) : std::nullopt;
  if (!square || !hasWinogradTransforms(outputs, square->window) || !hasFactors(machine))
    return std::nullopt;
  FilterShape filter = *square;
  double weights = double(llvm::product_of(getShape(filter, machine)));
  double cycles = estimateWinogradCycles(convolve, filter, outputs, factors, machine) +
                  (hasFrames(convolve) ? getJoinCycles(convolve, policy) : 0) +
                  (multipliesInAmxTiles(factors, machine) ? policy.amxBeginCycles : 0);
  return std::max(cycles, machine.getReadCycles(weights * (isOfBf16() ? sizeof(uint16_t) : sizeof(float))));
}

/// That of rounding one of the factors.
double WinogradConvolution::getLeastError(Operation *op) const {
  if (isOfI16())
    return getWinogradGroups(getSquareFilter(cast<ConvolveOp>(op))->channels).getRowError();
  return isOfBf16() ? kBf16RoundingError : 0;
}

double WinogradConvolution::measureError(Operation *op) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = *getSquareFilter(convolve);
  SmallVector<float> elements = getFilterElements(convolve);
  constexpr float kLargest = 1e30f; // limit: of elements that have scales
  if (isOfI16() && !llvm::all_of(elements, [](float element) { return std::abs(element) < kLargest; }))
    return std::numeric_limits<double>::infinity();
  double error = measureWinogradError(getTransforms(filter.window), filter, elements.data(), factors);
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
TransformedFilter WinogradConvolution::transformWeight(ConvolveOp op, const Machine &machine,
                                                       RewriterBase &rewriter) const {
  constexpr size_t kAlignment = 64; // format: of weights
  FilterShape filter = *getSquareFilter(op);
  auto weight = op.getFilter().getDefiningOp<WeightOp>();
  WinogradTransforms transforms = getTransforms(filter.window);
  auto createWeight = [&](ArrayRef<int64_t> shape, Type type, StringRef key, StringRef how,
                          llvm::function_ref<void(char *)> fill) {
    auto whole = RankedTensorType::get(shape, type);
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(whole.getNumElements() * type.getIntOrFloatBitWidth() / 8,
                                                         kAlignment, /*dataIsMutable=*/true);
    fill(blob.getMutableData().data());
    auto created = WeightOp::create(rewriter, weight.getLoc(), createElements(whole, key, std::move(blob)));
    created.setNameAttr(deriveName(weight.getNameAttr(), how));
    return created;
  };
  SmallVector<float> elements = getFilterElements(op), scales(filter.filters);
  int64_t panel = getWinogradPanel(factors, machine);
  SmallVector<int64_t> shape = getShape(filter, machine);
  TransformedFilter made;
  if (isOfBf16())
    made.filter = createWeight(shape, rewriter.getBF16Type(), "winograd", name, [&](char *result) {
      transformFilterToBf16(transforms, filter, elements.data(), panel, reinterpret_cast<uint16_t *>(result));
    });
  else if (isOfI16())
    made.filter = createWeight(shape, rewriter.getI32Type(), "winograd", name, [&](char *result) {
      transformFilterToScaledI16(transforms, filter, elements.data(), panel, reinterpret_cast<int32_t *>(result),
                                 scales.data());
    });
  else
    made.filter = createWeight(shape, rewriter.getF32Type(), "winograd", name, [&](char *result) {
      transformFilter(transforms, filter, elements.data(), panel, reinterpret_cast<float *>(result));
    });
  if (isOfI16())
    made.scales = createWeight(filter.filters, rewriter.getF32Type(), "scales", "scales",
                               [&](char *result) { llvm::copy(scales, reinterpret_cast<float *>(result)); });
  return made;
}

Operation *WinogradConvolution::take(Operation *op, const Machine &machine, RewriterBase &rewriter) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = *getSquareFilter(convolve);
  auto weight = convolve.getFilter().getDefiningOp<WeightOp>();
  TransformedFilter transformed = transformWeight(convolve, machine, rewriter);
  WinogradSchedule chosen = scheduleWinograd(convolve, filter, outputs, factors, machine);
  Value images = hasFrames(convolve) ? joinFrames(rewriter, convolve) : convolve.getInput();
  auto winograd =
      WinogradOp::create(rewriter, convolve.getLoc(), images, transformed.filter, convolve.getLow().take_back(2),
                         convolve.getHigh().take_back(2), outputs, filter.window, filter.filters,
                         SmallVector<int64_t>{chosen.rows * outputs, chosen.columns * outputs,
                                              chosen.panels * getWinogradPanel(factors, machine)});
  Value result = winograd;
  if (transformed.scales)
    result = MulOp::create(rewriter, convolve.getLoc(), result, transformed.scales);
  if (hasFrames(convolve))
    rewriter.replaceOpWithNewOp<ReshapeOp>(convolve, convolve.getType(), result);
  else
    rewriter.replaceOp(convolve, result);
  if (weight->use_empty())
    rewriter.eraseOp(weight);
  return winograd;
}

std::unique_ptr<Path> tenon::createWinogradConvolution(int64_t outputs, WinogradFactors factors,
                                                       const PathPolicy &policy) {
  return std::make_unique<WinogradConvolution>(outputs, factors, policy);
}
