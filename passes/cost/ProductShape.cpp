//===- ProductShape.cpp - how large a sum of products is ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ProductShape.h"
#include "dialects/tenon/Tenon.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/SizeHints.h"

using namespace mlir;
using namespace tenon;

double tenon::estimateExtent(const SizeHints &hints, AffineExpr dim) {
  if (std::optional<int64_t> extent = hints.get(dim))
    return static_cast<double>(*extent);
  llvm::DenseMap<AffineExpr, AffineExpr> sizes;
  dim.walk([&](AffineExpr part) {
    if (isa<AffineSymbolExpr, AffineDimExpr>(part) && !hints.get(part))
      sizes[part] = getDimConstant(dim.getContext(), kDefaultExtent);
  });
  std::optional<int64_t> extent = hints.get(simplifyDim(dim.replace(sizes)));
  return static_cast<double>(std::max<int64_t>(extent.value_or(kDefaultExtent), 1));
}

static ProductShape getShape(ContractOp op, const SizeHints &hints) {
  ProductShape shape{1, 1, 1, 1, 1};
  for (AffineExpr dim : getDims(op.getType())) {
    shape.rows *= shape.columns;
    shape.neighbours = shape.columns;
    shape.columns = estimateExtent(hints, dim);
  }
  assert(op.getLhsDims().size() == getDims(op.getLhs()).size() && "the verifier wants an index for each dimension");
  for (auto [index, dim] : llvm::zip(op.getLhsDims(), getDims(op.getLhs())))
    if (!llvm::is_contained(op.getResultDims(), index)) {
      shape.repetitions *= shape.depth;
      shape.depth = estimateExtent(hints, dim);
    } else if (llvm::is_contained(op.getRhsDims(), index)) {
      shape.matrices *= estimateExtent(hints, dim);
    }
  return shape;
}

static ProductShape getShape(ConvolveOp op, const SizeHints &hints) {
  Dims result = getDims(op.getType()), filter = getDims(op.getFilter());
  ProductShape shape{1, 1, 1, 1, 1};
  for (auto [i, dim] : llvm::enumerate(result))
    if (static_cast<int64_t>(i) != op.getChannelDim()) {
      shape.neighbours = estimateExtent(hints, dim);
      shape.rows *= shape.neighbours;
    }
  for (auto [i, dim] : llvm::enumerate(filter))
    if (static_cast<int64_t>(i) == op.getFilterDim())
      shape.columns = estimateExtent(hints, dim);
    else if (static_cast<int64_t>(i) == op.getFilterChannelDim())
      shape.depth = estimateExtent(hints, dim);
    else
      shape.repetitions *= estimateExtent(hints, dim);
  shape.groups = op.getGroups();
  return shape;
}

std::optional<ProductShape> tenon::getProductShape(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (!function)
    return std::nullopt;
  SizeHints hints(function);
  if (auto contract = dyn_cast<ContractOp>(op))
    return getShape(contract, hints);
  if (auto convolve = dyn_cast<ConvolveOp>(op))
    return getShape(convolve, hints);
  return std::nullopt;
}

bool tenon::isProductOfFloats(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0));
  return (type.isF32() || type.isF64()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return getElementTypeOrSelf(operand) == type; });
}

int64_t tenon::getElementBytes(Operation *op) {
  assert(op->getNumResults() > 0 && "bytes are those of an element of the result");
  return llvm::divideCeil(getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth(), 8);
}

double tenon::estimateFloats(Operation *op, const Machine &machine, double share) {
  std::optional<ProductShape> known = getProductShape(op);
  assert(known && share > 0 && "cycles are estimated of a product of which a path does a share");
  const ProductShape &shape = *known;
  int64_t bytes = getElementBytes(op);
  return std::max(shape.getProducts() / machine.getMultiplyAdds(bytes) / share,
                  machine.getReadCycles(shape.getWeights() * bytes));
}

/// The weight that is packed into panels, interleaved by four or not.
static OpOperand *findPacked(Operation *op, bool hasK4) {
  if (!isa<ContractOp, ConvolveOp>(op))
    return nullptr;
  for (OpOperand &operand : op->getOpOperands())
    if (auto weight = operand.get().getDefiningOp<WeightOp>(); weight && !isa<SplatElementsAttr>(weight.getValue()))
      if (std::optional<PackedDims> dims = getPackedDims(operand); dims && dims->k4Axis.has_value() == hasK4)
        return &operand;
  return nullptr;
}

OpOperand *tenon::findPanels(Operation *op) { return findPacked(op, /*hasK4=*/false); }
OpOperand *tenon::findK4Panels(Operation *op) { return findPacked(op, /*hasK4=*/true); }
