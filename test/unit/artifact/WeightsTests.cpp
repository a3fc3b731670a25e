//===- WeightsTests.cpp - which weights share their bytes -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/Weights.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <catch2/catch.hpp>
#include <cstring>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

static ElementsAttr getWeight(MLIRContext &context, Type type, ArrayRef<char> bytes) {
  int64_t count = static_cast<int64_t>(bytes.size()) / (type.getIntOrFloatBitWidth() / 8);
  return DenseElementsAttr::getFromRawBuffer(RankedTensorType::get({count}, type), bytes);
}

TEST_CASE("equal bytes are stored once, whatever their type is", "[weights]") {
  MLIRContext context;
  Builder b(&context);
  WeightSection weights;
  char bytes[32] = {1, 2, 3};
  uint64_t first = weights.add(getWeight(context, b.getF32Type(), bytes));
  CHECK(weights.add(getWeight(context, b.getI64Type(), bytes)) == first);
  CHECK(weights.getSize() == sizeof bytes);
}

// XXH3 multiplies the first eight bytes of an input of 17 to 32, after an exclusive or with its public default secret,
// with the next eight. Where the first eight are that secret the product is 0, and the next eight no longer matter.
TEST_CASE("weights of equal hash and size but other bytes are stored apart", "[weights]") {
  constexpr unsigned char kSecret[8] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
  MLIRContext context;
  Builder b(&context);
  WeightSection weights;
  std::vector<uint64_t> offsets;
  uint64_t hash = 0;
  for (char filling : {1, 2, 3}) {
    char bytes[32] = {};
    std::memcpy(bytes, kSecret, sizeof kSecret);
    std::memset(bytes + 8, filling, 8);
    REQUIRE((offsets.empty() || XXH3_64bits(bytes, sizeof bytes) == hash));
    hash = XXH3_64bits(bytes, sizeof bytes);
    offsets.push_back(weights.add(getWeight(context, b.getF32Type(), bytes)));
    CHECK(weights.add(getWeight(context, b.getI32Type(), bytes)) == offsets.back());
  }
  CHECK(offsets == std::vector<uint64_t>{0, 64, 128});
}
