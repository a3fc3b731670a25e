//===- Safetensors.cpp - reads files in the safetensors format ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Safetensors.h"
#include "compiler/errors/CompileError.h"
#include "compiler/graph/Elements.h"
#include "compiler/import/huggingface/Json.h"
#include "mlir/IR/Builders.h"
#include <cstring>

using namespace mlir;
using namespace tenon;
using namespace tenon::huggingface;

static llvm::Error invalid(const Twine &text) { return makeError(CompileStatus::invalid, text); }

/// The format's own limit.
static constexpr uint64_t kMaxHeaderBytes = 100'000'000;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {

struct DTypeInfo {
  const char *name;
  int64_t bits;
  Type type;
};

} // namespace

static SmallVector<DTypeInfo> getDTypes(MLIRContext *context) {
  Builder b(context);
  auto u = [&](unsigned width) { return b.getIntegerType(width, /*isSigned=*/false); };
  return {{"BOOL", 8, b.getI1Type()},
          {"U8", 8, u(8)},
          {"I8", 8, b.getI8Type()},
          {"U16", 16, u(16)},
          {"I16", 16, b.getI16Type()},
          {"U32", 32, u(32)},
          {"I32", 32, b.getI32Type()},
          {"U64", 64, u(64)},
          {"I64", 64, b.getI64Type()},
          {"F16", 16, b.getF16Type()},
          {"BF16", 16, b.getBF16Type()},
          {"F32", 32, b.getF32Type()},
          {"F64", 64, b.getF64Type()},
          {"F8_E4M3", 8, Float8E4M3FNType::get(context)},
          {"F8_E5M2", 8, Float8E5M2Type::get(context)},
          {"F8_E8M0", 8, Float8E8M0FNUType::get(context)},
          {"F4", 4, Float4E2M1FNType::get(context)},
          {"F6_E2M3", 6, {}},
          {"F6_E3M2", 6, {}},
          {"C64", 64, {}}};
}

//===----------------------------------------------------------------------===//
// One tensor of the header
//===----------------------------------------------------------------------===//

/// Reads an array of non-negative numbers that fit 63 bits.
static std::optional<SmallVector<int64_t>> getSizes(const Json &entry, const char *key) {
  auto it = entry.find(key);
  if (it == entry.end() || !it->is_array())
    return std::nullopt;
  SmallVector<int64_t> sizes;
  for (const Json &element : *it) {
    if (!element.is_number_unsigned() || element.get<uint64_t>() > INT64_MAX)
      return std::nullopt;
    sizes.push_back(element.get<int64_t>());
  }
  return sizes;
}

/// Returns the bits of a shape; none if it has more than 2^40 elements.
static std::optional<int64_t> countBits(ArrayRef<int64_t> shape, int64_t width) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count) || count > kMaxElements)
      return std::nullopt;
  return count * width;
}

/// Reads the entry of a tensor. Error messages are to be printed after the tensor's name.
static llvm::Expected<StoredTensor> readEntry(const Json &entry, ArrayRef<DTypeInfo> dtypes, ArrayRef<char> data) {
  auto dtype = entry.is_object() ? entry.find("dtype") : entry.end();
  std::optional<SmallVector<int64_t>> shape, offsets;
  if (entry.is_object()) {
    shape = getSizes(entry, "shape");
    offsets = getSizes(entry, "data_offsets");
  }
  if (!shape || !offsets || offsets->size() != 2 || entry.size() != 3 || dtype == entry.end() || !dtype->is_string())
    return invalid("has to have a dtype, a shape and two data_offsets, and nothing else");
  StoredTensor tensor;
  tensor.dtype = dtype->get<std::string>();
  tensor.shape = *shape;
  const auto *info = llvm::find_if(dtypes, [&](const DTypeInfo &d) { return tensor.dtype == d.name; });
  if (info == dtypes.end())
    return invalid("is of dtype '" + tensor.dtype + "', which the format does not have");
  tensor.elementType = info->type;
  std::optional<int64_t> bits = countBits(*shape, info->bits);
  if (!bits || *bits % 8 != 0)
    return invalid(bits ? "does not fill its last byte" : "has more than 2^40 elements");
  int64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size())
    return invalid("lies at bytes " + Twine(begin) + " to " + Twine(end) + ", but there are " + Twine(data.size()) +
                   "; the file may be cut short");
  if (end - begin != *bits / 8)
    return invalid("needs " + Twine(*bits / 8) + " bytes for its shape and dtype, but has " + Twine(end - begin));
  tensor.bytes = data.slice(begin, end - begin);
  return tensor;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Fails unless the tensors are stored one after another and fill all of `data`.
static llvm::Error checkLayout(const llvm::StringMap<StoredTensor> &tensors, ArrayRef<char> data) {
  SmallVector<const llvm::StringMapEntry<StoredTensor> *> order;
  for (const auto &entry : tensors)
    order.push_back(&entry);
  llvm::sort(order, [](const auto *a, const auto *b) {
    return std::tuple(a->second.bytes.begin(), a->second.bytes.size(), a->first()) <
           std::tuple(b->second.bytes.begin(), b->second.bytes.size(), b->first());
  });
  const char *end = data.begin();
  for (const auto *entry : order) {
    if (entry->second.bytes.begin() != end)
      return invalid("tensor '" + entry->first() + "' begins at byte " +
                     Twine(entry->second.bytes.begin() - data.begin()) + ", but the one before it ends at " +
                     Twine(end - data.begin()));
    end = entry->second.bytes.end();
  }
  if (end != data.end())
    return invalid("has " + Twine(data.end() - end) + " bytes after its last tensor");
  return llvm::Error::success();
}

/// The header as text, and what follows it.
static llvm::Expected<std::pair<ArrayRef<char>, ArrayRef<char>>> splitFile(ArrayRef<char> file) {
  uint64_t length = 0;
  if (file.size() < sizeof(length))
    return invalid("has " + Twine(file.size()) + " bytes, so it is no safetensors file");
  std::memcpy(&length, file.data(), sizeof(length));
  uint64_t rest = file.size() - sizeof(length);
  if (length > kMaxHeaderBytes || length > rest)
    return invalid("begins with a header of " + Twine(length) + " bytes, but " +
                   (length > kMaxHeaderBytes ? "the format allows " + std::to_string(kMaxHeaderBytes)
                                             : std::to_string(rest) + " follow; the file may be cut short"));
  return std::pair(file.slice(sizeof(length), length), file.drop_front(sizeof(length) + length));
}

llvm::Expected<llvm::StringMap<StoredTensor>> huggingface::readSafetensors(ArrayRef<char> file, MLIRContext *context) {
  auto parts = splitFile(file);
  if (!parts)
    return parts.takeError();
  auto [header, data] = *parts;
  llvm::Expected<Json> json = parseJsonObject(header);
  if (!json)
    return prefixError(json.takeError(), "has a header that ");
  SmallVector<DTypeInfo> dtypes = getDTypes(context);
  llvm::StringMap<StoredTensor> tensors;
  for (const auto &[name, entry] : json->items()) {
    if (name == "__metadata__") {
      bool isText = entry.is_object() && llvm::all_of(entry, [](const Json &value) { return value.is_string(); });
      if (isText)
        continue;
      return invalid("has a __metadata__ that is no object of strings");
    }
    llvm::Expected<StoredTensor> tensor = readEntry(entry, dtypes, data);
    if (!tensor)
      return prefixError(tensor.takeError(), "tensor '" + name + "' ");
    tensors[name] = std::move(*tensor);
  }
  if (llvm::Error error = checkLayout(tensors, data))
    return error;
  return tensors;
}
