//===- TransposedConvolution.cpp - without the zeros between pixels -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With s - 1 zeros between pixels only every s-th tap of a filter meets one, and
// which taps do is the same for every s-th result. So results are s times as many
// filters of taps / s taps each, whose results lie side by side: a convolution of
// sub-pixels (Shi and others, "Is the deconvolution layer the same as a
// convolutional layer?", 2016).
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/TransposedConvolution.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/IR/Matchers.h"
#include "passes/simplify/ConstantValue.h"

using namespace mlir;
using namespace tenon;

using Numbers = SmallVector<int64_t>;

/// Returns the pad that inserts zeros between pixels, if it does nothing else.
static PadOp getSpread(ConvolveOp op) {
  auto pad = op.getInput().getDefiningOp<PadOp>();
  if (!pad || pad.getMode() != PadMode::constant || !matchPattern(pad.getValue(), m_AnyZeroFloat()))
    return {};
  Dims from = getDims(pad.getInput()), to = getDims(pad.getType());
  for (auto [dim, interior] : llvm::enumerate(pad.getInterior())) {
    AffineExpr one = getDimConstant(op.getContext(), 1), step = getDimConstant(op.getContext(), interior + 1);
    bool isSpread = to[dim] == addDims(mulDims(subDims(from[dim], one), step), one);
    if (getConstant(pad.getLow().getDims()[dim]) != 0 || !isSpread || (dim < 2 && interior != 0))
      return {};
  }
  bool hasZeros = llvm::any_of(pad.getInterior(), [](int64_t interior) { return interior != 0; });
  return hasZeros ? pad : PadOp();
}

namespace {

/// One spatial dimension with s results for each pixel: result s * q + r - `cut` is the sum over taps t of pixel q + t
/// - `low` times tap s * t + s - 1 - r of the filter. `cut` unneeded results come first, so that at most ceil(taps / s)
/// taps are needed.
struct Phases {
  int64_t count, taps, cut, low, high;
};

struct SplitTransposedConvolution : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    PadOp spread = getSpread(op);
    if (!spread || op.getChannelsLast() || !op.getType().getElementType().isF32() || !isConstantValue(op.getFilter()))
      return rewriter.notifyMatchFailure(op, "is not a transposed convolution with a constant filter");
    SmallVector<Phases> phases;
    for (int64_t i = 0; i < op.getType().getRank() - 2; ++i) {
      std::optional<Phases> own = getPhases(op, spread, i);
      if (!own)
        return rewriter.notifyMatchFailure(op, "has strides or dilations");
      phases.push_back(*own);
    }
    rewriter.replaceOp(op, joinPhases(rewriter, op, convolvePixels(rewriter, op, spread.getInput(), phases), phases));
    return success();
  }

