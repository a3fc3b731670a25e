//===- DTypes.cpp - element types of MLIR and of the format ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/DTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using tenon::fmt::DType;

static std::optional<DType> getIntegerDType(IntegerType type) {
  bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return DType::bool_;
  case 2:
    return isUnsigned ? DType::u2 : DType::i2;
  case 4:
    return isUnsigned ? DType::u4 : DType::i4;
  case 8:
    return isUnsigned ? DType::u8 : DType::i8;
  case 16:
    return isUnsigned ? DType::u16 : DType::i16;
  case 32:
    return isUnsigned ? DType::u32 : DType::i32;
  case 64:
    return isUnsigned ? DType::u64 : DType::i64;
  default:
    return std::nullopt;
  }
}

std::optional<DType> tenon::getDType(Type type) {
  return llvm::TypeSwitch<Type, std::optional<DType>>(type)
      .Case<Float32Type>([](auto) { return DType::f32; })
      .Case<Float64Type>([](auto) { return DType::f64; })
      .Case<Float16Type>([](auto) { return DType::f16; })
      .Case<BFloat16Type>([](auto) { return DType::bf16; })
      .Case<Float8E4M3FNType>([](auto) { return DType::f8e4m3fn; })
      .Case<Float8E4M3FNUZType>([](auto) { return DType::f8e4m3fnuz; })
      .Case<Float8E5M2Type>([](auto) { return DType::f8e5m2; })
      .Case<Float8E5M2FNUZType>([](auto) { return DType::f8e5m2fnuz; })
      .Case<Float8E8M0FNUType>([](auto) { return DType::f8e8m0; })
      .Case<Float4E2M1FNType>([](auto) { return DType::f4e2m1; })
      .Case<IntegerType>([](IntegerType integer) { return getIntegerDType(integer); })
      .Default([](Type) { return std::nullopt; });
}
