//===- K4Groups.cpp - groups of four int8 in a vector ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/K4Groups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

static Value splat(OpBuilder &b, Location loc, VectorType type, int64_t number) {
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
}

Value tenon::broadcastK4Group(OpBuilder &b, Location loc, Value group, int64_t lanes) {
  Value groups = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), group);
  return vector::BitCastOp::create(b, loc, VectorType::get({4 * lanes}, b.getI8Type()), groups);
}

/// Extracts byte i of each wide element by a shift to the top and a shift down again.
template <typename ShiftDown>
static SmallVector<Value> splitBytes(OpBuilder &b, Location loc, VectorType wideType, Value groups) {
  Value wide = vector::BitCastOp::create(b, loc, wideType, groups);
  int64_t highest = wideType.getElementTypeBitWidth() - 8;
  Value down = splat(b, loc, wideType, highest);
  SmallVector<Value> parts;
  for (int64_t up = highest; up >= 0; up -= 8) {
    Value top = up ? arith::ShLIOp::create(b, loc, wide, splat(b, loc, wideType, up)).getResult() : wide;
    parts.push_back(ShiftDown::create(b, loc, top, down));
  }
  return parts;
}

SmallVector<Value> tenon::splitSignedK4Groups(OpBuilder &b, Location loc, VectorType wide, Value groups) {
  return splitBytes<arith::ShRSIOp>(b, loc, wide, groups);
}

SmallVector<Value> tenon::splitUnsignedK4Groups(OpBuilder &b, Location loc, VectorType wide, Value groups) {
  return splitBytes<arith::ShRUIOp>(b, loc, wide, groups);
}

Value tenon::widenK4Groups(OpBuilder &b, Location loc, Value groups) {
  int64_t count = cast<VectorType>(groups.getType()).getNumElements() / 4;
  auto type = VectorType::get({count}, b.getI64Type());
  Value wide = vector::BitCastOp::create(b, loc, VectorType::get({count}, b.getI32Type()), groups);
  wide = arith::ExtUIOp::create(b, loc, type, wide);
  Value even = arith::AndIOp::create(b, loc, wide, splat(b, loc, type, 0x00FF00FF));
  Value odd = arith::AndIOp::create(b, loc, wide, splat(b, loc, type, 0xFF00FF00));
  odd = arith::ShLIOp::create(b, loc, odd, splat(b, loc, type, 24));
  return vector::BitCastOp::create(b, loc, VectorType::get({4 * count}, b.getI16Type()),
                                   arith::OrIOp::create(b, loc, even, odd));
}

Value tenon::callX86Vector(OpBuilder &b, Location loc, Type type, int64_t bits, ArrayRef<StringRef> names,
                           ValueRange operands) {
  assert(names.size() == 3 && "an instruction has a name for 512, for 256 and for 128 bits");
  StringRef name = names[bits == 512 ? 0 : bits == 256 ? 1 : 2];
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
}

Value tenon::addPmaddWd(OpBuilder &b, Location loc, Value sums, Value x, Value y) {
  auto type = cast<VectorType>(sums.getType());
  Value products =
      callX86Vector(b, loc, type, type.getNumElements() * 32,
                    {"llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx2.pmadd.wd", "llvm.x86.sse2.pmadd.wd"}, {x, y});
  return arith::AddIOp::create(b, loc, sums, products);
}
