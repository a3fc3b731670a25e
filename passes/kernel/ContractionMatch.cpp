//===- ContractionMatch.cpp - matrix products among linalg operations -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/ContractionMatch.h"
#include "dialects/kernel/Bf16Pairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/I16Pairs.h"
#include "passes/paths/split/Int8Terms.h"

using namespace mlir;
using namespace tenon;

/// The factors where the body is `out + a * b`.
static std::optional<std::pair<Value, Value>> matchMultiplyAdd(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  auto add = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return std::nullopt;
  Value old = body->getArguments().back(), other = add.getLhs() == old ? add.getRhs() : add.getLhs();
  auto mul = other.getDefiningOp<arith::MulFOp>();
  if (!mul || (add.getLhs() != old && add.getRhs() != old))
    return std::nullopt;
  return std::pair(mul.getLhs(), mul.getRhs());
}

/// True if the steps of `loop` are contiguous in memory: the last index is the loop, perhaps plus others, and no other
/// index has it.
static bool isContiguous(AffineMap map, unsigned loop) {
  if (map.getNumResults() == 0)
    return false;
  for (AffineExpr index : map.getResults().drop_back())
    if (index.isFunctionOfDim(loop))
      return false;
  AffineExpr last = map.getResults().back();
  auto isLoop = [&](AffineExpr e) {
    auto dim = dyn_cast<AffineDimExpr>(e);
    return dim && dim.getPosition() == loop;
  };
  if (isLoop(last))
    return true;
  auto sum = dyn_cast<AffineBinaryOpExpr>(last);
  return sum && sum.getKind() == AffineExprKind::Add &&
         ((isLoop(sum.getLHS()) && !sum.getRHS().isFunctionOfDim(loop)) ||
          (isLoop(sum.getRHS()) && !sum.getLHS().isFunctionOfDim(loop)));
}

int64_t tenon::getPanel(AffineMap map, unsigned loop) {
  auto getWidth = [&](AffineExpr index, AffineExprKind kind) -> int64_t {
    auto binary = dyn_cast<AffineBinaryOpExpr>(index);
    auto dim = binary ? dyn_cast<AffineDimExpr>(binary.getLHS()) : AffineDimExpr(nullptr);
    auto width = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
    return dim && width && binary.getKind() == kind && dim.getPosition() == loop ? width.getValue() : 0;
  };
  if (map.getNumResults() < 2)
    return 0;
  int64_t width = getWidth(map.getResults().back(), AffineExprKind::Mod), numPanels = 0;
  for (AffineExpr index : map.getResults().drop_back()) {
    if (!index.isFunctionOfDim(loop))
      continue;
    if (getWidth(index, AffineExprKind::FloorDiv) != width)
      return 0;
    ++numPanels;
  }
  return numPanels == 1 ? width : 0;
}

/// True if an index is the same for all steps of a loop in a panel: the loop occurs only divided by the panel width.
static bool isSameInPanel(AffineExpr index, unsigned loop, int64_t panel) {
  if (!index.isFunctionOfDim(loop))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (!binary)
    return false;
  if (index.getKind() != AffineExprKind::FloorDiv)
    return isSameInPanel(binary.getLHS(), loop, panel) && isSameInPanel(binary.getRHS(), loop, panel);
  MLIRContext *context = index.getContext();
  AffineExpr first = binary.getLHS().replace(getAffineDimExpr(loop, context), getAffineConstantExpr(0, context));
  return getStep(binary.getLHS(), loop) == 1 && first.isMultipleOf(panel) && binary.getRHS().isMultipleOf(panel);
}

/// Handles contractions whose operands are both contiguous along the columns: `rhs` becomes the operand that depends on
/// fewer parallel loops, as the filter of a convolution does.
static void findColumnwise(linalg::GenericOp op, const ElementRead &first, const ElementRead &second,
                           Contraction &contraction) {
  auto countLoops = [&](const ElementRead &read) {
    return llvm::count_if(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
      return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel && read.map.isFunctionOfDim(loop);
    });
  };
  bool firstIsFilter = countLoops(first) < countLoops(second);
  contraction.rhs = firstIsFilter ? first : second;
  contraction.lhs = firstIsFilter ? second : first;
  contraction.isColumnwise = true;
}

