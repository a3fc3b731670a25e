//===- Contract.cpp - contractions as operations --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

#include <cassert>

using namespace mlir;
using namespace tenon::kernel;

//===----------------------------------------------------------------------===//
// A structured operation
//===----------------------------------------------------------------------===//

SumOp ContractOp::getSum() { return cast<SumOp>(getBody()->getTerminator()->getOperand(0).getDefiningOp()); }

SmallVector<utils::IteratorType> ContractOp::getIteratorTypesArray() {
  ArrayAttr maps = getIndexingMaps();
  if (maps.empty())
    return {};
  AffineMap result = cast<AffineMapAttr>(maps.getValue().back()).getValue();
  SmallVector<utils::IteratorType> types;
  for (unsigned loop = 0; loop < result.getNumDims(); ++loop)
    types.push_back(result.isFunctionOfDim(loop) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  return types;
}

void ContractOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, argument.getArgNumber() < getInputs().size() ? "in" : "out");
}

bool ContractOp::hasIndexSemantics() { return !getBody()->getOps<linalg::IndexOp>().empty(); }

LogicalResult ContractOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) { return memref::foldMemRefCast(*this); }

void ContractOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand *input : getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), input);
  if (!isa<MemRefType>(getInit().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &getInitMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable());
}

Speculation::Speculatability ContractOp::getSpeculatability() {
  return hasPureTensorSemantics() ? Speculation::RecursivelySpeculatable : Speculation::NotSpeculatable;
}

LogicalResult ContractOp::reifyResultShapes(OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  return cast<linalg::LinalgOp>(getOperation()).reifyResultShapes(b, shapes);
}

