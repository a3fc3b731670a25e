//===- Winograd.cpp - tiles of Winograd convolutions ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tenon::kernel;

void WinogradOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand *operand : {&getInputMutable(), &getFilterMutable()})
    if (isa<MemRefType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand);
  if (isa<MemRefType>(getInit().getType()))
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable());
}

SmallVector<utils::IteratorType> WinogradOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel);
}

SmallVector<Range> WinogradOp::getIterationDomain(OpBuilder &b) {
  SmallVector<Range> ranges;
  for (OpFoldResult size : tensor::getMixedSizes(b, getLoc(), getInit()))
    ranges.push_back({b.getIndexAttr(0), size, b.getIndexAttr(1)});
  return ranges;
}

FailureOr<TilingResult> WinogradOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                                           ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
  auto init = tensor::ExtractSliceOp::create(b, getLoc(), getInit(), offsets, sizes, strides);
  SmallVector<Value> places;
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  for (auto [own, more] : llvm::zip(getOffsets(), offsets))
    places.push_back(getValueOrCreateConstantIndexOp(
        b, getLoc(), affine::makeComposedFoldedAffineApply(b, getLoc(), s0 + s1, {getAsOpFoldResult(own), more})));
  auto tile = WinogradOp::create(b, getLoc(), TypeRange(init.getType()), getInput(), getFilter(), init, places,
                                 getLow(), getOutputs(), getWindow(), getTile());
  tile->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  return TilingResult{{tile}, SmallVector<Value>(tile.getResult()), {init}};
}

LogicalResult WinogradOp::getResultTilePosition(OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
                                                ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
                                                SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult> WinogradOp::generateResultTileValue(OpBuilder &b, unsigned, ArrayRef<OpFoldResult> offsets,
                                                            ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(b, offsets, sizes);
}