/// Decides which operand is loaded in vectors, and which one element by element. Returns false if neither is possible.
static bool assignReads(linalg::GenericOp op, const ElementRead &first, const ElementRead &second,
                        Contraction &contraction) {
  unsigned column = contraction.columnLoop;
  for (auto [rhs, lhs] : {std::pair(&first, &second), std::pair(&second, &first)}) {
    int64_t panel = isContiguous(rhs->map, column) ? 0 : getPanel(rhs->map, column);
    if (!rhs->bounds.empty() || (panel == 0 && !isContiguous(rhs->map, column)))
      continue;
    bool isGrouped = lhs->map.isFunctionOfDim(column);
    if (isGrouped && (panel == 0 || !llvm::all_of(lhs->map.getResults(), [&](AffineExpr index) {
                        return isSameInPanel(index, column, panel);
                      })))
      continue;
    contraction.rhs = *rhs;
    contraction.lhs = *lhs;
    contraction.panel = panel;
    contraction.isGrouped = isGrouped;
    return true;
  }
  if (!isContiguous(first.map, column) || !isContiguous(second.map, column))
    return false;
  findColumnwise(op, first, second, contraction);
  return contraction.rhs.bounds.empty();
}

/// Chooses the row loop among several that qualify: the first one that is known to be long; otherwise the last one,
/// whose results are closest in memory.
static void findRowLoop(linalg::GenericOp op, Contraction &contraction) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  constexpr int64_t kLong = kIndependentSums; // math: as many rows hide the latency of a multiply-add
  auto getRank = [&](unsigned loop) {
    return ShapedType::isDynamic(ranges[loop]) ? kLong : ranges[loop] > kLong ? kLong + 1 : ranges[loop];
  };
  for (unsigned loop = 0; loop < contraction.columnLoop; ++loop) {
    int64_t numIndices =
        llvm::count_if(contraction.lhs.map.getResults(), [&](AffineExpr index) { return index.isFunctionOfDim(loop); });
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel && numIndices == 1 &&
        !contraction.rhs.map.isFunctionOfDim(loop) &&
        (!contraction.rowLoop || getRank(loop) >= getRank(*contraction.rowLoop)))
      contraction.rowLoop = loop;
  }
}

//===----------------------------------------------------------------------===//
// Int8 with VNNI packing
//===----------------------------------------------------------------------===//

namespace {
/// The i8 that are multiplied.
struct Int8Factors {
  Value unsignedFactor, signedFactor;
};
} // namespace

/// Returns what an integer body adds to its output element; null if the body does anything else.
static Value matchAddedInteger(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto add = cast<linalg::YieldOp>(body->getTerminator()).getOperand(0).getDefiningOp<arith::AddIOp>();
  Value old = body->getArguments().back();
  if (!add || !add.getType().isInteger(32) || (add.getLhs() != old && add.getRhs() != old))
    return {};
  return add.getLhs() == old ? add.getRhs() : add.getLhs();
}

/// Returns the factors if the body is `out + extui(a) * extsi(b)`.
static std::optional<Int8Factors> matchInt8Factors(linalg::GenericOp op) {
  Value added = matchAddedInteger(op);
  auto mul = added ? added.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!mul)
    return std::nullopt;
  Int8Factors factors;
  for (Value factor : {mul.getLhs(), mul.getRhs()})
    if (auto zeroExtended = factor.getDefiningOp<arith::ExtUIOp>())
      factors.unsignedFactor = zeroExtended.getIn();
    else if (auto signExtended = factor.getDefiningOp<arith::ExtSIOp>())
      factors.signedFactor = signExtended.getIn();
  if (!factors.unsignedFactor || !factors.signedFactor || !factors.unsignedFactor.getType().isInteger(8) ||
      !factors.signedFactor.getType().isInteger(8))
    return std::nullopt;
  return factors;
}

