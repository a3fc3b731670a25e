//===- QuadProducts.cpp - sums of products of unsigned with signed bytes --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/QuadProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

static Value splat(OpBuilder &b, Location loc, VectorType type, int64_t number) {
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
}

bool tenon::takesWholeQuads(Int8Dot form) { return form == Int8Dot::Vnni || form == Int8Dot::PmaddUbsw; }

/// Vectors of 32 bits as such of the elements that products are of, where those are not bytes.
static VectorType getWideType(OpBuilder &b, Int8Dot form, int64_t lanes) {
  return form == Int8Dot::PmaddWd ? VectorType::get({2 * lanes}, b.getI16Type())
                                  : VectorType::get({lanes}, b.getI32Type());
}

/// Part i has byte i of each wide element: shifted to the top and down again.
template <typename ShiftDown>
static SmallVector<Value> splitBytes(OpBuilder &b, Location loc, VectorType wideType, Value quads) {
  Value wide = vector::BitCastOp::create(b, loc, wideType, quads);
  int64_t highest = wideType.getElementTypeBitWidth() - 8;
  Value down = splat(b, loc, wideType, highest);
  SmallVector<Value> parts;
  for (int64_t up = highest; up >= 0; up -= 8) {
    Value top = up ? arith::ShLIOp::create(b, loc, wide, splat(b, loc, wideType, up)).getResult() : wide;
    parts.push_back(ShiftDown::create(b, loc, top, down));
  }
  return parts;
}

SmallVector<Value> tenon::splitSigned(OpBuilder &b, Location loc, Int8Dot form, Value quads) {
  if (takesWholeQuads(form))
    return {quads};
  int64_t lanes = cast<VectorType>(quads.getType()).getNumElements() / 4;
  return splitBytes<arith::ShRSIOp>(b, loc, getWideType(b, form, lanes), quads);
}

SmallVector<Value> tenon::splitUnsigned(OpBuilder &b, Location loc, Int8Dot form, Value quad, int64_t lanes) {
  Value words = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI32Type()), quad);
  Value bytes = vector::BitCastOp::create(b, loc, VectorType::get({4 * lanes}, b.getI8Type()), words);
  if (takesWholeQuads(form))
    return {bytes};
  return splitBytes<arith::ShRUIOp>(b, loc, getWideType(b, form, lanes), bytes);
}

Value tenon::widenQuads(OpBuilder &b, Location loc, Value quads) {
  int64_t count = cast<VectorType>(quads.getType()).getNumElements() / 4;
  auto type = VectorType::get({count}, b.getI64Type());
  Value wide = vector::BitCastOp::create(b, loc, VectorType::get({count}, b.getI32Type()), quads);
  wide = arith::ExtUIOp::create(b, loc, type, wide);
  Value even = arith::AndIOp::create(b, loc, wide, splat(b, loc, type, 0x00FF00FF));
  Value odd = arith::AndIOp::create(b, loc, wide, splat(b, loc, type, 0xFF00FF00));
  odd = arith::ShLIOp::create(b, loc, odd, splat(b, loc, type, 24));
  return vector::BitCastOp::create(b, loc, VectorType::get({4 * count}, b.getI16Type()),
                                   arith::OrIOp::create(b, loc, even, odd));
}

Value tenon::addProducts(OpBuilder &b, Location loc, Int8Dot form, Value sums, Value isUnsigned, Value isSigned) {
  auto call = [&](Type type, const Twine &name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
  };
  auto sumsType = cast<VectorType>(sums.getType());
  int64_t lanes = sumsType.getNumElements(), bits = lanes * 32;
  // The names of one instruction in AVX-512, AVX2 and before.
  auto choose = [&](StringRef longest, StringRef usual, StringRef shortest) {
    return bits == 512 ? longest : bits == 256 ? usual : shortest;
  };
  if (form == Int8Dot::Vnni)
    return call(sumsType, "llvm.x86.avx512.vpdpbusd." + Twine(bits), {sums, isUnsigned, isSigned});
  if (form == Int8Dot::Scalar)
    return arith::AddIOp::create(b, loc, sums, arith::MulIOp::create(b, loc, isUnsigned, isSigned));
  if (form == Int8Dot::PmaddUbsw) {
    auto words = VectorType::get({2 * lanes}, b.getI16Type());
    StringRef name =
        choose("llvm.x86.avx512.pmaddubs.w.512", "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.ssse3.pmadd.ub.sw.128");
    isUnsigned = call(words, name, {isUnsigned, isSigned});
    isSigned = splat(b, loc, words, 1);
  }
  StringRef name = choose("llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx2.pmadd.wd", "llvm.x86.sse2.pmadd.wd");
  return arith::AddIOp::create(b, loc, sums, call(sumsType, name, {isUnsigned, isSigned}));
}
