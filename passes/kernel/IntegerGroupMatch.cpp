//===- IntegerGroupMatch.cpp - products of integers in groups with scales ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Kernel.h"
#include "passes/kernel/ContractionMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Computes integers of the body that depend on nothing but the step of a loop.
class StepEvaluator {
public:
  StepEvaluator(unsigned loop, int64_t step) : loop(loop), step(step) {}

  /// Modulo 2^64; none if `value` depends on anything else.
  std::optional<uint64_t> get(Value value) {
    auto [known, isNew] = values.try_emplace(value, std::nullopt);
    if (!isNew)
      return known->second;
    std::optional<uint64_t> computed = compute(value);
    return values[value] = computed;
  }

private:
  std::optional<uint64_t> compute(Value value);

  unsigned loop;
  int64_t step;
  llvm::DenseMap<Value, std::optional<uint64_t>> values;
};
} // namespace

std::optional<uint64_t> StepEvaluator::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return static_cast<uint64_t>(constant.getSExtValue());
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(definition))
    return index.getDim() == loop ? std::optional<uint64_t>(step) : std::nullopt;
  SmallVector<uint64_t> operands;
  for (Value operand : definition->getOperands()) {
    std::optional<uint64_t> number = get(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  using Result = std::optional<uint64_t>;
  return llvm::TypeSwitch<Operation *, Result>(definition)
      .Case([&](arith::IndexCastOp) { return operands[0]; })
      .Case([&](arith::AddIOp) { return operands[0] + operands[1]; })
      .Case([&](arith::SubIOp) { return operands[0] - operands[1]; })
      .Case([&](arith::MulIOp) { return operands[0] * operands[1]; })
      .Case([&](arith::RemUIOp) { return operands[1] ? Result(operands[0] % operands[1]) : std::nullopt; })
      .Case([&](arith::DivUIOp) { return operands[1] ? Result(operands[0] / operands[1]) : std::nullopt; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the number of integers that share the i32 `word`, if `integer` is the one of each of `depth` steps of `loop`
/// in the order of tenon.unpack.
static std::optional<int64_t> matchPackedInteger(Value integer, Value word, unsigned loop, int64_t depth) {
  auto isShiftedBy = [&](Value shift, int64_t perWord, llvm::function_ref<uint64_t(int64_t)> getShift) {
    return llvm::all_of(llvm::seq<int64_t>(depth),
                        [&](int64_t step) { return StepEvaluator(loop, step).get(shift) == getShift(step % perWord); });
  };
  APInt constant;
  if (auto masked = integer.getDefiningOp<arith::AndIOp>()) {
    auto shifted = masked.getLhs().getDefiningOp<arith::ShRUIOp>();
    bool fits = shifted && shifted.getLhs() == word && matchPattern(masked.getRhs(), m_ConstantInt(&constant)) &&
                constant == 15 &&
                isShiftedBy(shifted.getRhs(), 8, [](int64_t step) { return step % 4 * 8 + step / 4 * 4; });
    return fits ? std::optional<int64_t>(8) : std::nullopt;
  }
  auto down = integer.getDefiningOp<arith::ShRSIOp>();
  auto up = down ? down.getLhs().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  if (!up || up.getLhs() != word || !matchPattern(down.getRhs(), m_ConstantInt(&constant)))
    return std::nullopt;
  for (int64_t bits : {8, 16})
    if (constant == static_cast<uint64_t>(32 - bits) &&
        isShiftedBy(up.getRhs(), 32 / bits, [&](int64_t step) { return 32 - bits - step * bits; }))
      return 32 / bits;
  return std::nullopt;
}

namespace {
/// (byte - 128) * scale, or i16 * scale.
struct RoundedRow {
  ElementRead integer, scale;

  bool isByte() const { return integer.element.getType().isInteger(8); }
};
} // namespace

/// Returns the byte of which `value` is the number, as a float.
static Value matchByte(Value value) {
  auto difference = value.getDefiningOp<arith::SubFOp>();
  auto number = difference ? difference.getLhs().getDefiningOp<arith::UIToFPOp>() : arith::UIToFPOp();
  if (!number || !number.getIn().getType().isInteger(8))
    return {};
  auto zero = difference.getRhs().getDefiningOp<arith::UIToFPOp>();
  APInt bits;
  APFloat constant(0.0f);
  bool fits = zero ? matchPattern(zero.getIn(), m_ConstantInt(&bits)) && bits.getZExtValue() == kInt8GroupsZero
                   : matchPattern(difference.getRhs(), m_ConstantFloat(&constant)) &&
                         constant.convertToFloat() == static_cast<float>(kInt8GroupsZero);
  return fits ? number.getIn() : Value();
}

static std::optional<RoundedRow> matchRoundedRow(linalg::GenericOp op, Value factor) {
  auto product = factor.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  auto number = product.getLhs().getDefiningOp<arith::SIToFPOp>();
  Value integer = number && number.getIn().getType().isInteger(16) ? number.getIn() : matchByte(product.getLhs());
  if (!integer)
    return std::nullopt;
  std::optional<ElementRead> read = matchRead(op, integer), scale = matchRead(op, product.getRhs());
  return read && scale ? std::optional(RoundedRow{*read, *scale}) : std::nullopt;
}

/// The neighbours along `loop`, of `extent` iterations, that the indices of `map` are the same for; 0 if there are
/// none.
static int64_t getGroup(AffineMap map, unsigned loop, int64_t extent) {
  if (!map.isFunctionOfDim(loop))
    return extent;
  int64_t group = 0;
  for (AffineExpr index : map.getResults()) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto quotient = dyn_cast<AffineBinaryOpExpr>(index);
    auto size = quotient ? dyn_cast<AffineConstantExpr>(quotient.getRHS()) : AffineConstantExpr(nullptr);
    if (!size || group || quotient.getKind() != AffineExprKind::FloorDiv ||
        quotient.getLHS() != getAffineDimExpr(loop, map.getContext()))
      return 0;
    group = size.getValue();
  }
  return group;
}

std::optional<Contraction> tenon::matchIntegerGroups(linalg::GenericOp op, unsigned column, Value row, Value factor) {
  std::optional<RoundedRow> rounded = matchRoundedRow(op, row);
  Contraction contraction{{}, {}, column, std::nullopt};
  std::optional<Dequantization> weight =
      rounded ? matchDequantization(op, factor, column, contraction.rhs, /*sumsWindows=*/true) : std::nullopt;
  if (!weight || !weight->scale)
    return std::nullopt;
  unsigned loop = getDequantizedLoop(op);
  int64_t depth = op.getStaticLoopRanges()[loop], block = getGroup(rounded->scale.map, loop, depth);
  if (block == 0)
    return std::nullopt;
  auto difference = weight->number.getDefiningOp<arith::SubFOp>();
  auto integer = (difference ? difference.getLhs() : weight->number).getDefiningOp<arith::SIToFPOp>();
  std::optional<int64_t> perWord =
      integer ? matchPackedInteger(integer.getIn(), contraction.rhs.element, loop, depth) : std::nullopt;
  // Differences of 8 bits would have 9.
  bool fits = perWord && !(difference && perWord != 8) && rounded->isByte() == (perWord != 2) &&
              getGroup(contraction.rhs.map, loop, depth) == *perWord && block % *perWord == 0 &&
              weight->block % block == 0 && depth % block == 0;
  const ElementRead &lhs = rounded->integer, &scale = rounded->scale;
  auto hasColumn = [&](const ElementRead &read) { return read.map.isFunctionOfDim(column) || !read.bounds.empty(); };
  if (!fits || hasColumn(lhs) || hasColumn(scale) || !isAlongLast(lhs.map, loop))
    return std::nullopt;
  contraction.lhs = lhs;
  contraction.panel = getPanel(contraction.rhs.map, column);
  contraction.integerGroups = IntegerGroups{loop, *perWord, block, scale, weight->scale, weight->number};
  return contraction;
}