/// Returns the summed loop whose elements are interleaved by four in the last index (VNNI packing), and the map of the
/// groups, whose last index is contiguous; none if `map` has no such groups.
static std::optional<std::pair<unsigned, AffineMap>> matchK4Groups(linalg::GenericOp op, AffineMap map) {
  if (map.getNumResults() < 2)
    return std::nullopt;
  auto match = [](AffineExpr index, AffineExprKind kind) -> AffineExpr {
    auto binary = dyn_cast<AffineBinaryOpExpr>(index);
    auto four = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
    return four && four.getValue() == 4 && binary.getKind() == kind ? binary.getLHS() : AffineExpr();
  };
  auto sum = dyn_cast<AffineBinaryOpExpr>(map.getResults().back());
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  bool isStepFirst = bool(match(sum.getLHS(), AffineExprKind::Mod));
  AffineExpr step = match(isStepFirst ? sum.getLHS() : sum.getRHS(), AffineExprKind::Mod);
  AffineExpr place = match(isStepFirst ? sum.getRHS() : sum.getLHS(), AffineExprKind::Mul);
  auto loop = step ? dyn_cast<AffineDimExpr>(step) : AffineDimExpr(nullptr);
  if (!place || !loop || op.getIteratorTypesArray()[loop.getPosition()] != utils::IteratorType::reduction)
    return std::nullopt;
  SmallVector<AffineExpr> groups(map.getResults().drop_back());
  for (AffineExpr &index : groups)
    if (index.isFunctionOfDim(loop.getPosition()) && match(index, AffineExprKind::FloorDiv) != loop)
      return std::nullopt;
  groups.push_back(place);
  return std::pair(loop.getPosition(), AffineMap::get(map.getNumDims(), map.getNumSymbols(), groups, map.getContext()));
}

bool tenon::isAlongLast(AffineMap map, unsigned loop) {
  return map.getNumResults() > 0 && getStep(map.getResults().back(), loop) == 1 &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr index) { return index.isFunctionOfDim(loop); });
}

static std::optional<Contraction> matchInt8Contraction(linalg::GenericOp op, unsigned column) {
  std::optional<Int8Factors> factors = matchInt8Factors(op);
  if (!factors)
    return std::nullopt;
  std::optional<ElementRead> rhs = matchRead(op, factors->signedFactor), lhs = matchRead(op, factors->unsignedFactor);
  if (!rhs || !lhs || !rhs->bounds.empty() || lhs->map.isFunctionOfDim(column))
    return std::nullopt;
  std::optional<std::pair<unsigned, AffineMap>> groups = matchK4Groups(op, rhs->map);
  if (!groups || !isAlongLast(lhs->map, groups->first) ||
      ShapedType::isDynamic(op.getStaticLoopRanges()[groups->first]))
    return std::nullopt;
  Contraction contraction{*lhs, *rhs, column, std::nullopt};
  contraction.panel = getPanel(groups->second, column);
  contraction.dot4Loop = groups->first;
  return contraction.panel ? std::optional(contraction) : std::nullopt;
}

