//===- TransposeMasks.cpp - masks in the order of scores -------------------===//
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
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/cost/AttentionPolicy.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tenon-transpose-masks"

namespace tenon {
#define GEN_PASS_DEF_TRANSPOSEMASKS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// True if the last dimensions of a weight that the scores read are queries and then keys.
static bool hasQueriesAndKeys(AttentionOp op, WeightOp weight) {
  Dims scores = getDims(op.getScores());
  ArrayRef<int64_t> shape = weight.getType().getShape(), indices = op.getScoreDims();
  unsigned bits = weight.getType().getElementTypeBitWidth();
  if (indices.size() < 2 || shape.size() < 2 || indices.end()[-2] != op.getQueryIndex() ||
      indices.back() != op.getKeyIndex() || bits % 8 != 0 || !getBytes(weight.getValue()))
    return false;
  auto isExtent = [&](size_t fromEnd) {
    int64_t extent = shape[shape.size() - fromEnd];
    return extent > 1 && getConstant(scores[scores.size() - fromEnd]) == extent;
  };
  // Those of few queries are read as they are.
  return isExtent(1) && isExtent(2) && !AttentionPolicy().isFew(shape.end()[-2]);
}

/// Transposes the matrices of `rows` x `columns` in `source` to `target`, with rows padded to `width` elements.
template <typename Element>
static void transposeMatrices(ArrayRef<char> source, int64_t rows, int64_t columns, int64_t width,
                              MutableArrayRef<char> target) {
  const auto *from = reinterpret_cast<const Element *>(source.data());
  auto *to = reinterpret_cast<Element *>(target.data());
  int64_t matrices = source.size() / (rows * columns * sizeof(Element));
  for (int64_t m = 0; m < matrices; ++m, from += rows * columns, to += columns * width)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        to[column * width + row] = from[row * columns + column];
}

/// Creates [..., keys, queries] from [..., queries, keys], with zeros after the last query.
static WeightOp createTransposed(WeightOp weight) {
  SmallVector<int64_t> shape(weight.getType().getShape());
  int64_t queries = shape.end()[-2], keys = shape.back(), width = llvm::alignTo(queries, kQueriesTogether);
  shape.end()[-2] = keys;
  shape.back() = width;
  auto type = RankedTensorType::get(shape, weight.getType().getElementType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  ArrayRef<char> source = *getBytes(weight.getValue());
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(computeProduct(shape) * bytes, 64, /*dataIsMutable=*/true);
  MutableArrayRef<char> target = blob.getMutableData();
  std::memset(target.data(), 0, target.size());
  switch (bytes) {
  case 1:
    transposeMatrices<uint8_t>(source, queries, keys, width, target);
    break;
  case 2:
    transposeMatrices<uint16_t>(source, queries, keys, width, target);
    break;
  case 4:
    transposeMatrices<uint32_t>(source, queries, keys, width, target);
    break;
  default:
    transposeMatrices<uint64_t>(source, queries, keys, width, target);
  }
  OpBuilder b(weight);
  auto result = WeightOp::create(b, weight.getLoc(), createElements(type, "mask", std::move(blob)));
  result.setNameAttr(deriveName(weight.getNameAttr(), "transposed"));
  return result;
}

/// What `weight` was, read from its transpose.
static Value readTransposed(OpBuilder &b, WeightOp transposed, RankedTensorType type) {
  int64_t rank = type.getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[rank - 1], order[rank - 2]);
  Value whole = TransposeOp::create(b, transposed.getLoc(), transposed, order);
  if (whole.getType() == type)
    return whole;
  Dims starts(rank, b.getAffineConstantExpr(0));
  return SliceOp::create(b, transposed.getLoc(), type, whole, ShapeAttr::get(b.getContext(), starts),
                         SmallVector<int64_t>(rank, 1));
}

namespace {
struct TransposeMasks : public tenon::impl::TransposeMasksBase<TransposeMasks> {
  void runOnOperation() override {
    llvm::MapVector<WeightOp, WeightOp> transposes;
    getOperation().walk([&](AttentionOp op) {
      OpBuilder b = OpBuilder::atBlockBegin(&op.getBody().front());
      llvm::SmallDenseMap<WeightOp, Value> reads;
      op.getBody().walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands()) {
          auto weight = operand.get().getDefiningOp<WeightOp>();
          if (!weight || op->isProperAncestor(weight) || !inner->hasTrait<Elementwise>() ||
              !hasQueriesAndKeys(op, weight))
            continue;
          WeightOp &transposed = transposes[weight];
          if (!transposed) {
            LDBG() << "transposes the mask at " << weight.getLoc() << " for the attention at " << op.getLoc();
            transposed = createTransposed(weight);
          }
          Value &read = reads[weight];
          if (!read)
            read = readTransposed(b, transposed, weight.getType());
          operand.set(read);
        }
      });
    });
    for (auto [weight, transposed] : transposes)
      if (weight->use_empty())
        weight->erase();
  }
};
} // namespace
