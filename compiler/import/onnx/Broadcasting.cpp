//===- Broadcasting.cpp - extents that may be 1 when the model runs -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The dialect's operations require two symbols that meet to be equal, whereas ONNX allows either of them to be 1. If
// neither ranges nor equations decide it, the operand is broadcast by a separate operation: a gather of element min(i,
// extent - 1), which is element i or the only one. Two formulas for the same size that differ only for the smallest
// sizes count as equal, and sizes for which they differ are rejected.

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/ShapeArithmetic.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// The extents of one dimension of several operands, and the extent of their broadcast.
class BroadcastExtent {
public:
  BroadcastExtent(Node &n, AffineExpr first) : n(n), facts(n.importer.getFacts()), result(first) {}

  /// Broadcasts one more operand's extent.
  void add(AffineExpr extent);
  AffineExpr getResult() const { return result; }
  /// True if an operand of this extent must be broadcast to the result.
  bool isStretched(AffineExpr extent) const {
    return extent != result && getConstant(extent) != 1 && !isUnknownDim(extent) && !isUnknownDim(result) &&
           !facts.isEqual(extent, result) && !llvm::is_contained(demandedEqual, extent);
  }

private:
  bool isMany(AffineExpr extent) const { return facts.getRange(extent).min > 1; }
  /// If two formulas describe one size, neither is 1 except for the smallest sizes.
  bool isUsuallyMany(AffineExpr extent) const {
    return n.importer.isUsuallyNotNegative(subDims(extent, n.constantDim(2)));
  }
  void requireFits(AffineExpr a, AffineExpr b);
  AffineExpr combine(AffineExpr a, AffineExpr b);

  Node &n;
  Facts &facts;
  AffineExpr result;
  Dims demandedEqual; ///< extents that are no 1, and so have to be the result's
};

} // namespace

static bool shareSymbols(AffineExpr a, AffineExpr b) {
  bool result = false;
  a.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      result |= b.isFunctionOfSymbol(symbol.getPosition());
  });
  return result;
}

/// Requires that two extents that are not 1 are equal, and that an extent of 0 only meets 0 or 1.
void BroadcastExtent::requireFits(AffineExpr a, AffineExpr b) {
  AffineExpr one = n.constantDim(1), difference = subDims(a, b);
  std::string text = "needs " + dimsToString(a) + " and " + dimsToString(b) + " to be equal, or one of them to be 1";
  auto isMore = [&](AffineExpr extent) { return getIndicator(subDims(extent, one)); };
  AffineExpr both = mulDims(isMore(a), isMore(b));
  n.require(mulDims(both, difference), text);
  n.require(simplifyDim(-mulDims(both, difference)), text);
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    n.require(mulDims(isMore(y), subDims(getIndicator(x), one)), text);
  n.requireIndicatorRange(a);
  n.requireIndicatorRange(b);
}

/// Returns a * b if a is at most 1, otherwise a.
AffineExpr BroadcastExtent::combine(AffineExpr a, AffineExpr b) {
  if (!isShort(a) || !isShort(b)) {
    Value x = n.sizes(a, n.i64()), one = n.constantInts(1, {}, n.i64());
    Dims bound = n.bindSizes(n.select(n.greater(x, one), x, n.mul(x, n.sizes(b, n.i64()))));
    return bound.empty() ? a : bound.front();
  }
  AffineExpr isMany = getIndicator(subDims(a, n.constantDim(1)));
  return addDims(mulDims(mulDims(a, b), subDims(n.constantDim(1), isMany)), mulDims(a, isMany));
}

void BroadcastExtent::add(AffineExpr extent) {
  if (extent == result || getConstant(extent) == 1 || isUnknownDim(result) || isUnknownDim(extent) ||
      facts.isEqual(extent, result) || n.importer.isBroadcastOf(result, extent))
    return;
  if (getConstant(result) == 1 || n.importer.isBroadcastOf(extent, result)) {
    result = extent;
    return;
  }
  // The operation itself reports two different constants.
  if ((isMany(result) && isMany(extent)) || n.importer.areUsuallyEqual(result, extent) ||
      (shareSymbols(result, extent) && isUsuallyMany(result) && isUsuallyMany(extent))) {
    n.noteEqual(result, extent);
    demandedEqual.push_back(extent);
    return;
  }
  requireFits(result, extent);
  if (isMany(result))
    return;
  if (isMany(extent)) {
    result = extent;
    return;
  }
  AffineExpr joined = combine(result, extent);
  n.importer.rememberBroadcast(joined, {result, extent});
  result = joined;
}

Value Node::stretch(Value x, int64_t axis, AffineExpr extent) {
  AffineExpr own = dim(x, axis);
  Value last = size(subDims(own, constantDim(1)), i64());
  return gather(x, min(iota(extent, 0, i64()), last), axis);
}

/// True if operands of the operator broadcast against each other. For other operators, the operands that their handlers
/// combine have equal extents by definition.
static bool broadcasts(Node &n) {
  static const llvm::StringSet<> operators = {"Add",        "Sub",           "Mul",           "Div",
                                              "Mod",        "Pow",           "Max",           "Min",
                                              "Sum",        "Mean",          "And",           "Or",
                                              "Xor",        "BitShift",      "BitwiseAnd",    "BitwiseOr",
                                              "BitwiseXor", "Equal",         "Greater",       "GreaterOrEqual",
                                              "Less",       "LessOrEqual",   "Where",         "PRelu",
                                              "MatMul",     "MatMulInteger", "QLinearMatMul", "Gemm",
                                              "Attention"};
  return n.getDomain() != "com.microsoft" && operators.contains(n.getOpType());
}

void Node::alignExtents(MutableArrayRef<Value> operands, int64_t numTrailing) {
  if (!broadcasts(*this) || hasFailed() || llvm::is_contained(operands, Value()))
    return;
  int64_t highest = 0;
  for (Value operand : operands)
    highest = std::max(highest, rank(operand));
  for (int64_t back = numTrailing + 1; back <= highest; ++back) {
    BroadcastExtent joined(*this, constantDim(1));
    for (Value operand : operands)
      joined.add(dim(operand, rank(operand) - back));
    for (Value &operand : operands)
      if (joined.isStretched(dim(operand, rank(operand) - back)))
        operand = stretch(operand, rank(operand) - back, joined.getResult());
  }
}

Value Node::stretchTo(Value x, ArrayRef<AffineExpr> shape) {
  Dims result(shape);
  int64_t missing = rank(x) - static_cast<int64_t>(shape.size());
  if (missing > 0)
    result.insert(result.begin(), missing, constantDim(1));
  for (int64_t axis = 0; axis < rank(x); ++axis) {
    AffineExpr &wanted = result[result.size() - rank(x) + axis];
    BroadcastExtent joined(*this, dim(x, axis));
    joined.add(wanted);
    wanted = joined.getResult();
    if (joined.isStretched(dim(x, axis)))
      x = stretch(x, axis, wanted);
  }
  return hasFailed() ? Value() : broadcast(x, result);
}
