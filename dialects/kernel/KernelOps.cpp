//===- KernelOps.cpp - checks of the kernel dialect's operations ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon::kernel;

/// The alignment of scratch memory in bytes: a cache line, and a whole vector on every target.
static constexpr int64_t kScratchAlignment = 64; // format: of scratch

LogicalResult WinogradOp::verify() {
  for (auto [value, what] :
       {std::pair<Value, StringRef>(getInput(), "input"), {getFilter(), "filter"}, {getInit(), "destination"}})
    if (auto type = cast<ShapedType>(value.getType()); !type.hasRank() || type.getRank() != 4)
      return emitOpError("has ") << type << " as " << what << ", expected four dimensions";
  bool isOnTensors = isa<RankedTensorType>(getInit().getType());
  for (Value operand : {getInput(), getFilter()})
    if (isa<RankedTensorType>(operand.getType()) != isOnTensors)
      return emitOpError("mixes tensors and buffers");
  if (getNumResults() != (isOnTensors ? 1 : 0) || (isOnTensors && getResult()[0].getType() != getInit().getType()))
    return emitOpError("has results that are not the destination's: one on tensors, none on buffers");
  if (getOffsets().size() != 4)
    return emitOpError("has ") << getOffsets().size() << " offsets, expected batch, row, column and filter";
  if (getLow().size() != 2 || llvm::any_of(getLow(), [](int64_t low) { return low < 0; }))
    return emitOpError("has ") << getLowAttr() << " as 'low', expected the padding before rows and columns";
  int64_t outputs = getOutputs(), window = getWindow();
  if (outputs < 1 || window < 1)
    return emitOpError("has squares of ") << outputs << " outputs for a window of " << window;
  int64_t side = outputs + window - 1, products = cast<ShapedType>(getFilter().getType()).getDimSize(1);
  if (products != side * side)
    return emitOpError("has a filter of ")
           << products << " products, expected " << side * side << " for 'outputs' and 'window'";
  auto filter = cast<ShapedType>(getFilter().getType());
  if (filter.getElementType().isBF16() && filter.getDimSize(3) % 2 != 0)
    return emitOpError("has a filter of ") << filter.getDimSize(3) << " columns, expected pairs of bf16";
  if (getTile().size() != 3 || llvm::any_of(getTile(), [](int64_t size) { return size < 1; }))
    return emitOpError("has ") << getTileAttr() << " as 'tile', expected rows, columns and filters";
  if (getTile()[0] % outputs != 0 || getTile()[1] % outputs != 0)
    return emitOpError("has tiles of ") << getTile()[0] << " by " << getTile()[1] << ", expected whole squares of "
                                        << outputs;
  return success();
}

LogicalResult ScratchOp::verify() {
  if (static_cast<int64_t>(getOffset()) < 0 || getOffset() % kScratchAlignment != 0)
    return emitOpError("is at offset ") << static_cast<int64_t>(getOffset()) << ", expected a multiple of "
                                        << kScratchAlignment;
  auto type = cast<MemRefType>(getMemory().getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitOpError("has type ") << type << ", expected a contiguous memref with a static shape";
  return success();
}

LogicalResult PrefetchOp::verify() {
  if (cast<RankedTensorType>(getRows().getType()).hasStaticShape())
    return success();
  return emitOpError("needs a matrix of known extents, not ") << getRows().getType();
}

LogicalResult CheckIndicesOp::verify() {
  if (isa<FunctionOpInterface>((*this)->getParentOp()))
    return success();
  InFlightDiagnostic diagnostic = emitOpError("is not in a function's own block, which it would return from");
  diagnostic.attachNote((*this)->getParentOp()->getLoc()) << "it is in this operation";
  return diagnostic;
}
