//===- Merged.cpp - kernels that are one launch ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"

using namespace mlir;
using namespace tenon::kernel;

/// The alignment of slots: what kernels rely on for buffers in the arena.
static constexpr int64_t kSlotAlignment = 64; // format: of scratch

int64_t MergedOp::getSlotOffset(size_t slot) {
  assert(slot <= getSlots().size() && "an offset is that of a slot, or their end");
  auto offset = static_cast<int64_t>(getScratch());
  for (int64_t bytes : getSlots().take_front(slot))
    offset = llvm::alignTo(offset, kSlotAlignment) + bytes;
  return llvm::alignTo(offset, kSlotAlignment);
}

func::FuncOp MergedOp::lookUp(PartAttr part) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, part.getKernel());
}

LogicalResult MergedOp::verify() {
  int64_t buffers = getBuffers(), sizes = getSizes(), slots = getSlots().size();
  if (llvm::any_of(getSlots(), [](int64_t bytes) { return bytes <= 0; }))
    return emitOpError("has slots of ") << getSlotsAttr() << " bytes, expected numbers above 0";
  bool hasTiles = false;
  for (PartAttr part : listParts()) {
    if (llvm::any_of(part.getBuffers(), [&](int64_t i) { return i < 0 || i >= buffers + slots; }))
      return emitOpError("has a part ") << part << " with a buffer that is none of " << buffers << " and " << slots
                                        << " slots";
    if (llvm::any_of(part.getSizes(), [&](int64_t i) { return i < 0 || i >= sizes; }))
      return emitOpError("has a part ") << part << " with a size that is none of " << sizes;
    if (part.getMode() == PartMode::along && !hasTiles)
      return emitOpError("has a part ") << part << " before any with 'tiles'";
    // Other threads would read what their own first call has not computed yet.
    if (part.getMode() == PartMode::whole && hasTiles)
      return emitOpError("has a part ") << part << " behind one with 'tiles'";
    hasTiles |= part.getMode() == PartMode::tiles;
  }
  return getParts().empty() ? emitOpError("has no parts") : success();
}

LogicalResult MergedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (PartAttr part : listParts()) {
    auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, part.getKernel());
    if (!kernel)
      return emitOpError("has a part ") << part.getKernel() << ", but there is no such function";
    size_t buffers = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<ShapedType>);
    // The last two arguments are the range of tiles.
    size_t others = kernel.getNumArguments() - buffers;
    if (buffers != part.getBuffers().size() || others != part.getSizes().size() + 2)
      return emitOpError("has a part ") << part << " that does not fit the arguments of its kernel";
  }
  return success();
}
