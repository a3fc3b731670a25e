//===- Weights.cpp - the weights section ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/Weights.h"
#include "dialects/tenon/WeightStorage.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/format/Kernel.h"
#include "llvm/Support/MathExtras.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

/// Calls `use` with the bytes of a weight, as kernels read them: dense, booleans one byte each.
static void withBytes(ElementsAttr value, llvm::function_ref<void(ArrayRef<char>)> use) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    use(resource.getRawHandle().getBlob()->getData());
    return;
  }
  auto dense = cast<DenseElementsAttr>(value);
  std::vector<char> bytes;
  if (dense.getElementType().isInteger(1)) {
    for (bool element : dense.getValues<bool>())
      bytes.push_back(element);
    use(bytes);
    return;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat() || dense.getNumElements() == 1) {
    use(raw);
    return;
  }
  bytes.reserve(raw.size() * dense.getNumElements());
  for (int64_t i = 0; i < dense.getNumElements(); ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  use(bytes);
}

static bool hasBytes(ElementsAttr value, ArrayRef<char> wanted) {
  bool isEqual = false;
  withBytes(value, [&](ArrayRef<char> bytes) { isEqual = bytes == wanted; });
  return isEqual;
}

/// Nobody looks at the bytes of a weight for a while.
static void noteRead(ElementsAttr value, bool isOutput) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  const WeightStorage *storage = resource ? WeightStorage::get(value.getContext()) : nullptr;
  if (storage)
    storage->noteRead(resource.getRawHandle().getBlob()->getData().size(), isOutput);
}

uint64_t WeightSection::add(ElementsAttr value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  uint64_t offset = llvm::alignTo(size, TENON_BUFFER_ALIGNMENT);
  withBytes(value, [&](ArrayRef<char> bytes) {
    // Shifted, since the largest numbers are DenseMap's own.
    auto key = std::pair<uint64_t, uint64_t>(XXH3_64bits(bytes.data(), bytes.size()) >> 1, bytes.size());
    SmallVector<size_t, 1> &candidates = byHash[key];
    for (size_t candidate : candidates)
      if (hasBytes(entries[candidate].value, bytes)) {
        offset = entries[candidate].offset;
        return;
      }
    candidates.push_back(entries.size());
    assert(offset >= size && "a weight begins after the one before it");
    entries.push_back({value, offset});
    size = offset + bytes.size();
  });
  noteRead(value, /*isOutput=*/false);
  known[value] = offset;
  return offset;
}

std::vector<std::pair<uint64_t, RankedTensorType>> WeightSection::listTypes() const {
  std::vector<std::pair<uint64_t, RankedTensorType>> types;
  for (const Entry &entry : entries)
    types.emplace_back(entry.offset, cast<RankedTensorType>(entry.value.getShapedType()));
  return types;
}

void WeightSection::write(llvm::function_ref<void(ArrayRef<char>)> sink) const {
  static constexpr char kPadding[TENON_BUFFER_ALIGNMENT] = {};
  uint64_t position = 0;
  for (const Entry &entry : entries) {
    assert(entry.offset >= position && entry.offset - position < TENON_BUFFER_ALIGNMENT &&
           "weights stand in the order of their offsets");
    sink(ArrayRef(kPadding, entry.offset - position));
    withBytes(entry.value, [&](ArrayRef<char> bytes) {
      sink(bytes);
      position = entry.offset + bytes.size();
    });
    noteRead(entry.value, /*isOutput=*/true);
  }
}
