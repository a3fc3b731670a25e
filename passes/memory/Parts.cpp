//===- Parts.cpp - which bytes of which buffer a value is -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Parts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tenon;

Part tenon::getPart(Value buffer) {
  auto alias = buffer.getDefiningOp<plan::AliasOp>();
  if (!alias) {
    auto alloc = buffer.getDefiningOp<plan::AllocOp>();
    return {buffer, buffer, 0, alloc ? getConstantIntValue(alloc.getSize()) : std::nullopt, buffer};
  }
  Part part = getPart(alias.getSource());
  std::optional<int64_t> offset = getConstantIntValue(alias.getOffset()), size = getConstantIntValue(alias.getSize());
  part.buffer = buffer;
  part.begin = part.begin && offset ? std::optional(*part.begin + *offset) : std::nullopt;
  part.end = part.begin && size ? std::optional(*part.begin + *size) : std::nullopt;
  if (alias.getName())
    part.holder = buffer;
  return part;
}

bool tenon::overlap(const Part &a, const Part &b) {
  // Accesses of zero bytes still order launches that write and read the buffer.
  if (a.buffer == b.buffer)
    return true;
  auto isBefore = [](const Part &x, const Part &y) { return x.end && y.begin && *x.end <= *y.begin; };
  return !isBefore(a, b) && !isBefore(b, a);
}
