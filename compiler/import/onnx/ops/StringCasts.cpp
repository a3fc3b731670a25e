//===- StringCasts.cpp - numbers as text, and back ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/StringCasts.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "mlir/IR/BuiltinTypes.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

/// The bytes that the kernels reserve for each number (library/numbers.c).
static constexpr int64_t kSlot = 32;

LogicalResult onnx_import::castToStrings(Node &n, Value x) {
  Type type = n.elementType(x);
  if (type.isInteger(1))
    return setStrings(n, 0, takeStrings(n, makeStrings(n, Texts{"False", "True"}, 2), n.cast(x, n.i64())));
  bool isFloat = isa<FloatType>(type), isWide = type.isUnsignedInteger(64);
  AffineExpr count = getElementCount(n.getContext(), n.dims(x));
  Value list = n.reshape(isWide ? n.bitcast(x, n.i64()) : n.cast(x, isFloat ? n.f64() : n.i64()), count);
  Value flag = n.constantInts(isFloat ? !type.isF64() : isWide, 1, n.i64());
  auto bytes = IntegerType::get(n.getContext(), 8, IntegerType::Unsigned);
  SmallVector<Value> slots = n.call(isFloat ? "tenon_write_numbers" : "tenon_write_integers", {list, flag},
                                    {{mulDims(count, n.constantDim(kSlot)), bytes}, {count, n.i64()}});
  Value begins = n.mul(n.iota(count, 0, n.i64()), n.constantInts(kSlot, {}, n.i64()));
  return setStrings(n, 0, gatherRanges(n, slots[0], begins, slots[1], n.dims(x)));
}

static LogicalResult castFromStrings(Node &n, const Strings &s, Type to) {
  bool isFloat = isa<FloatType>(to);
  Value list = n.call(isFloat ? "tenon_read_numbers" : "tenon_read_integers", {s.bytes, listEnds(n, s)},
                      {{countStrings(n, s), isFloat ? n.f64() : n.i64()}})
                   .front();
  Value value = n.reshape(list, n.dims(s.ends));
  return n.setResult(to.isUnsignedInteger(64) ? n.bitcast(value, to) : n.cast(value, to));
}

static LogicalResult importCast(Node &n) {
  if (n.getInt("to", 0) == onnx::TensorProto::STRING)
    return setStrings(n, 0, *n.imported(0)->strings);
  Type to = n.getDataType("to", {});
  return to ? castFromStrings(n, *n.imported(0)->strings, to) : failure();
}

static LogicalResult importCastLike(Node &n) {
  ImportedValue *x = n.imported(0), *like = n.imported(1);
  if (!x || !like)
    return n.invalid("needs two inputs");
  if (!x->strings)
    return castToStrings(n, n.input(0));
  return like->strings ? setStrings(n, 0, *x->strings)
                       : castFromStrings(n, *x->strings, n.inputType(1).getElementType());
}

ArrayRef<OpEntry> onnx_import::getStringCastOps() {
  static const OpEntry ops[] = {
      {"Cast", importCast, 9},
      {"CastLike", importCastLike},
  };
  return ops;
}