private:
  static std::optional<Phases> getPhases(ConvolveOp op, PadOp spread, int64_t i) {
    int64_t s = spread.getInterior()[i + 2] + 1, low = op.getLow()[i];
    std::optional<int64_t> taps = getConstant(getDims(op.getFilter())[i + 2]);
    AffineExpr step = getDimConstant(op.getContext(), s), pixels = getDims(spread.getInput())[i + 2];
    std::optional<int64_t> more = getConstant(subDims(getDims(op)[i + 2], mulDims(pixels, step)));
    if (!taps || !more || low < 0 || op.getHigh()[i] < 0 || op.getStrides()[i] != 1 || op.getDilations()[i] != 1)
      return std::nullopt;
    Phases phases{s, static_cast<int64_t>(llvm::divideCeil(*taps, s)), (s - 1 - low % s) % s, 0, 0};
    phases.low = (low + phases.cut) / s;
    // The number of results plus the cut ones, rounded up.
    int64_t wanted = llvm::divideCeilSigned(*more + phases.cut, s);
    phases.high = std::max<int64_t>(0, wanted - phases.low + phases.taps - 1);
    return phases;
  }

  /// Reshapes the filter [F, C, taps...] to [groups * s... * F / groups, C, taps / s...].
  static Value splitFilter(OpBuilder &b, ConvolveOp op, ArrayRef<Phases> phases) {
    Location loc = op.getLoc();
    Value filter = op.getFilter();
    Type element = getElementTypeOrSelf(filter);
    int64_t rank = phases.size(), groups = op.getGroups();
    auto dim = [&](int64_t value) { return getDimConstant(b.getContext(), value); };
    Dims padded = getDims(filter), split{dim(groups), divDims(padded[0], dim(groups)), padded[1]},
         joined{padded[0], padded[1]};
    Numbers starts(3, 0), steps(3, 1), order{0};
    for (auto [i, own] : llvm::enumerate(phases)) {
      padded[i + 2] = dim(own.taps * own.count);
      split.append({dim(own.taps), dim(own.count)});
      starts.append({0, own.count - 1});
      steps.append({1, -1});
      order.push_back(4 + 2 * i);
      joined[0] = mulDims(joined[0], dim(own.count));
      joined.push_back(dim(own.taps));
    }
    order.append({1, 2});
    for (int64_t i = 0; i < rank; ++i)
      order.push_back(3 + 2 * i);
    if (padded != getDims(filter)) {
      Value zero = TenonBuilder(b, loc).scalar(element, 0);
      Dims none(padded.size(), dim(0));
      filter = PadOp::create(b, loc, getTensorType(padded, element), PadMode::constant, filter, zero,
                             ShapeAttr::get(b.getContext(), none), Numbers(padded.size(), 0));
    }
    filter = TenonBuilder(b, loc).reshape(filter, split);
    Dims first = llvm::map_to_vector<4>(starts, dim);
    filter =
        SliceOp::create(b, loc, getTensorType(split, element), filter, ShapeAttr::get(b.getContext(), first), steps);
    return TenonBuilder(b, loc).reshape(TransposeOp::create(b, loc, filter, order), joined);
  }

  static Value convolvePixels(OpBuilder &b, ConvolveOp op, Value pixels, ArrayRef<Phases> phases) {
    Numbers ones(phases.size(), 1), low, high;
    for (const Phases &own : phases) {
      low.push_back(own.low);
      high.push_back(own.high);
    }
    return ConvolveOp::create(b, op.getLoc(), pixels, splitFilter(b, op, phases), ones, ones, low, high, op.getGroups(),
                              op.getResultTypeAttr(), false);
  }

  /// Reshapes [N, groups * s... * F / groups, Q...] to [N, F, s * Q...], and slices the requested part.
  static Value joinPhases(OpBuilder &b, ConvolveOp op, Value value, ArrayRef<Phases> phases) {
    Location loc = op.getLoc();
    int64_t rank = phases.size();
    auto dim = [&](int64_t value) { return getDimConstant(b.getContext(), value); };
    Dims pixels = getDims(value), result = getDims(op), joined{result[0], result[1]};
    Dims split{pixels[0], dim(op.getGroups())}, starts(2, dim(0));
    Numbers order{0, 1, 2 + rank};
    for (auto [i, own] : llvm::enumerate(phases)) {
      split.push_back(dim(own.count));
      order.append({3 + rank + static_cast<int64_t>(i), 2 + static_cast<int64_t>(i)});
      joined.push_back(mulDims(pixels[i + 2], dim(own.count)));
      starts.push_back(dim(own.cut));
    }
    split.push_back(divDims(result[1], dim(op.getGroups())));
    split.append(pixels.begin() + 2, pixels.end());
    value = TransposeOp::create(b, loc, TenonBuilder(b, loc).reshape(value, split), order);
    value = TenonBuilder(b, loc).reshape(value, joined);
    if (joined == result)
      return value;
    return SliceOp::create(b, loc, op.getType(), value, ShapeAttr::get(b.getContext(), starts), Numbers(rank + 2, 1));
  }
};

} // namespace

void tenon::populateTransposedConvolutions(RewritePatternSet &patterns) {
  patterns.add<SplitTransposedConvolution>(patterns.getContext());
}