/// True if f32 sums of this many int8 products are exact in any order.
static bool isExactInFloat(linalg::GenericOp op) {
  constexpr int64_t kMaxProducts = (1 << 24) / (255 * 128); // math: integers that f32 holds exactly
  int64_t products = 1;
  for (auto [range, iterator] : llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      products *= ShapedType::isDynamic(range) ? kMaxProducts + 1 : std::min(range, kMaxProducts + 1);
  return products <= kMaxProducts;
}

/// Matches depthwise int8: few products for each element, and both operands contiguous along the columns.
static std::optional<Contraction> matchInt8Columns(linalg::GenericOp op, unsigned column) {
  std::optional<Int8Factors> factors = matchInt8Factors(op);
  if (!factors || !isExactInFloat(op))
    return std::nullopt;
  std::optional<ElementRead> rhs = matchRead(op, factors->signedFactor), lhs = matchRead(op, factors->unsignedFactor);
  if (!rhs || !lhs || !rhs->bounds.empty() || !isContiguous(rhs->map, column) || !isContiguous(lhs->map, column))
    return std::nullopt;
  Contraction contraction{*lhs, *rhs, column, std::nullopt};
  contraction.isColumnwise = contraction.isDepthwiseInt8 = true;
  return contraction;
}

/// Pairs of i16, of which the RHS has panels.
static std::optional<Contraction> matchI16Contraction(linalg::GenericOp op, unsigned column) {
  Value added = matchAddedInteger(op);
  auto factors = added ? matchI16Dot(added) : std::nullopt;
  if (!factors || factors->first == factors->second)
    return std::nullopt;
  std::optional<ElementRead> first = matchRead(op, factors->first), second = matchRead(op, factors->second);
  Contraction contraction{{}, {}, column, std::nullopt};
  contraction.isPackedI16 = true;
  bool fits =
      first && second && assignReads(op, *first, *second, contraction) && contraction.panel && !contraction.isGrouped;
  return fits ? std::optional(contraction) : std::nullopt;
}

/// Pairs of bf16, whose products are added to an f32.
static std::optional<Contraction> matchBf16Contraction(linalg::GenericOp op, unsigned column) {
  Block *body = op.getBody();
  auto add = cast<linalg::YieldOp>(body->getTerminator()).getOperand(0).getDefiningOp<arith::AddFOp>();
  auto factors = add && add.getLhs() == body->getArguments().back() ? kernel::matchBf16Dot(add.getRhs()) : std::nullopt;
  if (!factors || factors->first == factors->second)
    return std::nullopt;
  std::optional<ElementRead> first = matchRead(op, factors->first), second = matchRead(op, factors->second);
  Contraction contraction{{}, {}, column, std::nullopt};
  contraction.isPackedBf16 = true;
  bool fits = first && second && assignReads(op, *first, *second, contraction) && !contraction.isColumnwise &&
              !contraction.isGrouped;
  return fits ? std::optional(contraction) : std::nullopt;
}

/// True if the innermost loop writes contiguous elements and another loop is summed over.
static bool sumsIntoNeighbours(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumLoops() == 0)
    return false;
  unsigned column = op.getNumLoops() - 1;
  return op.getIteratorTypesArray()[column] == utils::IteratorType::parallel && op.getNumReductionLoops() > 0 &&
         isContiguous(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), column);
}

//===----------------------------------------------------------------------===//
// Terms of bf16 and i8
//===----------------------------------------------------------------------===//

/// Returns the i8 that `value` is term `number` of: the term times 256^-number.
static Value matchInt8Term(Value value, size_t number) {
  if (auto scaled = value.getDefiningOp<arith::MulFOp>(); scaled && number > 0) {
    FloatAttr unit;
    if (!matchPattern(scaled.getRhs(), m_Constant(&unit)) ||
        unit.getValueAsDouble() != std::exp2(-kInt8TermBits * static_cast<int>(number)))
      return {};
    value = scaled.getLhs();
  } else if (number > 0) {
    return {};
  }
  auto converted = value.getDefiningOp<arith::SIToFPOp>();
  return converted && converted.getIn().getType().isInteger(8) ? converted.getIn() : Value();
}

