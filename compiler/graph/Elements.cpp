//===- Elements.cpp - the elements of constants ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <bit>

using namespace mlir;
using namespace tenon;

static_assert(std::endian::native == std::endian::little, "bytes are little endian and taken as they are");

static Attribute makeElement(Type type, double value) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), true, true));
}
static Attribute makeElement(Type type, int64_t value) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, static_cast<double>(value));
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), value, true, true));
}

template <typename T> static ElementsAttr makeElementsOf(RankedTensorType type, ArrayRef<T> values) {
  assert((values.size() == 1 || static_cast<int64_t>(values.size()) == type.getNumElements()) &&
         "there is a value for each element, or one for all of them");
  // Long lists are converted directly, without an attribute for each element.
  if (type.getElementType().isF32())
    return DenseElementsAttr::get(type, ArrayRef(SmallVector<float>(values.begin(), values.end())));
  if (type.getElementType().isSignlessInteger(64))
    return DenseElementsAttr::get(type, ArrayRef(SmallVector<int64_t>(values.begin(), values.end())));
  SmallVector<Attribute> elements;
  for (T value : values)
    elements.push_back(makeElement(type.getElementType(), value));
  return DenseElementsAttr::get(type, elements);
}
ElementsAttr tenon::makeElements(RankedTensorType type, ArrayRef<int64_t> values) {
  return makeElementsOf(type, values);
}
ElementsAttr tenon::makeElements(RankedTensorType type, ArrayRef<double> values) {
  return makeElementsOf(type, values);
}

DenseElementsAttr tenon::toDense(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return cast<DenseElementsAttr>(elements);
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), resource.getRawHandle().getBlob()->getData());
}

//===----------------------------------------------------------------------===//
// Bytes of files
//===----------------------------------------------------------------------===//

/// How many elements share a byte.
static int64_t getPerByte(Type type) {
  return type.isInteger(1) ? 1 : std::max<int64_t>(1, 8 / type.getIntOrFloatBitWidth());
}

static int64_t getByteWidth(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

int64_t tenon::getFileBytes(Type elementType, int64_t count) {
  return llvm::divideCeil(count, getPerByte(elementType)) * getByteWidth(elementType);
}

/// Unpacks elements to one byte each, as MLIR and kernels store them.
static SmallVector<char> unpack(ArrayRef<char> packed, RankedTensorType type) {
  assert(static_cast<int64_t>(packed.size()) == getFileBytes(type.getElementType(), type.getNumElements()) &&
         "the importer has compared the bytes of a tensor with its shape");
  int64_t perByte = getPerByte(type.getElementType());
  unsigned bits = type.getElementTypeBitWidth();
  SmallVector<char> bytes(type.getNumElements());
  for (auto [i, byte] : llvm::enumerate(bytes))
    byte = static_cast<uint8_t>(packed[i / perByte]) >> (i % perByte * bits) & ((1u << bits) - 1);
  return bytes;
}

static ElementsAttr makeStored(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> holder,
                               StringRef name) {
  size_t width = getByteWidth(type.getElementType());
  // MLIR stores booleans as bits; any nonzero byte is true.
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (type.getNumElements() <= kMaxDenseElements) {
    // If all elements are equal, a splat attribute is created, which folds recognize.
    bool isSplat = !bytes.empty() && llvm::all_of(llvm::seq<size_t>(width, bytes.size()),
                                                  [&](size_t i) { return bytes[i] == bytes[i - width]; });
    return DenseElementsAttr::getFromRawBuffer(type, isSplat ? bytes.take_front(width) : bytes);
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % width != 0) {
    auto copy = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, width, /*dataIsMutable=*/false);
    return DenseResourceElementsAttr::get(type, name, std::move(copy));
  }
  auto blob = UnmanagedAsmResourceBlob::allocateWithAlign(bytes, width,
                                                          [holder = std::move(holder)](void *, size_t, size_t) {});
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

ElementsAttr tenon::makeElements(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> holder,
                                 StringRef name) {
  assert(static_cast<int64_t>(bytes.size()) == getFileBytes(type.getElementType(), type.getNumElements()) &&
         "the importer has compared the bytes of a tensor with its shape");
  return getPerByte(type.getElementType()) > 1 ? makeUnpackedElements(type, unpack(bytes, type), name)
                                               : makeStored(type, bytes, std::move(holder), name);
}

ElementsAttr tenon::makeUnpackedElements(RankedTensorType type, SmallVector<char> bytes, StringRef name) {
  assert(static_cast<int64_t>(bytes.size()) == type.getNumElements() && type.getElementTypeBitWidth() <= 8 &&
         "there is a byte for each element");
  auto holder = std::make_shared<SmallVector<char>>(std::move(bytes));
  return makeStored(type, *holder, holder, name);
}
