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
#include "runtime/format/Layout.h"
#include "llvm/Support/MathExtras.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

/// Calls `use` with the bytes of a weight in the layout that kernels read: dense, booleans one byte each.
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

/// Records that the bytes of a weight were read, so that the storage of weights can evict their pages.
static void noteRead(ElementsAttr value, bool isOutput) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  const WeightStorage *storage = resource ? WeightStorage::get(value.getContext()) : nullptr;
  if (storage)
    storage->noteRead(resource.getRawHandle().getBlob()->getData().size(), isOutput);
}

/// Returns the offset for bytes that are part of a file; none if they are not, or are too few for a mapping.
std::optional<uint64_t> WeightSection::addExternal(ArrayRef<char> bytes, uint64_t alignment) {
  // limit: smaller mappings would waste a larger share of their pages.
  constexpr uint64_t kLeast = uint64_t(64) << 10;
  auto source = llvm::find_if(sources, [&](const WeightFile &file) {
    return bytes.begin() >= file.bytes.begin() && bytes.end() <= file.bytes.end();
  });
  if (bytes.size() < kLeast || source == sources.end())
    return std::nullopt;
  uint64_t first = bytes.begin() - source->bytes.begin(), begin = llvm::alignDown(first, fmt::kPageSize),
           end = llvm::alignTo(first + bytes.size(), fmt::kPageSize);
  size_t file = source - sources.begin();
  // Kernels rely on what elements need.
  if (first % alignment != 0)
    return std::nullopt;
  // Bytes that follow the last ones in the same file continue its pages.
  if (!external.empty()) {
    ExternalSegment &last = external.back();
    bool goesOn =
        last.file == file && last.begin + last.size == size && begin >= last.offset && begin <= last.offset + last.size;
    if (goesOn) {
      last.size = std::max(last.size, end - last.offset);
      size = last.begin + last.size;
      return last.begin + first - last.offset;
    }
  }
  if (external.size() >= fmt::kMaxWeightSegments / 2)
    return std::nullopt;
  uint64_t at = llvm::alignTo(size, fmt::kPageSize);
  external.push_back({at, end - begin, begin, file});
  size = at + end - begin;
  return at + first - begin;
}

uint64_t WeightSection::add(ElementsAttr value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  uint64_t offset = llvm::alignTo(size, TENON_BUFFER_ALIGNMENT);
  withBytes(value, [&](ArrayRef<char> bytes) {
    // The hash is shifted, because DenseMap reserves the largest keys.
    auto key = std::pair<uint64_t, uint64_t>(XXH3_64bits(bytes.data(), bytes.size()) >> 1, bytes.size());
    SmallVector<size_t, 1> &candidates = byHash[key];
    for (size_t candidate : candidates)
      if (hasBytes(entries[candidate].value, bytes)) {
        offset = entries[candidate].offset;
        return;
      }
    candidates.push_back(entries.size());
    uint64_t width = llvm::divideCeil(value.getElementType().getIntOrFloatBitWidth(), 8);
    if (std::optional<uint64_t> place = addExternal(bytes, width)) {
      offset = *place;
      entries.push_back({value, offset, /*isExternal=*/true});
      return;
    }
    assert(offset >= size && "a weight begins after the one before it");
    entries.push_back({value, offset, /*isExternal=*/false});
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

void WeightSection::write(llvm::function_ref<void(ArrayRef<char>, bool)> sink) const {
  static constexpr char kPadding[fmt::kPageSize] = {};
  uint64_t position = 0;
  auto pad = [&](uint64_t to, bool isExternal) {
    assert(to >= position && to - position <= sizeof(kPadding) && "weights stand in the order of their offsets");
    sink(ArrayRef(kPadding, to - position), isExternal);
    position = to;
  };
  const ExternalSegment *segment = external.data(), *end = segment + external.size();
  auto writeSegments = [&](uint64_t before) {
    for (; segment != end && segment->begin < before; ++segment) {
      pad(segment->begin, /*isExternal=*/false);
      ArrayRef<char> file = sources[segment->file].bytes;
      ArrayRef<char> bytes = file.slice(segment->offset, std::min(segment->size, file.size() - segment->offset));
      sink(bytes, /*isExternal=*/true);
      position += bytes.size();
      pad(segment->begin + segment->size, /*isExternal=*/true);
    }
  };
  for (const Entry &entry : entries) {
    if (entry.isExternal)
      continue;
    writeSegments(entry.offset);
    pad(entry.offset, /*isExternal=*/false);
    withBytes(entry.value, [&](ArrayRef<char> bytes) {
      sink(bytes, /*isExternal=*/false);
      position = entry.offset + bytes.size();
    });
    noteRead(entry.value, /*isOutput=*/true);
  }
  writeSegments(UINT64_MAX);
}
