//===- TransposeMatmulOperands.cpp - products whose columns run along memory ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DotProducts.h"
#include "dialects/tenon/ServedRegion.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/cost/LayoutPolicy.h"
#include "passes/cost/Machine.h"
#include "passes/cost/PanelPacking.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-transpose-matmul-operands"

namespace tenon {
#define GEN_PASS_DEF_TRANSPOSEMATMULOPERANDS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// True if kernels read the operand in another order than the row-major one: packed weights and bf16 terms.
static bool isPacked(Value operand) { return isInPanels(operand) || operand.getDefiningOp<MergeTermsOp>(); }

namespace {
/// A factor, and the index of each of its dimensions.
struct Factor {
  Value value;
  SmallVector<int64_t> indices;
};
} // namespace

/// What a factor is a transpose of.
static Factor lookThroughTransposes(Factor factor) {
  while (auto transpose = factor.value.getDefiningOp<TransposeOp>()) {
    assert(transpose.getPermutation().size() == factor.indices.size() && "each dimension of a factor has an index");
    SmallVector<int64_t> indices(factor.indices.size());
    for (auto [index, dim] : llvm::zip(factor.indices, transpose.getPermutation()))
      indices[dim] = index;
    factor = {transpose.getInput(), indices};
  }
  return factor;
}

/// Returns the order of dimensions in which `last` is last, and the summed dimensions come before it; the others keep
/// their order.
static SmallVector<int64_t> orderFor(ArrayRef<int64_t> indices, ArrayRef<int64_t> results, int64_t last) {
  assert(llvm::is_contained(indices, last) && "the index that comes last is one of the factor");
  SmallVector<int64_t> order, summed;
  int64_t place = 0;
  for (auto [dim, index] : llvm::enumerate(indices))
    if (index == last)
      place = dim;
    else
      (llvm::is_contained(results, index) ? order : summed).push_back(dim);
  order.append(summed);
  order.push_back(place);
  return order;
}

static Factor transpose(OpBuilder &b, Location loc, const Factor &factor, ArrayRef<int64_t> order) {
  assert(order.size() == factor.indices.size() && "an order has each dimension once");
  Factor result{TransposeOp::create(b, loc, factor.value, order), {}};
  for (int64_t dim : order)
    result.indices.push_back(factor.indices[dim]);
  return result;
}

/// Packs the factor into panels of `width` columns, which must divide it, like packed weights.
static Factor pack(OpBuilder &b, Location loc, const Factor &factor, int64_t column, int64_t width) {
  Type type = getElementTypeOrSelf(factor.value);
  Dims split;
  SmallVector<int64_t> others;
  int64_t place = 0;
  AffineExpr extent;
  for (auto [index, dim] : llvm::zip(factor.indices, getDims(factor.value))) {
    if (index != column) {
      others.push_back(split.size());
      split.push_back(dim);
      continue;
    }
    place = split.size();
    extent = dim;
    split.push_back(divDims(dim, getDimConstant(b.getContext(), width)));
    split.push_back(getDimConstant(b.getContext(), width));
  }
  SmallVector<int64_t> order{place};
  order.append(others);
  order.push_back(place + 1);
  Value parts = ReshapeOp::create(b, loc, getTensorType(split, type), factor.value);
  Value panels = TransposeOp::create(b, loc, parts, order);
  Factor result;
  Dims dims;
  for (int64_t dim : others) {
    dims.push_back(split[dim]);
    result.indices.push_back(factor.indices[dim > place ? dim - 1 : dim]);
  }
  dims.push_back(extent);
  result.indices.push_back(column);
  result.value = UnpackOp::create(b, loc, getTensorType(dims, type), panels, b.getI64IntegerAttr(dims.size() - 1),
                                  IntegerAttr(), IntegerAttr(), IntegerAttr());
  return result;
}

/// Pads each dimension with zeros to a multiple of its unit; a dimension with a unit other than 1 is static.
static Value padTo(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> units) {
  MLIRContext *context = b.getContext();
  Dims dims = getDims(value), before = dims;
  assert(units.size() == dims.size() && "each dimension has a unit");
  for (auto [dim, unit] : llvm::zip(dims, units))
    if (unit != 1)
      dim = getDimConstant(context, llvm::alignTo(*getConstant(dim), unit));
  if (dims == before)
    return value;
  Type type = getElementTypeOrSelf(value);
  Value zero = TenonBuilder(b, loc).scalar(type, 0);
  return PadOp::create(b, loc, getTensorType(dims, type), PadMode::constant, value, zero,
                       ShapeAttr::get(context, Dims(dims.size(), getDimConstant(context, 0))),
                       SmallVector<int64_t>(dims.size(), 0));
}

/// Packs an int8 matrix into panels of columns, interleaved by four along the index `k4`, like packed weights. Both
/// extents are static. Its other dimensions come first.
static Factor packK4(OpBuilder &b, Location loc, const Factor &factor, int64_t column, int64_t k4) {
  MLIRContext *context = b.getContext();
  SmallVector<int64_t> order = orderFor(factor.indices, {}, column);
  llvm::erase_if(order, [&](int64_t dim) { return factor.indices[dim] == k4; });
  order.insert(order.end() - 1, llvm::find(factor.indices, k4) - factor.indices.begin());
  Dims dims = getDims(factor.value), result, split, packed;
  Factor unpacked;
  for (int64_t dim : order) {
    result.push_back(dims[dim]);
    unpacked.indices.push_back(factor.indices[dim]);
  }
  int64_t rank = order.size();
  assert(rank >= 2 && column != k4 && "a matrix has columns and a depth");
  SmallVector<int64_t> places(rank), units(rank, 1);
  units[order[rank - 1]] = kPanelColumns;
  units[order[rank - 2]] = kK4Group;
  Value padded = padTo(b, loc, factor.value, units);
  // Each of the two becomes two dimensions.
  for (auto [dim, extent] : llvm::enumerate(getDims(padded))) {
    places[dim] = split.size();
    split.push_back(units[dim] == 1 ? extent : getDimConstant(context, *getConstant(extent) / units[dim]));
    if (units[dim] != 1)
      split.push_back(getDimConstant(context, units[dim]));
  }
  SmallVector<int64_t> permutation{places[order[rank - 1]]};
  for (int64_t dim : ArrayRef(order).drop_back())
    permutation.push_back(places[dim]);
  for (int64_t dim : permutation)
    packed.push_back(split[dim]);
  permutation.append({places[order[rank - 1]] + 1, places[order[rank - 2]] + 1});
  packed.push_back(getDimConstant(context, kPanelColumns * kK4Group));
  Type type = getElementTypeOrSelf(padded);
  Value parts = ReshapeOp::create(b, loc, getTensorType(split, type), padded);
  Value panels =
      ReshapeOp::create(b, loc, getTensorType(packed, type), TransposeOp::create(b, loc, parts, permutation));
  unpacked.value = UnpackOp::create(b, loc, getTensorType(result, type), panels, b.getI64IntegerAttr(rank - 1),
                                    b.getI64IntegerAttr(rank - 2), IntegerAttr(), IntegerAttr());
  return unpacked;
}

/// Returns the number of rows that a matrix is multiplied with; none if it is dynamic.
static std::optional<int64_t> countRows(ContractOp op, const Factor &matrix) {
  int64_t rows = 1;
  for (auto [index, dim] : llvm::zip(op.getResultDims(), getDims(op.getResult()))) {
    if (llvm::is_contained(matrix.indices, index))
      continue;
    std::optional<int64_t> extent = getConstant(dim);
    if (!extent)
      return std::nullopt;
    rows = llvm::SaturatingMultiply<uint64_t>(rows, *extent);
  }
  return rows;
}

/// True if packing a matrix into panels at run time pays off: it is multiplied with many rows, its own rows are far
/// apart in memory, and all rows share it.
static bool wantsPanels(ContractOp op, const Factor &matrix, int64_t column, int64_t width,
                        const LayoutPolicy &policy) {
  int64_t steps = 1;
  for (auto [index, dim] : llvm::zip(matrix.indices, getDims(matrix.value))) {
    std::optional<int64_t> extent = getConstant(dim);
    bool isColumn = index == column;
    if (!extent || (!isColumn && llvm::is_contained(op.getResultDims(), index)) ||
        (isColumn && (*extent % width || *extent < policy.minPackedColumns)))
      return false;
    if (!isColumn)
      steps = llvm::SaturatingMultiply<uint64_t>(steps, *extent);
  }
  return steps >= policy.minPackedDepth && countRows(op, matrix).value_or(0) >= policy.minPackedRows;
}

/// True if a contraction has so few products that a separate kernel for the transpose takes longer.
static bool isSmall(ContractOp op, const LayoutPolicy &policy) {
  llvm::SmallDenseMap<int64_t, int64_t> extents;
  for (auto [operand, indices] : {std::pair(op.getLhs(), op.getLhsDims()), std::pair(op.getRhs(), op.getRhsDims())})
    for (auto [index, dim] : llvm::zip(indices, getDims(operand))) {
      std::optional<int64_t> extent = getConstant(dim);
      if (!extent)
        return false;
      extents[index] = std::max(extents[index], *extent);
    }
  int64_t products = 1;
  for (auto [index, extent] : extents)
    products = std::min(products * std::min(extent, policy.minProducts), policy.minProducts);
  return products < policy.minProducts;
}

/// True if an index occurs twice in an operand, which denotes a diagonal.
static bool hasDiagonal(ArrayRef<int64_t> indices) {
  return llvm::any_of(indices, [&](int64_t index) { return llvm::count(indices, index) > 1; });
}

namespace {
struct TransposeMatmulOperands : public tenon::impl::TransposeMatmulOperandsBase<TransposeMatmulOperands> {
  void runOnOperation() override {
    getOperation().walk([this](ContractOp op) { order(op); });
  }

private:
  void order(ContractOp op) {
    Type type = op.getType().getElementType();
    bool isOfFloats = type.isF32() || type.isF64();
    if (!(isOfFloats || type.isInteger(32)) || op.getResultDims().empty() || (isOfFloats && getDotIndex(op)))
      return;
    int64_t column = op.getResultDims().back();
    bool inLhs = llvm::is_contained(op.getLhsDims(), column), inRhs = llvm::is_contained(op.getRhsDims(), column);
    if (inLhs == inRhs || getConstant(getDims(op.getResult()).back()) == 1)
      return;
    OpOperand &matrix = inLhs ? op.getLhsMutable() : op.getRhsMutable(),
              &rows = inLhs ? op.getRhsMutable() : op.getLhsMutable();
    if (isPacked(matrix.get()) || isPacked(rows.get()) || hasDiagonal(op.getLhsDims()) ||
        hasDiagonal(op.getRhsDims()) || isSmall(op, policy))
      return;
    if (!isOfFloats)
      return orderBytes(op, matrix, rows, column);
    orderMatrix(op, matrix, column);
    orderRows(op, rows);
  }

