//===- SplitLargeWeights.cpp - large weights become f64 part by part ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-split-large-weights"

namespace tenon {
#define GEN_PASS_DEF_SPLITLARGEWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// A contraction one of whose operands is a cast of a weight, which is split along its first dimension.
struct CutProduct {
  ContractOp op;
  unsigned number; ///< of the operand
  WeightOp weight;
  int64_t rows; ///< of a part; the last may have fewer

  ArrayRef<int64_t> getIndices(unsigned operand) { return operand == 0 ? op.getLhsDims() : op.getRhsDims(); }
  /// The index that runs along what is cut.
  int64_t getIndex() { return getIndices(number).front(); }
  Value getOther() { return op->getOperand(1 - number); }
};
} // namespace

/// Returns the position of `index` among the indices of a tensor, if it is there.
static std::optional<int64_t> find(ArrayRef<int64_t> indices, int64_t index) {
  const int64_t *place = llvm::find(indices, index);
  return place == indices.end() ? std::nullopt : std::optional(place - indices.begin());
}

/// Returns how the contraction is split so that no part of the promoted weight exceeds `maxBytes`; none if it need not
/// or cannot be split.
static std::optional<CutProduct> matchCut(ContractOp op, unsigned number, int64_t maxBytes) {
  auto cast = op->getOperand(number).getDefiningOp<CastOp>();
  auto weight = cast ? cast.getInput().getDefiningOp<WeightOp>() : nullptr;
  if (!weight || !cast.getType().getElementType().isF64() || weight.getType().getRank() == 0 ||
      !getBytes(weight.getValue()))
    return std::nullopt;
  int64_t bytes = weight.getType().getNumElements() * sizeof(double), extent = weight.getType().getDimSize(0);
  if (bytes <= maxBytes || extent < 2)
    return std::nullopt;
  CutProduct cut{op, number, weight, std::max<int64_t>(1, maxBytes / (bytes / extent))};
  // A broadcast dimension or a repeated index of the other factor is not supported.
  std::optional<int64_t> place = find(cut.getIndices(1 - number), cut.getIndex());
  bool isStretched = place && getConstant(tenon::getDims(cut.getOther())[*place]) != extent;
  return isStretched || llvm::count(cut.getIndices(number), cut.getIndex()) > 1 ? std::nullopt : std::optional(cut);
}

/// Creates a weight for some rows of a weight, which shares its memory.
static Value createPart(OpBuilder &b, WeightOp weight, int64_t begin, int64_t rows) {
  ArrayRef<char> all = *getBytes(weight.getValue());
  SmallVector<int64_t> shape(weight.getType().getShape());
  assert(begin >= 0 && rows > 0 && begin + rows <= shape[0] && "a part has rows of the weight");
  size_t rowBytes = all.size() / shape[0];
  shape[0] = rows;
  auto type = RankedTensorType::get(shape, weight.getType().getElementType());
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateInferAlign(all.slice(begin * rowBytes, rows * rowBytes));
  auto part = WeightOp::create(b, weight.getLoc(), createElements(type, "part", std::move(blob)));
  part.setNameAttr(deriveName(weight.getNameAttr(), "part"));
  return part;
}

/// Creates a slice of elements `begin` to `begin + extent` of a dimension.
static Value createSlice(OpBuilder &b, Location loc, Value value, int64_t dim, int64_t begin, int64_t extent) {
  Dims dims = getDims(value), starts(dims.size(), b.getAffineConstantExpr(0));
  assert(dim >= 0 && dim < static_cast<int64_t>(dims.size()) && "a slice is along a dimension of the value");
  dims[dim] = b.getAffineConstantExpr(extent);
  starts[dim] = b.getAffineConstantExpr(begin);
  return SliceOp::create(b, loc, getTensorType(dims, getElementTypeOrSelf(value)), value,
                         ShapeAttr::get(b.getContext(), starts), SmallVector<int64_t>(dims.size(), 1));
}

/// Parts along a result dimension are concatenated; parts along a summed dimension are added.
static void applyCut(CutProduct cut) {
  ContractOp op = cut.op;
  OpBuilder b(op);
  Location loc = op.getLoc();
  std::optional<int64_t> inOther = find(cut.getIndices(1 - cut.number), cut.getIndex()),
                         inResult = find(op.getResultDims(), cut.getIndex());
  SmallVector<Value> parts;
  int64_t extent = cut.weight.getType().getDimSize(0);
  for (int64_t begin = 0; begin < extent; begin += cut.rows) {
    int64_t rows = std::min(cut.rows, extent - begin);
    Value factors[2];
    Value part = createPart(b, cut.weight, begin, rows);
    factors[cut.number] = CastOp::create(b, loc, cast<RankedTensorType>(part.getType()).clone(b.getF64Type()), part);
    factors[1 - cut.number] = inOther ? createSlice(b, loc, cut.getOther(), *inOther, begin, rows) : cut.getOther();
    parts.push_back(ContractOp::create(b, loc, factors[0], factors[1], op.getLhsDims(), op.getRhsDims(),
                                       op.getResultDims(), op.getResultTypeAttr()));
    if (!inResult && parts.size() == 2)
      parts = {AddOp::create(b, loc, parts[0], parts[1])};
  }
  Value whole = inResult ? Value(ConcatOp::create(b, loc, parts, *inResult)) : parts.front();
  op.replaceAllUsesWith(whole);
  Operation *widened = op->getOperand(cut.number).getDefiningOp();
  op.erase();
  if (widened->use_empty())
    widened->erase();
}

namespace {
struct SplitLargeWeights : public tenon::impl::SplitLargeWeightsBase<SplitLargeWeights> {
  using SplitLargeWeightsBase::SplitLargeWeightsBase;
  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    for (ContractOp op : products) {
      std::optional<CutProduct> cut = matchCut(op, 1, maxBytes);
      if (!cut)
        cut = matchCut(op, 0, maxBytes);
      LDBG() << (cut ? "splits" : "keeps whole") << " the product at " << op.getLoc();
      if (cut)
        applyCut(*cut);
    }
  }
};
} // namespace