/// Returns the reads whose sum `value` is, the first term first: one for each term of bf16, or of i8, of which there
/// are several, or a single one of f32 or f16. Empty if `value` is anything else.
static SmallVector<ElementRead> matchSumOfTerms(linalg::GenericOp op, Value value) {
  auto isOfTerms = [](const ElementRead &read) { return read.bounds.empty() && read.symbols.empty(); };
  SmallVector<ElementRead> reads;
  auto widened = value.getDefiningOp<arith::ExtFOp>();
  Value whole = widened && widened.getIn().getType().isF16() ? widened.getIn() : value;
  if (std::optional<ElementRead> read = matchRead(op, whole); read && isOfTerms(*read))
    return {*read};
  for (;;) {
    auto sum = value.getDefiningOp<arith::AddFOp>();
    Value last = sum ? sum.getRhs() : value, term;
    if (auto part = last.getDefiningOp<arith::ExtFOp>(); part && part.getIn().getType().isBF16())
      term = part.getIn();
    else if (sum || !reads.empty())
      term = matchInt8Term(last, reads.size());
    std::optional<ElementRead> read = term ? matchRead(op, term) : std::nullopt;
    bool isOfOneType = read && (reads.empty() || read->memory == reads.front().memory);
    if (!isOfOneType || !isOfTerms(*read))
      return {};
    reads.push_back(*read);
    if (!sum)
      return reads;
    value = sum.getLhs();
  }
}

/// True if the reads differ only in index `fromEnd`, which is 0, 1, 2...
static bool areCounted(ArrayRef<ElementRead> reads, size_t fromEnd) {
  for (auto [number, read] : llvm::enumerate(reads)) {
    SmallVector<AffineExpr> first(reads.front().map.getResults()), own(read.map.getResults());
    if (read.memory != reads.front().memory || own.size() <= fromEnd ||
        own[own.size() - 1 - fromEnd] != getAffineConstantExpr(number, read.map.getContext()))
      return false;
    first.erase(first.end() - 1 - fromEnd);
    own.erase(own.end() - 1 - fromEnd);
    if (first != own)
      return false;
  }
  return true;
}

/// `loop kind n`: n, or nothing.
static std::optional<int64_t> matchByConstant(AffineExpr index, AffineExprKind kind, unsigned loop) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  auto number = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
  bool fits = number && binary.getKind() == kind && binary.getLHS() == getAffineDimExpr(loop, index.getContext());
  return fits ? std::optional(number.getValue()) : std::nullopt;
}

/// Returns the summed loop whose remainder is the last index.
static std::optional<unsigned> findStepLoop(linalg::GenericOp op, AffineExpr last) {
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction && matchByConstant(last, AffineExprKind::Mod, loop))
      return loop;
  return std::nullopt;
}

/// True if the sums of a contraction of so many terms of int8 fit i32, whatever the terms are.
static bool fitInt8Sums(linalg::GenericOp op, int64_t numTerms) {
  int64_t depth = 1;
  for (auto [extent, iterator] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction &&
        (ShapedType::isDynamic(extent) || llvm::MulOverflow(depth, extent, depth)))
      return false;
  return tenon::fitInt8Sums(depth, numTerms);
}

