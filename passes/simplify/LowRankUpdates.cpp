//===- LowRankUpdates.cpp - adapters become part of the matrix --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/LowRankUpdates.h"
#include "dialects/tenon/Tenon.h"
#include "passes/cost/ProductShape.h"

using namespace mlir;
using namespace tenon;

/// Bounds for the factors of an update, and for the operations of a sum.
static constexpr size_t kMaxFactors = 4, kMaxSum = 16; // limit: what adapters have

namespace {
/// s x M1 M2 ...: rows times constant matrices and constants.
struct RowProduct {
  Value rows;
  SmallVector<ContractOp> products; ///< the last one first
  SmallVector<Value> scales;        ///< each of one element
};

/// An operand of a sum.
struct Summand {
  AddOp sum;
  unsigned number;

  Value get() const { return sum->getOperand(number); }
  Value getOther() const { return sum->getOperand(1 - number); }
};
} // namespace

/// True for [..., k] x M -> [..., n] in f32 with a weight M, which has the dimensions k and n in either order. The
/// greedy driver keeps weights at the beginning of a function, so that one may be read before an update's other
/// operations.
static bool isRowProduct(ContractOp op) {
  ArrayRef<int64_t> rows = op.getLhsDims(), matrix = op.getRhsDims(), result = op.getResultDims();
  return isProductOfFloats(op) && op.getType().getElementType().isF32() && !op.getResultType() &&
         op->getDiscardableAttrs().empty() && matrix.size() == 2 && matrix[0] != matrix[1] && !rows.empty() &&
         rows.size() == result.size() && rows.drop_back() == result.drop_back() &&
         llvm::is_contained(matrix, rows.back()) && llvm::is_contained(matrix, result.back()) &&
         rows.back() != result.back() && !llvm::is_contained(rows.drop_back(), rows.back()) &&
         !llvm::is_contained(rows.drop_back(), result.back()) && getElementTypeOrSelf(op.getRhs()).isF32() &&
         op.getRhs().getDefiningOp<WeightOp>();
}

/// Splits a value that only a sum reads into its factors, as far as nothing else reads what is in between.
static RowProduct matchFactors(Value value) {
  RowProduct product{value, {}, {}};
  while (product.rows.hasOneUse() && product.products.size() + product.scales.size() < kMaxFactors) {
    Operation *op = product.rows.getDefiningOp();
    if (auto contract = dyn_cast_or_null<ContractOp>(op); contract && isRowProduct(contract)) {
      product.products.push_back(contract);
      product.rows = contract.getLhs();
      continue;
    }
    auto isScale = [&](Value factor) {
      return getConstant(getElementCount(factor.getContext(), getDims(factor))) == 1 &&
             factor.getDefiningOp<WeightOp>();
    };
    auto mul = dyn_cast_or_null<MulOp>(op);
    unsigned number = mul && isScale(mul.getLhs()) ? 0 : 1;
    if (!mul || !isScale(mul->getOperand(number)) ||
        mul->getOperand(1 - number).getType() != mul->getResult(0).getType())
      break;
    product.scales.push_back(mul->getOperand(number));
    product.rows = mul->getOperand(1 - number);
  }
  return product;
}

/// Lists what a sum is of, through sums that nothing else reads.
static SmallVector<Summand> listSummands(AddOp root) {
  SmallVector<Summand> summands;
  SmallVector<AddOp> sums{root};
  for (size_t i = 0; i < sums.size() && summands.size() < kMaxSum; ++i)
    for (unsigned number : {0, 1}) {
      Value operand = sums[i]->getOperand(number);
      auto inner = operand.getDefiningOp<AddOp>();
      if (inner && inner->hasOneUse() && inner.getType() == root.getType() && sums.size() < kMaxSum)
        sums.push_back(inner);
      else
        summands.push_back({sums[i], number});
    }
  return summands;
}

/// The indices of a matrix's dimensions: `depth` for the one that the product sums over, `column` for the other.
static SmallVector<int64_t> getIndices(ContractOp product, int64_t depth, int64_t column) {
  bool isDepthFirst = product.getRhsDims().front() == product.getLhsDims().back();
  return isDepthFirst ? SmallVector<int64_t>{depth, column} : SmallVector<int64_t>{column, depth};
}

/// Computes the product of an update's two matrices and scales, with the dimensions in the order of those of `like`.
static Value multiply(OpBuilder &b, const RowProduct &update, ContractOp like) {
  enum Index : int64_t { depth, between, column };
  ContractOp last = update.products.front();
  Location loc = last.getLoc();
  ContractOp first = update.products.back();
  Value matrix = first.getRhs();
  // The first matrix is the smallest thing to scale.
  for (Value scale : update.scales) {
    auto type = cast<RankedTensorType>(scale.getType());
    Value scalar = ReshapeOp::create(b, loc, getTensorType({}, type.getElementType()), scale);
    matrix = MulOp::create(b, loc, matrix, scalar);
  }
  return ContractOp::create(b, loc, matrix, last.getRhs(), getIndices(first, depth, between),
                            getIndices(last, between, column), getIndices(like, depth, column), TypeAttr());
}

/// True for a matrix that a sum may take the place of: one that something else reads would have to be stored twice, and
/// a splat takes no room now.
static bool isReplaceable(Value matrix) {
  auto weight = matrix.getDefiningOp<WeightOp>();
  return weight && matrix.hasOneUse() && !isa<SplatElementsAttr>(weight.getValue());
}

namespace {
struct MergeLowRankUpdate : public OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    SmallVector<Summand> summands = listSummands(op);
    SmallVector<RowProduct> products;
    for (const Summand &summand : summands)
      products.push_back(matchFactors(summand.get()));
    for (const RowProduct &own : products) {
      ContractOp product = own.products.empty() ? ContractOp() : own.products.front();
      if (own.products.size() != 1 || !own.scales.empty() || !isReplaceable(product.getRhs()))
        continue;
      for (auto [summand, update] : llvm::zip(summands, products))
        if (update.products.size() == 2 && update.rows == own.rows &&
            summand.getOther().getType() == summand.sum.getType() &&
            ContractOp(update.products.front()).getType() == product.getType()) {
          merge(product, update, summand.sum, summand.number, rewriter);
          return success();
        }
    }
    return rewriter.notifyMatchFailure(op, "adds no product with constant matrices to one of the same rows");
  }

private:
  static void merge(ContractOp own, const RowProduct &update, AddOp sum, unsigned number, PatternRewriter &rewriter) {
    rewriter.setInsertionPoint(own);
    Value change = multiply(rewriter, update, own);
    Value matrix = AddOp::create(rewriter, own.getLoc(), own.getRhs(), change);
    Location loc = rewriter.getFusedLoc({own.getLoc(), update.products.front()->getLoc()});
    rewriter.replaceOp(own, ContractOp::create(rewriter, loc, own.getLhs(), matrix, own.getLhsDims(), own.getRhsDims(),
                                               own.getResultDims(), TypeAttr()));
    rewriter.replaceOp(sum, sum->getOperand(1 - number));
  }
};
} // namespace

void tenon::populateLowRankUpdates(RewritePatternSet &patterns) {
  patterns.add<MergeLowRankUpdate>(patterns.getContext());
}