  static Factor getFactor(ContractOp op, OpOperand &operand) {
    return {operand.get(), llvm::to_vector(operand.getOperandNumber() == 0 ? op.getLhsDims() : op.getRhsDims())};
  }

  static void setFactor(ContractOp op, OpOperand &operand, const Factor &factor) {
    auto before = operand.get().getDefiningOp<TransposeOp>();
    operand.set(factor.value);
    // Dead operations are erased, because fusion would make kernels of them.
    while (before && before->use_empty()) {
      auto earlier = before.getInput().getDefiningOp<TransposeOp>();
      before.erase();
      before = earlier;
    }
    if (operand.getOperandNumber() == 0)
      op.setLhsDims(factor.indices);
    else
      op.setRhsDims(factor.indices);
  }

  /// The factor that vectors are read of.
  void orderMatrix(ContractOp op, OpOperand &operand, int64_t column) {
    ServedRegionMarker marker(op->getAttrOfType<StringAttr>(kRegionAttr));
    OpBuilder b(op, &marker);
    Factor given = getFactor(op, operand), whole = lookThroughTransposes(given);
    int64_t width = getMachine(op).panelColumns;
    bool isInPanels = wantsPanels(op, whole, column, width, policy);
    LDBG() << (isInPanels                       ? "packs"
               : given.indices.back() != column ? "transposes"
                                                : "keeps")
           << " the matrix of the product at " << op.getLoc();
    if (isInPanels)
      setFactor(op, operand, pack(b, op.getLoc(), whole, column, width));
    else if (given.indices.back() != column)
      setFactor(op, operand, transpose(b, op.getLoc(), whole, orderFor(whole.indices, op.getResultDims(), column)));
  }