static std::optional<Contraction> matchTerms(linalg::GenericOp op, unsigned column, ArrayRef<ElementRead> rows,
                                             ArrayRef<ElementRead> columns) {
  ArrayRef<AffineExpr> row = rows.front().map.getResults(), panel = columns.front().map.getResults();
  if (row.size() < 3 || panel.size() < 5 || !areCounted(rows, 1) || !areCounted(columns, 2))
    return std::nullopt;
  bool splitsLhs = FactorTerms::isUnsplit(rows.front()), splitsRhs = FactorTerms::isUnsplit(columns.front());
  bool areColumnsOnePart = !splitsRhs && columns.size() == 1;
  if ((splitsLhs && !splitsRhs && !areColumnsOnePart) ||
      (splitsRhs && !splitsLhs && rows.size() != FactorTerms::kAllTerms))
    return std::nullopt;
  std::optional<unsigned> loop = findStepLoop(op, row.back());
  if (!loop || *loop + 1 != column)
    return std::nullopt;
  MLIRContext *context = op.getContext();
  AffineExpr k = getAffineDimExpr(*loop, context), n = getAffineDimExpr(column, context);
  FactorTerms terms{*loop, *matchByConstant(row.back(), AffineExprKind::Mod, *loop), llvm::to_vector(rows),
                    llvm::to_vector(columns), getElementTypeOrSelf(rows.front().memory).isInteger()};
  int64_t step = terms.step, neighbours = terms.getNeighbours();
  constexpr int64_t kRows = 16; // format: of an AMX tile
  bool areOfOneType = terms.areIntegers == getElementTypeOrSelf(columns.front().memory).isInteger();
  if (terms.areIntegers && (rows.size() != columns.size() || !fitInt8Sums(op, rows.size())))
    return std::nullopt;
  if (!areOfOneType || ShapedType::isDynamic(op.getStaticLoopRanges()[*loop]) || step > kRows * neighbours ||
      step % neighbours != 0)
    return std::nullopt;
  int64_t width = matchByConstant(panel.front(), AffineExprKind::FloorDiv, column).value_or(0);
  bool fits = row.end()[-3] == k.floorDiv(step) && width > 0 && panel.end()[-4] == k.floorDiv(step) &&
              panel.end()[-2] == (k % step).floorDiv(neighbours) &&
              panel.back() == (n % width) * neighbours + k % neighbours;
  auto hasEither = [&](AffineExpr index) { return index.isFunctionOfDim(*loop) || index.isFunctionOfDim(column); };
  if (!fits || llvm::any_of(row.drop_back(3), hasEither) || llvm::any_of(panel.drop_front().drop_back(4), hasEither))
    return std::nullopt;
  Contraction contraction{rows.front(), columns.front(), column, std::nullopt};
  contraction.panel = width;
  contraction.terms = std::move(terms);
  bool hasWholeSteps = op.getStaticLoopRanges()[*loop] % step == 0 && op.getNumReductionLoops() == 1;
  return !splitsLhs || hasWholeSteps ? std::optional(contraction) : std::nullopt;
}

static std::optional<Contraction> matchTermContraction(linalg::GenericOp op, unsigned column) {
  std::optional<std::pair<Value, Value>> factors = matchMultiplyAdd(op);
  if (!factors || !getElementTypeOrSelf(op.getDpsInits()[0]).isF32())
    return std::nullopt;
  SmallVector<ElementRead> first = matchSumOfTerms(op, factors->first), second = matchSumOfTerms(op, factors->second);
  if (first.empty() || second.empty())
    return std::nullopt;
  bool isFirstOfColumns = first.front().map.isFunctionOfDim(column);
  return isFirstOfColumns ? matchTerms(op, column, second, first) : matchTerms(op, column, first, second);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static std::optional<Contraction> matchDequantizedContraction(linalg::GenericOp op, unsigned column,
                                                              const ElementRead &lhs, Value factor) {
  Contraction contraction{lhs, {}, column, std::nullopt};
  contraction.dequantization = matchDequantization(op, factor, column, contraction.rhs);
  if (!contraction.dequantization || lhs.map.isFunctionOfDim(column) || !lhs.bounds.empty() ||
      getElementTypeOrSelf(lhs.memory) != factor.getType())
    return std::nullopt;
  contraction.panel = getPanel(contraction.rhs.map, column);
  return contraction;
}

/// Matches the windows of a convolution whose factors are f16 that the body widens, those of the RHS in panels: several
/// loops are summed, of which that of the channels, the last one, is contiguous in both operands.
static std::optional<Contraction> matchF16Windows(linalg::GenericOp op, unsigned column, const ElementRead &lhs,
                                                  Value factor) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  std::optional<ElementRead> rhs =
      widened && widened.getIn().getType().isF16() ? matchRead(op, widened.getIn()) : std::nullopt;
  unsigned loop = getDequantizedLoop(op);
  if (!rhs || !rhs->bounds.empty() || loop + 1 != column || ShapedType::isDynamic(op.getStaticLoopRanges()[loop]) ||
      !isAlongLast(lhs.map, loop))
    return std::nullopt;
  for (unsigned other = 0; other < column; ++other)
    if (op.getIteratorTypesArray()[other] == utils::IteratorType::parallel && rhs->map.isFunctionOfDim(other))
      return std::nullopt;
  Contraction contraction{lhs, *rhs, column, std::nullopt};
  contraction.promotesLhs = true;
  contraction.panel = getPanel(rhs->map, column);
  contraction.dequantization = Dequantization{factor, Value(), op.getStaticLoopRanges()[loop]};
  return isOfF16(contraction) ? std::optional(contraction) : std::nullopt;
}

