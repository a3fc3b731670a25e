//===- Alignment.cpp - what offsets of activations are multiples of -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Alignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "runtime/format/Kernel.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace tenon;

static constexpr int64_t kBlock = TENON_BUFFER_ALIGNMENT; // format: alignment of buffers
/// From here on an activation is large.
static constexpr int64_t kLarge = 4096; // format: alignment of buffers

static int64_t getPowerOfTwo(int64_t value) {
  return int64_t(1) << std::min(llvm::countr_zero(static_cast<uint64_t>(value)), llvm::countr_zero(uint64_t(kBlock)));
}

int64_t Alignment::get(int64_t size, int64_t divisor) { return size >= kLarge ? kBlock : divisor; }

int64_t Alignment::getDivisor(Value value) {
  if (auto it = divisors.find(value); it != divisors.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  int64_t divisor = 1;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    divisor = getPowerOfTwo(*known);
  else if (op && op->getNumOperands() == 2) {
    int64_t x = getDivisor(op->getOperand(0)), y = getDivisor(op->getOperand(1));
    if (isa<arith::MulIOp>(op))
      divisor = std::min(x * y, kBlock);
    else if (isa<arith::AddIOp, arith::SubIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      divisor = std::min(x, y);
  }
  assert(divisor > 0 && kBlock % divisor == 0 && "divisors are powers of two up to the alignment of buffers");
  return divisors[value] = divisor;
}

Value Alignment::roundUp(OpBuilder &b, Location loc, Value value, Value size) {
  assert(value.getType().isIndex() && size.getType().isIndex() && "bytes are counted as index");
  auto makeConstant = [&](int64_t number) { return arith::ConstantIndexOp::create(b, loc, number).getResult(); };
  auto roundTo = [&](int64_t alignment) -> Value {
    if (getDivisor(value) >= alignment)
      return value;
    Value count = b.createOrFold<arith::CeilDivSIOp>(loc, value, makeConstant(alignment));
    return b.createOrFold<arith::MulIOp>(loc, count, makeConstant(alignment));
  };
  std::optional<int64_t> known = getConstantIntValue(size);
  int64_t divisor = getDivisor(size);
  if (known || divisor == kBlock)
    return roundTo(get(known.value_or(0), divisor));
  // Returns the smaller rounding, except for large sizes, to which it adds at least a block.
  Value blocks = roundTo(kBlock), least = roundTo(divisor);
  if (blocks == least)
    return blocks;
  Value number = b.createOrFold<arith::FloorDivSIOp>(loc, size, makeConstant(kLarge));
  Value added = b.createOrFold<arith::MulIOp>(loc, number, makeConstant(kBlock));
  return b.createOrFold<arith::MinSIOp>(loc, blocks, b.createOrFold<arith::AddIOp>(loc, least, added));
}
