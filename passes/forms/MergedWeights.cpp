//===- MergedWeights.cpp - constant tensors side by side -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/MergedWeights.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir;
using namespace tenon;

static RankedTensorType getType(ElementsAttr elements) { return cast<RankedTensorType>(elements.getType()); }

static int64_t getElementSize(ElementsAttr elements) { return elements.getElementType().getIntOrFloatBitWidth() / 8; }

bool tenon::isMergeable(ElementsAttr elements) {
  Type type = elements.getElementType();
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0 && isa<RankedTensorType>(elements.getType()) &&
         isa<DenseElementsAttr, DenseResourceElementsAttr>(elements);
}

namespace {
/// A constant as a matrix: each row has the elements from the axis on.
struct Rows {
  ArrayRef<char> bytes;
  int64_t size; ///< bytes of a row
  bool isSplat; ///< `bytes` are those of one element

  Rows(ElementsAttr elements, int64_t axis) : isSplat(false) {
    size = getElementSize(elements) * computeProduct(getType(elements).getShape().drop_front(axis));
    if (std::optional<ArrayRef<char>> stored = getBytes(elements)) {
      bytes = *stored;
    } else {
      bytes = cast<DenseElementsAttr>(elements).getRawData();
      isSplat = true;
    }
  }
  static int64_t computeProduct(ArrayRef<int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  }
  char *copy(int64_t row, char *to) const {
    if (!isSplat)
      return std::copy_n(bytes.data() + row * size, size, to);
    for (int64_t i = 0; i < size; i += bytes.size())
      to = std::copy_n(bytes.data(), bytes.size(), to);
    return to;
  }
};
} // namespace

ElementsAttr tenon::mergeElements(ArrayRef<ElementsAttr> parts, int64_t axis) {
  assert(!parts.empty() && llvm::all_of(parts, isMergeable) && "there are constants whose elements can be copied");
  RankedTensorType first = getType(parts.front());
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  SmallVector<Rows> rows;
  for (ElementsAttr part : parts) {
    shape[axis] += getType(part).getDimSize(axis);
    rows.emplace_back(part, axis);
  }
  auto type = RankedTensorType::get(shape, first.getElementType());
  int64_t size = Rows::computeProduct(shape) * getElementSize(parts.front());
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size, 64, /*dataIsMutable=*/true);
  char *to = blob.getMutableData().data();
  for (int64_t row = 0, count = Rows::computeProduct(ArrayRef(shape).take_front(axis)); row < count; ++row)
    for (const Rows &part : rows)
      to = part.copy(row, to);
  return createElements(type, "merged", std::move(blob));
}
