//===- WinogradConvolution.cpp - a convolution with few multiplications ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/UsualSizes.h"
#include "passes/layout/PanelPacking.h"
#include "passes/paths/Path.h"
#include "passes/paths/winograd/Schedule.h"
#include "passes/paths/winograd/Transforms.h"

using namespace mlir;
using namespace tenon;

namespace {
class WinogradConvolution : public Path {
public:
  WinogradConvolution(int64_t outputs) : outputs(outputs), name("winograd-" + std::to_string(outputs)) {}
  llvm::StringRef getName() const override { return name; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &machine, RewriterBase &rewriter) const override;

private:
  WinogradSchedule schedule(ConvolveOp op, const Machine &machine) const;

  int64_t outputs;
  std::string name;
};
} // namespace

/// The elements of a convolution's filter, where it is a weight with elements of its own.
static std::optional<ArrayRef<float>> getFilterElements(ConvolveOp op) {
  auto weight = op.getFilter().getDefiningOp<WeightOp>();
  std::optional<ArrayRef<char>> bytes = weight ? getBytes(weight.getValue()) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  return ArrayRef(reinterpret_cast<const float *>(bytes->data()), bytes->size() / sizeof(float));
}

static bool areAll(ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [&](int64_t v) { return v == value; });
}

static FilterShape getFilterShape(ConvolveOp op) {
  ArrayRef<int64_t> shape = op.getFilter().getType().getShape();
  return {shape[0], shape[2], shape[3]};
}

WinogradSchedule WinogradConvolution::schedule(ConvolveOp op, const Machine &machine) const {
  // Of an extent that is not known yet.
  constexpr int64_t kUsual = 64;
  UsualSizes usual(op->getParentOfType<func::FuncOp>());
  Dims dims = getDims(op.getType());
  FilterShape filter = getFilterShape(op);
  WinogradProblem problem{outputs, filter.window, usual.get(dims[1]).value_or(kUsual),
                          usual.get(dims[2]).value_or(kUsual), filter.channels, filter.filters, kPanelColumns};
  return chooseWinogradSchedule(problem, machine);
}

std::optional<double> WinogradConvolution::estimateCycles(Operation *op, const Machine &machine) const {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!convolve || !convolve.getChannelsLast() || convolve.getType().getRank() != 4 || convolve.getGroups() != 1 ||
      !convolve.getType().getElementType().isF32() || !convolve.getFilter().getType().getElementType().isF32() ||
      !areAll(convolve.getStrides(), 1) || !areAll(convolve.getDilations(), 1) ||
      !convolve.getFilter().getType().hasStaticShape())
    return std::nullopt;
  FilterShape filter = getFilterShape(convolve);
  if (convolve.getFilter().getType().getDimSize(1) != filter.window ||
      !hasWinogradTransforms(outputs, filter.window) || filter.channels == 0 || filter.filters == 0)
    return std::nullopt;
  if (!getFilterElements(convolve))
    return std::nullopt;
  int64_t side = outputs + filter.window - 1;
  double weights = double(side * side) * filter.channels * llvm::alignTo(filter.filters, kPanelColumns);
  return std::max(schedule(convolve, machine).cycles, machine.getReadCycles(weights * sizeof(float)));
}

double WinogradConvolution::measureError(Operation *op) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = getFilterShape(convolve);
  return measureWinogradError(getWinogradTransforms(outputs, filter.window), filter,
                              getFilterElements(convolve)->data());
}

Operation *WinogradConvolution::take(Operation *op, const Machine &machine, RewriterBase &rewriter) const {
  auto convolve = cast<ConvolveOp>(op);
  FilterShape filter = getFilterShape(convolve);
  auto weight = convolve.getFilter().getDefiningOp<WeightOp>();
  WinogradTransforms transforms = getWinogradTransforms(outputs, filter.window);
  int64_t points = transforms.input.rows * transforms.input.rows;
  int64_t numPanels = llvm::divideCeilSigned(filter.filters, kPanelColumns);
  SmallVector<int64_t> shape{numPanels, points, filter.channels, kPanelColumns};
  auto type = RankedTensorType::get(shape, rewriter.getF32Type());
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(type.getNumElements() * sizeof(float), 64, /*dataIsMutable=*/true);
  transformFilter(transforms, filter, getFilterElements(convolve)->data(), kPanelColumns,
                  reinterpret_cast<float *>(blob.getMutableData().data()));
  auto transformed = WeightOp::create(rewriter, weight.getLoc(),
                                      DenseResourceElementsAttr::get(type, "winograd", std::move(blob)));
  transformed.setNameAttr(weight.getNameAttr());
  WinogradSchedule chosen = schedule(convolve, machine);
  Operation *winograd = rewriter.replaceOpWithNewOp<WinogradOp>(
      convolve, convolve.getInput(), transformed, convolve.getLow(), convolve.getHigh(), outputs, filter.window,
      filter.filters, SmallVector<int64_t>{chosen.rows * outputs, chosen.columns * outputs, chosen.panels * kPanelColumns});
  if (weight->use_empty())
    rewriter.eraseOp(weight);
  return winograd;
}

std::unique_ptr<Path> tenon::createWinogradConvolution(int64_t outputs) {
  return std::make_unique<WinogradConvolution>(outputs);
}
