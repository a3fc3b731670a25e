//===- Dequantization.cpp - weights of few bits among the factors of a product ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/ContractionMatch.h"
#include "passes/kernel/Epilogue.h"

using namespace mlir;
using namespace tenon;

unsigned tenon::getDequantizedLoop(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  assert(llvm::is_contained(iterators, utils::IteratorType::reduction) && "a contraction has a summed loop");
  auto last = llvm::find(llvm::reverse(iterators), utils::IteratorType::reduction);
  return static_cast<unsigned>(&*last - iterators.data());
}

namespace {
/// Looks at what a factor is made of.
class DequantizationMatcher {
public:
  DequantizationMatcher(linalg::GenericOp op, unsigned columnLoop, bool sumsWindows)
      : op(op), columnLoop(columnLoop), sumLoop(getDequantizedLoop(op)), sumsWindows(sumsWindows) {}
  std::optional<Dequantization> match(Value factor);
  /// The read of the numbers: that of most elements.
  ElementRead getNumbers(Value number);

private:
  struct Sources {
    SmallVector<ElementRead> reads;
    bool hasStep = false; ///< whether the number of the step counts by itself
  };
  bool collect(Value value, Sources &sources);
  bool isOfWeight(const ElementRead &read);
  std::optional<int64_t> getBlock(Value scale);

  linalg::GenericOp op;
  unsigned columnLoop, sumLoop;
  bool sumsWindows;
};
} // namespace

/// True if a read is in panels, or the same for all columns, and depends on no row.
bool DequantizationMatcher::isOfWeight(const ElementRead &read) {
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (loop != columnLoop && kind == utils::IteratorType::parallel && read.map.isFunctionOfDim(loop))
      return false;
  return !read.map.isFunctionOfDim(columnLoop) || getPanel(read.map, columnLoop) > 0;
}

/// True if the value can be computed in vectors; adds the reads that it depends on to `sources`.
bool DequantizationMatcher::collect(Value value, Sources &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody() || argument.getArgNumber() >= op.getNumDpsInputs())
      return false;
    sources.reads.push_back(getRead(op->getOpOperand(argument.getArgNumber())));
    return isOfWeight(sources.reads.back());
  }
  Operation *definition = value.getDefiningOp();
  if (!op.getRegion().isAncestor(definition->getParentRegion()))
    return true;
  if (auto index = dyn_cast<linalg::IndexOp>(definition)) {
    sources.hasStep = true;
    return index.getDim() == sumLoop;
  }
  bool isArithmetic = isVectorArithmetic(*definition) || isa<arith::ArithDialect>(definition->getDialect());
  return isArithmetic &&
         llvm::all_of(definition->getOperands(), [&](Value operand) { return collect(operand, sources); });
}

/// Returns the number of steps along the summed loop that share one scale: all of them, or those of a block. None if
/// each step has its own value, or if `scale` is no scale.
std::optional<int64_t> DequantizationMatcher::getBlock(Value scale) {
  Sources sources;
  if (!collect(scale, sources) || sources.hasStep)
    return std::nullopt;
  int64_t block = 0;
  for (const ElementRead &read : sources.reads)
    for (AffineExpr index : read.map.getResults()) {
      if (!index.isFunctionOfDim(sumLoop))
        continue;
      auto quotient = dyn_cast<AffineBinaryOpExpr>(index);
      auto size = quotient ? dyn_cast<AffineConstantExpr>(quotient.getRHS()) : AffineConstantExpr(nullptr);
      if (!size || quotient.getKind() != AffineExprKind::FloorDiv || !isa<AffineDimExpr>(quotient.getLHS()) ||
          (block && block != size.getValue()))
        return std::nullopt;
      block = size.getValue();
    }
  return block ? block : op.getStaticLoopRanges()[sumLoop];
}

std::optional<Dequantization> DequantizationMatcher::match(Value factor) {
  Sources sources;
  if ((op.getNumReductionLoops() != 1 && !sumsWindows) || ShapedType::isDynamic(op.getStaticLoopRanges()[sumLoop]) ||
      !collect(factor, sources) || sources.reads.empty())
    return std::nullopt;
  if (auto product = factor.getDefiningOp<arith::MulFOp>())
    for (auto [number, scale] :
         {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
      if (std::optional<int64_t> block = getBlock(scale); block && !getBlock(number))
        return Dequantization{number, scale, *block};
  return Dequantization{factor, Value(), op.getStaticLoopRanges()[sumLoop]};
}

ElementRead DequantizationMatcher::getNumbers(Value number) {
  Sources sources;
  collect(number, sources);
  assert(!sources.reads.empty() && "a factor that can be dequantized reads an operand");
  // Zero points have the dynamic extents of the numbers, such as the panels of a tile, so the static ones tell them
  // apart.
  auto countStatic = [](const ElementRead &read) {
    int64_t count = 1;
    for (int64_t extent : cast<ShapedType>(read.memory.getType()).getShape())
      count *= ShapedType::isDynamic(extent) ? 1 : extent;
    return count;
  };
  return *llvm::max_element(
      sources.reads, [&](const ElementRead &a, const ElementRead &b) { return countStatic(a) < countStatic(b); });
}

std::optional<Dequantization> tenon::matchDequantization(linalg::GenericOp op, Value factor, unsigned columnLoop,
                                                         ElementRead &rhs, bool sumsWindows) {
  DequantizationMatcher matcher(op, columnLoop, sumsWindows);
  std::optional<Dequantization> widening = matcher.match(factor);
  if (!widening)
    return std::nullopt;
  rhs = matcher.getNumbers(widening->number);
  return getPanel(rhs.map, columnLoop) > 0 ? widening : std::nullopt;
}

bool tenon::isOfF16(const Contraction &contraction) {
  if (!contraction.dequantization || !contraction.promotesLhs || contraction.dequantization->scale ||
      contraction.panel == 0)
    return false;
  auto widened = contraction.dequantization->number.getDefiningOp<arith::ExtFOp>();
  return widened && widened.getIn() == contraction.rhs.element && widened.getIn().getType().isF16() &&
         getElementTypeOrSelf(contraction.lhs.memory).isF16();
}

bool tenon::multipliesF16(kernel::ContractOp op, const Contraction &contraction) {
  return kernel::getSchedule(op).getMicroKernel() == kernel::MicroKernel::f16_fma && isOfF16(contraction);
}

int64_t tenon::getMaxRowsInRegisters(const Contraction &contraction) {
  assert(contraction.dequantization && "there are weights to dequantize");
  // Rows that are widened, too, are packed for a panel, which widens vectors of them and not one element after another.
  if (contraction.promotesLhs)
    return kMaxRowsInRegisters;
  return contraction.dequantization->scale ? kMaxDequantizedRows : kMaxWidenedRows;
}

int64_t tenon::getDequantizedPanelBytes(kernel::ContractOp op, const Contraction &contraction) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t rows = contraction.rowLoop ? ranges[*contraction.rowLoop] : 1;
  if (!contraction.dequantization || multipliesF16(op, contraction) ||
      (!ShapedType::isDynamic(rows) && rows <= getMaxRowsInRegisters(contraction)))
    return 0;
  int64_t elementBytes = getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth() / 8;
  return ranges[getDequantizedLoop(op)] * contraction.panel * elementBytes;
}
