//===- ControlOps.cpp - checks of branches, loops and bound symbols --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

std::optional<Dims> tenon::getKnownElements(Value value) {
  if (auto sizes = value.getDefiningOp<SizesOp>())
    return Dims(sizes.getValues().getDims());
  auto weight = value.getDefiningOp<WeightOp>();
  auto elements = weight ? dyn_cast<DenseIntElementsAttr>(weight.getValue()) : DenseIntElementsAttr();
  if (!elements)
    return std::nullopt;
  Dims dims;
  for (const APInt &element : elements)
    dims.push_back(getDimConstant(value.getContext(), element.getSExtValue()));
  return dims;
}

/// Verifies that the symbols that an operation binds have distinct names. An empty name binds nothing.
static LogicalResult verifySymbols(Operation *op, std::optional<ArrayAttr> symbols) {
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute symbol : symbols.value_or(ArrayAttr::get(op->getContext(), {})))
    if (!cast<StringAttr>(symbol).empty() && !seen.insert(symbol).second)
      return op->emitOpError("binds the symbol ") << symbol << " twice";
  return success();
}

LogicalResult BindOp::verify() {
  auto type = cast<RankedTensorType>(getValues().getType());
  int64_t count = getSymbols().size();
  if (type.getRank() > 1 || !type.hasStaticShape() || type.getNumElements() != count)
    return emitOpError("binds ") << count << " symbols to a tensor of " << dimsToString(getDims(type))
                                 << "; it takes a vector with one element for each";
  if (getBounds() && static_cast<int64_t>(getBounds()->getDims().size()) != count)
    return emitOpError("has ") << getBounds()->getDims().size() << " bounds for " << count << " symbols";
  return verifySymbols(*this, getSymbols());
}

/// Checks that a terminator yields the result types of the operation around it.
static LogicalResult checkYield(Operation *op, Block &block, TypeRange wanted) {
  auto refuse = [&] {
    InFlightDiagnostic diagnostic = op->emitOpError("has a body that ");
    diagnostic.attachNote(block.getTerminator()->getLoc()) << "the body ends here";
    return diagnostic;
  };
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return refuse() << "does not end in tenon.yield";
  TypeRange types = yield.getValues().getTypes();
  if (types.size() != wanted.size())
    return refuse() << "yields " << types.size() << " values, not " << wanted.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(types, wanted))) {
    auto type = cast<RankedTensorType>(std::get<0>(pair)), other = cast<RankedTensorType>(std::get<1>(pair));
    if (type.getElementType() != other.getElementType() || type.getRank() != other.getRank())
      return refuse() << "yields " << type << " as value " << i << ", not " << other;
  }
  return success();
}

LogicalResult DispatchOp::verifyRegions() { return checkYield(*this, getBody().front(), getResultTypes()); }

LogicalResult IfOp::verify() { return verifySymbols(*this, getSymbols()); }

LogicalResult IfOp::verifyRegions() {
  if (failed(checkYield(*this, getThenBody().front(), getResultTypes())))
    return failure();
  return checkYield(*this, getElseBody().front(), getResultTypes());
}

LogicalResult LoopOp::verify() {
  if (getInits().size() != getNumResults())
    return emitOpError("carries ") << getInits().size() << " values, but results in " << getNumResults();
  if (getTrips() && getTrips()->getDims().size() != 1)
    return emitOpError("has ") << getTrips()->getDims().size() << " numbers of trips, expected one";
  return verifySymbols(*this, getSymbols());
}

LogicalResult LoopOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getResultTypes())
    return emitOpError("has results of other types than its body's arguments");
  SmallVector<Type> yielded{getCondition().getType()};
  llvm::append_range(yielded, getResultTypes());
  return checkYield(*this, body, yielded);
}

LogicalResult AppendOp::verify() {
  Dims input = getDims(getInput()), slice = getDims(getSlice()), result = getDims(getResult());
  if (getElementTypeOrSelf(getInput()) != getElementTypeOrSelf(getSlice()) ||
      getElementTypeOrSelf(getInput()) != getElementTypeOrSelf(getResult()))
    return emitOpError("joins tensors of different element types");
  if (input.size() != slice.size() + 1 || result.size() != input.size())
    return emitOpError("takes a slice of one dimension less than its input");
  return success();
}