OpFoldResult SumOp::fold(FoldAdaptor) {
  return isa_and_nonnull<ContractOp>((*this)->getParentOp()) ? OpFoldResult() : OpFoldResult(getSum());
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks that the loops that `contraction` names have the required iterator types.
static LogicalResult verifyLoops(ContractOp op) {
  ContractionAttr contraction = op.getContraction();
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  if (loops.empty() || loops.back() != utils::IteratorType::parallel || op.getNumReductionLoops() == 0)
    return op.emitOpError("has ") << loops.size()
                                  << " loops, expected summed ones and the columns of the result as last";
  if (AffineMap map = op.getMatchingIndexingMap(&op.getInitMutable()); !map.isProjectedPermutation())
    return op.emitOpError("has indices ") << AffineMapAttr::get(map) << " of its result, expected loops";
  int64_t columns = loops.size() - 1, row = contraction.getRow(), inner = contraction.getInner();
  if (row >= columns || (row >= 0 && loops[row] != utils::IteratorType::parallel))
    return op.emitOpError("has loop ") << row << " as rows, expected a parallel one before the columns";
  if (inner >= columns || (inner >= 0 && loops[inner] != utils::IteratorType::reduction))
    return op.emitOpError("has loop ") << inner << " as 'inner', expected a summed one";
  size_t tile = op.getSchedule() ? op.getSchedule()->getTile().size() : 0;
  if (tile != 0 && tile != loops.size())
    return op.emitOpError("has ") << loops.size() << " loops, but the tile of its schedule " << tile;
  return success();
}

/// Checks that the number and types of the factors match the kind of the contraction.
static LogicalResult verifyFactors(ContractOp op) {
  ContractionKind kind = op.getContraction().getKind();
  StringRef name = stringifyContractionKind(kind);
  auto yield = dyn_cast<linalg::YieldOp>(op.getBody()->getTerminator());
  auto sum = yield && yield.getNumOperands() == 1 ? yield.getOperand(0).getDefiningOp<SumOp>() : SumOp();
  if (!sum || sum->getParentOp() != op)
    return op.emitOpError("does not yield a kernel.sum of its body");
  bool hasTerms = kind == ContractionKind::bf16_terms || kind == ContractionKind::i8_terms;
  size_t terms = hasTerms ? 3 : 1; // math: those that have all bits of an f32
  bool hasGroups = kind == ContractionKind::integer_groups;
  if (hasGroups && sum.getLhs().size() != 2)
    return op.emitOpError("has ") << sum.getLhs().size() << " elements of its LHS, expected a number and its scale for "
                                  << name;
  for (OperandRange factors : {sum.getLhs(), sum.getRhs()})
    if (factors.empty() || (factors.size() > terms && !(hasGroups && factors == sum.getLhs())))
      return op.emitOpError("has ") << factors.size() << " elements of a factor, expected "
                                    << (terms == 1 ? "1 for " : "1 to 3 for ") << name;
  if (kind == ContractionKind::i8_terms && sum.getLhs().size() != sum.getRhs().size())
    return op.emitOpError("has ") << sum.getLhs().size() << " terms of its LHS and " << sum.getRhs().size()
                                  << " of its RHS, expected as many for " << name;
  bool isDequantized = kind == ContractionKind::dequantized || hasGroups;
  if (bool(sum.getNumber()) != isDequantized || (sum.getScale() && !isDequantized))
    return op.emitOpError("has ") << (sum.getNumber() || sum.getScale() ? "a number or a scale" : "no number")
                                  << " of a dequantized factor, but is of kind " << name;
  if (hasGroups && !sum.getScale())
    return op.emitOpError("has no scale of its RHS, as contractions of kind ") << name << " have";
  bool isInteger =
      kind == ContractionKind::i8_dot4 || kind == ContractionKind::i8_columnwise || kind == ContractionKind::i16_pairs;
  if (isInteger != isa<IntegerType>(sum.getType()))
    return op.emitOpError("sums ") << sum.getType() << ", which contractions of kind " << name << " do not";
  return success();
}

/// Checks that the RHS, if it is an operand, has the panels that `contraction` specifies, and does not depend on the
/// rows.
static LogicalResult verifyLayout(ContractOp op) {
  ContractionAttr contraction = op.getContraction();
  AffineExpr column = getAffineDimExpr(op.getNumLoops() - 1, op.getContext());
  for (Value element : op.getSum().getRhs()) {
    auto argument = dyn_cast<BlockArgument>(element);
    if (!argument || argument.getOwner() != op.getBody())
      continue;
    AffineMap map = op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
    if (int64_t panel = contraction.getPanel();
        panel > 1 && !llvm::is_contained(map.getResults(), column.floorDiv(panel)))
      return op.emitOpError("has panels of ")
             << panel << " columns, but indices " << AffineMapAttr::get(map) << " of its RHS";
    if (int64_t row = contraction.getRow(); row >= 0 && map.isFunctionOfDim(row))
      return op.emitOpError("has loop ") << row << " as rows, but indices " << AffineMapAttr::get(map) << " of its RHS";
  }
  return success();
}

LogicalResult ContractOp::verifyRegions() {
  return success(succeeded(verifyLoops(*this)) && succeeded(verifyFactors(*this)) && succeeded(verifyLayout(*this)));
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> ContractOp::getLoopIteratorTypes() { return getIteratorTypesArray(); }

SmallVector<Range> ContractOp::getIterationDomain(OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(*this);
  auto op = cast<linalg::LinalgOp>(getOperation());
  SmallVector<OpFoldResult> shapes = op.createFlatListOfOperandDims(b, getLoc());
  SmallVector<Range> domain;
  for (AffineExpr extent : op.getShapesToLoopsMap().getResults())
    domain.push_back(
        {b.getIndexAttr(0), affine::makeComposedFoldedAffineApply(b, getLoc(), extent, shapes), b.getIndexAttr(1)});
  return domain;
}

/// Creates the slices of all operands that the tile reads, and the same body, whose indices begin at `offsets`.
FailureOr<TilingResult> ContractOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                                           ArrayRef<OpFoldResult> sizes) {
  assert(offsets.size() == getIteratorTypesArray().size() && sizes.size() == offsets.size() &&
         "a tile has an offset and a size for each loop");
  auto op = cast<linalg::LinalgOp>(getOperation());
  SmallVector<Value> operands = linalg::makeTiledShapes(b, getLoc(), op, getOperation()->getOperands(), offsets, sizes,
                                                        /*sizeBounds=*/{}, /*omitPartialTileCheck=*/true);
  SmallVector<Operation *> slices;
  for (Value operand : operands)
    if (auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>())
      slices.push_back(slice);
  Operation *tile = mlir::clone(b, getOperation(), linalg::getTensorOutputTypes(op, operands), operands);
  linalg::offsetIndices(b, cast<linalg::LinalgOp>(tile), offsets);
  return TilingResult{{tile}, SmallVector<Value>(tile->getResults()), slices};
}

LogicalResult ContractOp::getResultTilePosition(OpBuilder &b, unsigned, ArrayRef<OpFoldResult> offsets,
                                                ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
                                                SmallVector<OpFoldResult> &resultSizes) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  SmallVector<OpFoldResult> last = llvm::map_to_vector(
      sizes, [&](OpFoldResult size) { return affine::makeComposedFoldedAffineApply(b, getLoc(), d0 - 1, size); });
  AffineMap map = getMatchingIndexingMap(&getInitMutable());
  linalg::SliceParameters slice = linalg::computeSliceParameters(b, getLoc(), getInit(), sizes, map, offsets,
                                                                 /*ubs=*/{}, last, /*omitPartialTileCheck=*/true);
  resultOffsets = slice.offsets;
  resultSizes = slice.sizes;
  return success();
}

LogicalResult ContractOp::getIterationDomainTileFromResultTile(OpBuilder &b, unsigned, ArrayRef<OpFoldResult> offsets,
                                                               ArrayRef<OpFoldResult> sizes,
                                                               SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                               SmallVectorImpl<OpFoldResult> &domainSizes) {
  AffineMap map = getMatchingIndexingMap(&getInitMutable());
  assert(map.isProjectedPermutation() && "the indices of a result are loops");
  assert(offsets.size() == map.getNumResults() && sizes.size() == offsets.size() &&
         "a tile of the result has an offset and a size in each dimension");
  for (Range range : getIterationDomain(b)) {
    domainOffsets.push_back(range.offset);
    domainSizes.push_back(range.size);
  }
  for (auto [index, offset, size] : llvm::zip(map.getResults(), offsets, sizes)) {
    unsigned loop = cast<AffineDimExpr>(index).getPosition();
    domainOffsets[loop] = offset;
    domainSizes[loop] = size;
  }
  return success();
}

FailureOr<TilingResult> ContractOp::generateResultTileValue(OpBuilder &b, unsigned number,
                                                            ArrayRef<OpFoldResult> offsets,
                                                            ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(b, number, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(b, domainOffsets, domainSizes);
}
