//===- PadConvolutions.cpp - padded copies for convolutions that need them ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_PADCONVOLUTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static bool hasPadding(ConvolveOp op) {
  auto isZero = [](int64_t pad) { return pad == 0; };
  return !llvm::all_of(op.getLow(), isZero) || !llvm::all_of(op.getHigh(), isZero);
}

/// Whether the kernel will be one that registers are blocked for: it knows where the border is. All others would have
/// a test for each element that they read, and read each many times.
static bool readsAroundBorder(ConvolveOp op) {
  auto filter = op.getFilter().getDefiningOp<WeightOp>();
  if (!op.getChannelsLast() || !filter || isa<SplatElementsAttr>(filter.getValue()))
    return false;
  ArrayRef<int64_t> shape = filter.getType().getShape();
  return op.getGroups() == 1 || (shape[op.getFilterChannelDim()] == 1 && shape[op.getFilterDim()] == static_cast<int64_t>(op.getGroups()));
}

/// convolve with padding -> pad, convolve
static void materializePadding(ConvolveOp op) {
  OpBuilder b(op);
  MLIRContext *context = op.getContext();
  Dims dims = getDims(op.getInput()), low(dims.size(), getDimConstant(context, 0));
  for (auto [i, pads] : llvm::enumerate(llvm::zip(op.getLow(), op.getHigh()))) {
    int64_t dim = i + op.getFirstSpatialDim();
    low[dim] = getDimConstant(context, std::get<0>(pads));
    dims[dim] = addDims(dims[dim], getDimConstant(context, std::get<0>(pads) + std::get<1>(pads)));
  }
  Type element = getElementTypeOrSelf(op.getInput());
  SmallVector<int64_t> interior(dims.size(), 0), none(op.getLow().size(), 0);
  auto scalar = RankedTensorType::get({}, element);
  Value zero = WeightOp::create(b, op.getLoc(), DenseElementsAttr::get(scalar, b.getZeroAttr(element)));
  Value padded = PadOp::create(b, op.getLoc(), getTensorType(dims, element), PadMode::constant, op.getInput(), zero,
                               ShapeAttr::get(context, low), interior);
  op.getInputMutable().assign(padded);
  op.setLow(none);
  op.setHigh(none);
}

namespace {
struct PadConvolutions : public tenon::impl::PadConvolutionsBase<PadConvolutions> {
  void runOnOperation() override {
    getOperation().walk([](ConvolveOp op) {
      if (hasPadding(op) && !readsAroundBorder(op))
        materializePadding(op);
    });
  }
};
} // namespace
