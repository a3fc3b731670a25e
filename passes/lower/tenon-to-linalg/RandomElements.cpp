//===- RandomElements.cpp - random bits of one element -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/tenon-to-linalg/ElementEmitter.h"
#include <array>

using namespace mlir;
using namespace tenon;

namespace {
/// Emits the Philox generator on four 32-bit words with a key of two words.
class Philox {
public:
  Philox(OpBuilder &b, Location loc, Value key, std::array<Value, 4> counter) : b(b), loc(loc), counter(counter) {
    keys = {getWord(key, 0), getWord(key, 32)};
  }

  /// Extracts 32 bits of a 64-bit number from bit `shift` on.
  Value getWord(Value number, unsigned shift) {
    if (shift)
      number = arith::ShRUIOp::create(b, loc, number, constant(b.getI64Type(), shift));
    return arith::TruncIOp::create(b, loc, b.getI32Type(), number);
  }
  Value constant(Type type, uint64_t value) {
    APInt bits(type.getIntOrFloatBitWidth(), value, false, true);
    return arith::ConstantOp::create(b, loc, IntegerAttr::get(type, bits));
  }

  Value run() {
    for (unsigned round = 0; round < 10; ++round) {
      if (round)
        keys = {arith::AddIOp::create(b, loc, keys[0], constant(b.getI32Type(), 0x9E3779B9)),
                arith::AddIOp::create(b, loc, keys[1], constant(b.getI32Type(), 0xBB67AE85))};
      auto [c0, c1, c2, c3] = counter;
      Value p0 = multiply(c0, 0xD2511F53), p1 = multiply(c2, 0xCD9E8D57);
      counter = {mix(getWord(p1, 32), c1, keys[0]), getWord(p1, 0), mix(getWord(p0, 32), c3, keys[1]), getWord(p0, 0)};
    }
    return counter[0];
  }

private:
  Value multiply(Value word, uint32_t factor) {
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), word);
    return arith::MulIOp::create(b, loc, wide, constant(b.getI64Type(), factor));
  }
  Value mix(Value x, Value y, Value z) { return arith::XOrIOp::create(b, loc, arith::XOrIOp::create(b, loc, x, y), z); }

  OpBuilder &b;
  Location loc;
  std::array<Value, 4> counter;
  std::array<Value, 2> keys;
};
} // namespace

FailureOr<Value> ElementEmitter::emitElement(RandomBitsOp op, ArrayRef<AffineExpr> indices) {
  FailureOr<Value> key = emit(op.getKey(), {});
  if (failed(key))
    return failure();
  AffineExpr number = getDimConstant(loc.getContext(), 0);
  for (auto [dim, index] : llvm::zip(getDims(op.getType()), indices))
    number = addDims(mulDims(number, dim), index);
  Value element = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), materialize(number));
  Value stream = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(op.getStream()));
  Philox philox(builder, loc, *key, {});
  return Philox(builder, loc, *key,
                {philox.getWord(element, 0), philox.getWord(element, 32), philox.getWord(stream, 0),
                 philox.getWord(stream, 32)})
      .run();
}
