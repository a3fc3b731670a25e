//===- DotProducts.cpp - contractions whose operands are both read along the sum ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DotProducts.h"

using namespace mlir;
using namespace tenon;

/// The index that neighbours in memory differ in.
static int64_t getInnermostIndex(Value operand, ArrayRef<int64_t> indices) {
  assert(!indices.empty() && "a scalar has no innermost dimension");
  auto transpose = operand.getDefiningOp<TransposeOp>();
  if (!transpose)
    return indices.back();
  int64_t last = indices.size() - 1;
  return indices[llvm::find(transpose.getPermutation(), last) - transpose.getPermutation().begin()];
}

/// True if each index of `operand` with an extent other than 1 is in `other`.
static bool isSingleRow(Value operand, ArrayRef<int64_t> own, ArrayRef<int64_t> other) {
  assert(own.size() == getDims(operand).size() && "the verifier wants an index for each dimension");
  return llvm::all_of(llvm::zip(own, getDims(operand)), [&](auto pair) {
    auto [index, extent] = pair;
    return llvm::is_contained(other, index) || getConstant(extent) == 1;
  });
}

bool tenon::isInPanels(Value factor) {
  Operation *definition = factor.getDefiningOp();
  if (isa_and_nonnull<DequantizeOp, CastOp>(definition))
    definition = definition->getOperand(0).getDefiningOp();
  return isa_and_nonnull<UnpackOp, UnpackTermsOp>(definition);
}

std::optional<int64_t> tenon::getDotIndex(ContractOp op) {
  ArrayRef<int64_t> lhs = op.getLhsDims(), rhs = op.getRhsDims();
  bool isPacked = isInPanels(op.getLhs()) || isInPanels(op.getRhs());
  if (lhs.empty() || rhs.empty() || isPacked)
    return std::nullopt;
  int64_t index = getInnermostIndex(op.getLhs(), lhs);
  bool isSummed = index == getInnermostIndex(op.getRhs(), rhs) && !llvm::is_contained(op.getResultDims(), index);
  bool isOfRows = isSingleRow(op.getLhs(), lhs, rhs) || isSingleRow(op.getRhs(), rhs, lhs);
  return isSummed && isOfRows ? std::optional(index) : std::nullopt;
}