/// Matches an LHS of f16 or bf16 that is promoted to f32. The RHS may be dequantized, too.
static std::optional<Contraction> matchPromotedContraction(linalg::GenericOp op, unsigned column, Value row,
                                                           Value factor) {
  std::optional<ElementRead> lhs = matchReducedPrecisionRead(op, row), rhs = matchRead(op, factor);
  if (!lhs)
    return std::nullopt;
  Contraction contraction{*lhs, {}, column, std::nullopt};
  contraction.promotesLhs = true;
  if (rhs) {
    bool fits = getElementTypeOrSelf(rhs->memory) == factor.getType() && assignReads(op, *rhs, *lhs, contraction) &&
                getElementTypeOrSelf(contraction.rhs.memory) == factor.getType();
    return fits ? std::optional(contraction) : std::nullopt;
  }
  if (!lhs->bounds.empty() || lhs->map.isFunctionOfDim(column))
    return std::nullopt;
  if (op.getNumReductionLoops() > 1)
    return matchF16Windows(op, column, *lhs, factor);
  contraction.dequantization = matchDequantization(op, factor, column, contraction.rhs);
  contraction.panel = contraction.dequantization ? getPanel(contraction.rhs.map, column) : 0;
  return contraction.dequantization ? std::optional(contraction) : std::nullopt;
}

static std::optional<Contraction> matchGroupContraction(linalg::GenericOp op, unsigned column) {
  std::optional<std::pair<Value, Value>> factors = matchMultiplyAdd(op);
  if (!factors || !getElementTypeOrSelf(op.getDpsInits()[0]).isF32())
    return std::nullopt;
  std::optional<Contraction> contraction = matchIntegerGroups(op, column, factors->first, factors->second);
  return contraction ? contraction : matchIntegerGroups(op, column, factors->second, factors->first);
}

static std::optional<Contraction> matchFloatContraction(linalg::GenericOp op, unsigned column) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0]);
  std::optional<std::pair<Value, Value>> factors = matchMultiplyAdd(op);
  if (!(type.isF32() || type.isF64()) || !factors)
    return std::nullopt;
  std::optional<ElementRead> first = matchRead(op, factors->first), second = matchRead(op, factors->second);
  if (bool(first) != bool(second))
    if (std::optional<Contraction> contraction =
            matchDequantizedContraction(op, column, first ? *first : *second, first ? factors->second : factors->first))
      return contraction;
  if (!first || !second) {
    std::optional<Contraction> contraction = matchPromotedContraction(op, column, factors->first, factors->second);
    return contraction ? contraction : matchPromotedContraction(op, column, factors->second, factors->first);
  }
  if (factors->first == factors->second || getElementTypeOrSelf(first->memory) != type ||
      getElementTypeOrSelf(second->memory) != type)
    return std::nullopt;
  Contraction contraction{{}, {}, column, std::nullopt};
  return assignReads(op, *first, *second, contraction) ? std::optional(contraction) : std::nullopt;
}

std::optional<Contraction> tenon::matchContraction(linalg::GenericOp op) {
  if (!sumsIntoNeighbours(op))
    return std::nullopt;
  unsigned column = op.getNumLoops() - 1;
  std::optional<Contraction> contraction = matchFloatContraction(op, column);
  if (!contraction)
    contraction = matchTermContraction(op, column);
  if (!contraction)
    contraction = matchGroupContraction(op, column);
  if (!contraction)
    contraction = matchInt8Contraction(op, column);
  if (!contraction)
    contraction = matchInt8Columns(op, column);
  if (!contraction)
    contraction = matchI16Contraction(op, column);
  if (!contraction)
    contraction = matchBf16Contraction(op, column);
  if (contraction)
    findRowLoop(op, *contraction);
  return contraction;
}