  /// Transposes the operand that is read element by element if the elements of its rows are far apart in memory and are
  /// read for many columns.
  void orderRows(ContractOp op, OpOperand &operand) {
    Factor given = getFactor(op, operand);
    std::optional<int64_t> columns = getConstant(getDims(op.getResult()).back());
    auto isSummed = [&](int64_t index) { return !llvm::is_contained(op.getResultDims(), index); };
    if ((columns && *columns < policy.minGatheredColumns) || given.indices.empty() || isSummed(given.indices.back()))
      return;
    Factor whole = lookThroughTransposes(given);
    auto last = llvm::find_if(whole.indices, isSummed);
    if (last == whole.indices.end())
      return;
    LDBG() << "transposes the rows of the product at " << op.getLoc();
    ServedRegionMarker marker(op->getAttrOfType<StringAttr>(kRegionAttr));
    OpBuilder b(op, &marker);
    setFactor(op, operand, transpose(b, op.getLoc(), whole, orderFor(whole.indices, op.getResultDims(), *last)));
  }

  /// Interleaves the signed matrix of an int8 matmul by four along the last summed dimension of the unsigned operand.
  void orderBytes(ContractOp op, OpOperand &matrix, OpOperand &rows, int64_t column) {
    if (!getElementTypeOrSelf(matrix.get()).isSignlessInteger(8) ||
        !getElementTypeOrSelf(rows.get()).isUnsignedInteger(8))
      return;
    Factor ofMatrix = lookThroughTransposes(getFactor(op, matrix)), given = getFactor(op, rows),
           ofRows = lookThroughTransposes(given);
    auto getExtent = [](const Factor &factor, int64_t index) -> std::optional<int64_t> {
      const int64_t *place = llvm::find(factor.indices, index);
      return place == factor.indices.end() ? std::nullopt
                                           : getConstant(getDims(factor.value)[place - factor.indices.begin()]);
    };
    // True for a summed index that both operands have, with the same static extent.
    auto isK4Axis = [&](int64_t index) {
      std::optional<int64_t> extent = getExtent(ofMatrix, index);
      return extent && extent == getExtent(ofRows, index) && !llvm::is_contained(op.getResultDims(), index);
    };
    auto k4 = llvm::find_if(llvm::reverse(ofRows.indices), isK4Axis);
    if (k4 == ofRows.indices.rend() || !getExtent(ofMatrix, column) ||
        countRows(op, ofMatrix).value_or(policy.minInt8Rows) < policy.minInt8Rows)
      return;
    ServedRegionMarker marker(op->getAttrOfType<StringAttr>(kRegionAttr));
    OpBuilder b(op, &marker);
    int64_t along = *k4;
    setFactor(op, matrix, packK4(b, op.getLoc(), ofMatrix, column, along));
    if (given.indices.back() != along)
      setFactor(op, rows, transpose(b, op.getLoc(), ofRows, orderFor(ofRows.indices, op.getResultDims(), along)));
  }

  LayoutPolicy policy;
};
} // namespace
