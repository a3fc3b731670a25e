//===- Contraction.cpp - how a kernel.contract multiplies its operands ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon;
using kernel::ContractionKind;

Value IntegerGroups::getZero() const {
  auto difference = rhsNumber.getDefiningOp<arith::SubFOp>();
  return difference ? difference.getRhs() : Value();
}

/// Returns the reads of a factor's elements; empty if one of them cannot be read as an affine access.
static SmallVector<ElementRead> readFactor(kernel::ContractOp op, OperandRange elements, bool promotes) {
  SmallVector<ElementRead> reads;
  for (Value element : elements) {
    std::optional<ElementRead> read = promotes ? matchReducedPrecisionRead(op, element) : matchRead(op, element);
    if (!read)
      return {};
    reads.push_back(*read);
  }
  return reads;
}

std::optional<Contraction> tenon::readContraction(kernel::ContractOp op) {
  kernel::ContractionAttr says = op.getContraction();
  kernel::SumOp sum = op.getSum();
  SmallVector<ElementRead> lhs = readFactor(op, sum.getLhs(), says.getPromotes()),
                           rhs = readFactor(op, sum.getRhs(), /*promotes=*/false);
  if (lhs.empty() || rhs.empty())
    return std::nullopt;
  ContractionKind kind = says.getKind();
  Contraction contraction{lhs.front(), rhs.front(), op.getNumLoops() - 1, std::nullopt};
  if (says.getRow() >= 0)
    contraction.rowLoop = says.getRow();
  contraction.isColumnwise = kind == ContractionKind::columnwise || kind == ContractionKind::i8_columnwise;
  contraction.panel = says.getPanel();
  contraction.isGrouped = says.getGrouped();
  if (kind == ContractionKind::i8_dot4)
    contraction.dot4Loop = says.getInner();
  contraction.isDepthwiseInt8 = kind == ContractionKind::i8_columnwise;
  contraction.isPackedI16 = kind == ContractionKind::i16_pairs;
  contraction.isPackedBf16 = kind == ContractionKind::bf16_pairs;
  if (kind == ContractionKind::dequantized)
    contraction.dequantization = Dequantization{sum.getNumber(), sum.getScale(), says.getBlock()};
  contraction.promotesLhs = says.getPromotes();
  // Vector loads have no conditions, and the LHS is read once for all columns of a vector.
  bool isOfColumns = contraction.lhs.map.isFunctionOfDim(contraction.columnLoop);
  if (!contraction.rhs.bounds.empty() || (isOfColumns && !contraction.isColumnwise && !contraction.isGrouped))
    return std::nullopt;
  if (kind == ContractionKind::integer_groups)
    contraction.integerGroups = IntegerGroups{static_cast<unsigned>(says.getInner()),
                                              says.getStep(),
                                              says.getBlock(),
                                              lhs.back(),
                                              sum.getScale(),
                                              sum.getNumber()};
  if (kind == ContractionKind::bf16_terms || kind == ContractionKind::i8_terms)
    contraction.terms = FactorTerms{static_cast<unsigned>(says.getInner()), says.getStep(), lhs, rhs,
                                    kind == ContractionKind::i8_terms};
  return contraction;
}
