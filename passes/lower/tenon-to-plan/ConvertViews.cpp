//===- ConvertViews.cpp - parts of other tensors' memory ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice that is left over lies in its input's memory. The inputs of a concat
// that is left over are computed where its result lies, or copied there.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/tenon-to-plan/Conversion.h"

using namespace mlir;
using namespace tenon;

Value Conversion::createPart(Value buffer, Value offset, Value size, Location loc) {
  assert(buffer && "a value has memory before a part of it is used");
  if (auto alias = buffer.getDefiningOp<plan::AliasOp>()) {
    offset = atStart.createOrFold<arith::AddIOp>(loc, alias.getOffset(), offset);
    buffer = alias.getSource();
  }
  return plan::AliasOp::create(b, loc, plan::BufferType::get(b.getContext()), buffer, offset, size, StringAttr());
}

/// Returns the parts of a concat's memory that its inputs occupy.
SmallVector<Value> Conversion::createParts(ConcatOp concat) {
  Value &whole = buffers[concat];
  if (!whole)
    whole = createAlloc(concat);
  Value memory = whole, offset = sizes.build(getDimConstant(b.getContext(), 0));
  SmallVector<Value> parts;
  for (Value input : concat.getInputs()) {
    Value bytes = getBytes(input);
    parts.push_back(createPart(memory, offset, bytes, input.getLoc()));
    offset = atStart.createOrFold<arith::AddIOp>(concat.getLoc(), offset, bytes);
  }
  return parts;
}

/// Allocates memory for those concats of a block whose sizes are known before the block runs, and assigns parts of it
/// to inputs that have no other memory.
void Conversion::placeParts(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    auto concat = dyn_cast<ConcatOp>(op);
    if (!concat || !llvm::all_of(concat.getInputs(), [&](Value input) { return isKnownEarly(getDims(input)); }))
      continue;
    SmallVector<Value> &parts = partsOf[concat] = createParts(concat);
    for (auto [input, part] : llvm::zip(concat.getInputs(), parts)) {
      Value source = getReshaped(input);
      Operation *definition = source.getDefiningOp();
      if (definition && (definition->hasTrait<LaunchLike>() || isa<ConcatOp>(definition)) &&
          definition->getBlock() == &block && !buffers.contains(source))
        buffers[source] = part;
    }
  }
}

void Conversion::convertConcat(ConcatOp concat) {
  auto [it, isNew] = partsOf.try_emplace(concat);
  if (isNew)
    it->second = createParts(concat);
  for (auto [input, part] : llvm::zip(concat.getInputs(), it->second))
    if (Value buffer = buffers.lookup(input); buffer != part)
      createCopy(buffer, part, getBytes(input), concat.getLoc());
}

void Conversion::convertSlice(SliceOp slice) {
  int64_t bytes = llvm::divideCeil(slice.getType().getElementTypeBitWidth(), 8);
  Value offset = sizes.build(mulDims(getOffset(slice), getDimConstant(b.getContext(), bytes)));
  buffers[slice] = createPart(buffers.lookup(slice.getInput()), offset, getBytes(slice), slice.getLoc());
}
