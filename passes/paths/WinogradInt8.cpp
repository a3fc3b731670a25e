//===- WinogradInt8.cpp - an int8 convolution with few multiplications ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unsigned int8 and a filter of signed ones are i16 when they are transformed, which
// processors multiply in pairs (vpmaddwd). The sums may wrap around: what they are
// modulo 2^32 tells the results (winograd/Transforms.h), which are the same integers
// as those of any other way.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/paths/Path.h"
#include "passes/paths/WinogradProduct.h"

using namespace mlir;
using namespace tenon;

static const int8_t *getFilterElements(ConvolveOp op) {
  return reinterpret_cast<const int8_t *>(getFilterBytes(op)->data());
}

namespace {
class WinogradInt8 : public Path {
public:
  WinogradInt8(int64_t outputs) : outputs(outputs), name("winograd-int8-" + std::to_string(outputs)) {}
  llvm::StringRef getName() const override { return name; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    auto convolve = dyn_cast<ConvolveOp>(op);
    bool isInt8 = convolve && convolve.getType().getElementType().isInteger(32) &&
                  getElementTypeOrSelf(convolve.getInput()).isUnsignedInteger(8) &&
                  getElementTypeOrSelf(convolve.getFilter()).isSignlessInteger(8);
    if (!isInt8 || convolve.getType().getRank() != 4 || machine.int8Dot == Int8Dot::scalar)
      return std::nullopt;
    std::optional<FilterShape> filter = getSquareFilter(convolve);
    if (!filter || !hasIntegerTransforms(outputs, filter->window) ||
        !fitsIntegerTransforms(getIntegerTransforms(outputs, filter->window), *filter, getFilterElements(convolve)))
      return std::nullopt;
    double weights = double(llvm::product_of(getShape(*filter, machine))) * sizeof(int32_t),
           own = getFilterBytes(convolve)->size();
    SizeHints hints(op->getParentOfType<func::FuncOp>());
    Dims dims = getDims(convolve.getType());
    auto getExtent = [&](AffineExpr dim) { return double(hints.get(dim).value_or(kDefaultExtent)); };
    double images = getProductShape(op)->rows / (getExtent(dims[1]) * getExtent(dims[2]));
    // An int8 filter grows two to eight times. The additional bytes displace other weights from the caches, so they are
    // charged the cost of reading them from DRAM in each run, which may be for a single image.
    double price = (weights - own) / machine.dramBytesPerCycle * (hints.get(dims[0]) ? 1 : images);
    return estimateWinogradCycles(convolve, *filter, outputs, WinogradFactors::i16, machine) +
           machine.getReadCycles(own) + price;
  }

  /// Sums of integers are exact.
  double measureError(Operation *) const override { return 0; }
  bool isAsExact() const override { return true; }

  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override {
    auto convolve = cast<ConvolveOp>(op);
    FilterShape filter = *getSquareFilter(convolve);
    auto weight = convolve.getFilter().getDefiningOp<WeightOp>();
    auto type = RankedTensorType::get(getShape(filter, machine), rewriter.getI32Type());
    AsmResourceBlob blob =
        HeapAsmResourceBlob::allocate(type.getNumElements() * sizeof(int32_t), 64, /*dataIsMutable=*/true);
    transformFilterToI16(getIntegerTransforms(outputs, filter.window), filter, getFilterElements(convolve),
                         machine.panelColumns, reinterpret_cast<int32_t *>(blob.getMutableData().data()));
    auto transformed = WeightOp::create(rewriter, weight.getLoc(), createElements(type, "winograd", std::move(blob)));
    transformed.setNameAttr(deriveName(weight.getNameAttr(), name));
    WinogradSchedule chosen = scheduleWinograd(convolve, filter, outputs, WinogradFactors::i16, machine);
    auto winograd = rewriter.replaceOpWithNewOp<WinogradOp>(
        convolve, convolve.getInput(), transformed, convolve.getLow(), convolve.getHigh(), outputs, filter.window,
        filter.filters,
        SmallVector<int64_t>{chosen.rows * outputs, chosen.columns * outputs, chosen.panels * machine.panelColumns});
    if (weight->use_empty())
      rewriter.eraseOp(weight);
    return winograd;
  }

private:
  /// Of the transformed filter.
  SmallVector<int64_t> getShape(const FilterShape &filter, const Machine &machine) const {
    int64_t side = outputs + filter.window - 1;
    return {llvm::divideCeilSigned(filter.filters, machine.panelColumns), side * side,
            llvm::divideCeilSigned(filter.channels, 2), machine.panelColumns};
  }

  int64_t outputs;
  std::string name;
};
} // namespace

std::unique_ptr<Path> tenon::createWinogradInt8(int64_t outputs) { return std::make_unique<WinogradInt8>(outputs); }
