//===- Int8Dot2.cpp - dot products of two int8 that fit 16 bits --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vpmaddubsw sums two products of int8 in 16 bits, and saturates if these are too few.
// With a weight whose neighbours never are so large together, as quantizers make it
// that use seven bits for this very instruction, the sums are exact, and nothing has to
// be widened to i16 before.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"

using namespace mlir;
using namespace tenon;

/// Returns the largest contribution of one byte, for either sign, to the sum of a pair whose other factors are in [0,
/// 255].
static int getPositive(char byte) { return std::max<int>(static_cast<signed char>(byte), 0); }
static int getNegative(char byte) { return std::max<int>(-static_cast<signed char>(byte), 0); }

/// True if the sums of all pairs fit 16 bits: 255 * 128 = 32,640. `stride` is the distance between the members of a
/// pair along a dimension of `extent`.
static bool fitI16(ArrayRef<char> bytes, int64_t stride, int64_t extent) {
  constexpr int kMax = 128; // math: 255 * 128 fits 16 bits, 255 * 129 does not
  for (int64_t outer = 0, size = bytes.size(); outer < size; outer += stride * extent)
    for (int64_t place = 0; place + 1 < extent; place += 2) {
      const char *first = bytes.data() + outer + place * stride, *second = first + stride;
      for (int64_t i = 0; i < stride; ++i)
        if (getPositive(first[i]) + getPositive(second[i]) > kMax ||
            getNegative(first[i]) + getNegative(second[i]) > kMax)
          return false;
    }
  return true;
}

static bool fitI16(OpOperand &matrix) {
  WeightOp weight = matrix.get().getDefiningOp<WeightOp>();
  std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
  if (!bytes || bytes->empty())
    return false;
  ArrayRef<int64_t> shape = weight.getType().getShape();
  int64_t axis = *getPackedDims(matrix)->k4Axis;
  return fitI16(*bytes, ShapedType::getNumElements(shape.drop_front(axis + 1)), shape[axis]);
}

namespace {
struct Int8Dot2 : public Path {
  explicit Int8Dot2(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kInt8Dot2Path; }

  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override {
    OpOperand *matrix = machine.int8Dot == Int8Dot::pmaddWd ? findK4Panels(op) : nullptr;
    if (!matrix || !fitI16(*matrix))
      return std::nullopt;
    ProductShape shape = *getProductShape(op);
    double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * policy.pmaddUbswProducts;
    return std::max(shape.getProducts() / perCycle / policy.int8Share, machine.getReadCycles(shape.getWeights()));
  }

  /// Sums of integers are exact.
  double measureError(Operation *) const override { return 0; }
  bool isAsExact() const override { return true; }
  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

private:
  PathPolicy policy;
};
} // namespace

std::unique_ptr<Path> tenon::createInt8Dot2(const PathPolicy &policy) { return std::make_unique<Int8Dot2>(policy); }
