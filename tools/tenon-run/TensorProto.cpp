//===- TensorProto.cpp - ONNX tensor files -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/TensorProto.h"

#include "runtime/format/Layout.h"
#include "tools/tenon-run/Proto.h"

#include <cstring>

namespace tenon::run {

#define MALFORMED() Status::make(TENON_INVALID, "not an ONNX tensor (.pb): malformed protobuf")

namespace {
/// Fields of onnx.TensorProto, by their numbers in onnx.proto.
enum : unsigned {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

/// What a message says before it is put together.
struct Message {
  uint64_t dataType = 0;
  bool hasRaw = false;
  Span raw;
  unsigned typedField = 0;         // the one field of typed data that occurs
  std::vector<uint8_t> typedBytes; // of float_data and double_data
  std::vector<uint64_t> typedInts; // of the others
  std::vector<Span> strings;
};
} // namespace

/// Stores the elements of a typed field, in the order of the file.
static Status addTyped(const Field &field, Message &message) {
  if (message.typedField && message.typedField != field.number)
    return Status::make(TENON_INVALID, "elements in two different fields, %u and %u", message.typedField, field.number);
  message.typedField = field.number;
  if (field.number == kFloatData || field.number == kDoubleData) {
    unsigned elementBytes = field.number == kFloatData ? 4 : 8;
    unsigned single = field.number == kFloatData ? kFixed32 : kFixed64;
    if ((field.wireType != kBytes && field.wireType != single) || field.bytes.size() % elementBytes)
      return MALFORMED();
    message.typedBytes.insert(message.typedBytes.end(), field.bytes.at, field.bytes.end);
    return {};
  }
  bool fine = eachInteger(field, [&](uint64_t value) {
    message.typedInts.push_back(value);
    return true;
  });
  return fine ? Status() : MALFORMED();
}

static Status readField(const Field &field, Message &message, HostTensor &tensor) {
  switch (field.number) {
  case kDims: {
    bool fits = true;
    bool fine = eachInteger(field, [&](uint64_t dim) {
      tensor.dims.push_back(int64_t(dim));
      fits = tensor.dims.size() <= fmt::kMaxRank;
      return fits;
    });
    if (!fits)
      return Status::make(TENON_INVALID, "more than %u dimensions", fmt::kMaxRank);
    return fine ? Status() : MALFORMED();
  }
  case kDataType:
    message.dataType = field.value;
    return field.wireType == kVarint ? Status() : MALFORMED();
  case kSegment:
    return Status::make(TENON_UNSUPPORTED, "part of a tensor; only whole tensors can be read");
  case kFloatData:
  case kInt32Data:
  case kInt64Data:
  case kDoubleData:
  case kUint64Data:
    return addTyped(field, message);
  case kName:
    if (field.wireType != kBytes)
      return MALFORMED();
    tensor.name.assign(reinterpret_cast<const char *>(field.bytes.at), field.bytes.size());
    return {};
  case kRawData:
    if (field.wireType != kBytes)
      return MALFORMED();
    message.hasRaw = true;
    message.raw = field.bytes;
    return {};
  case kStringData:
    message.strings.push_back(field.bytes);
    return field.wireType == kBytes ? Status() : MALFORMED();
  case kExternalData:
    return Status::make(TENON_UNSUPPORTED, "its elements lie in another file; store them in the tensor itself");
  case kDataLocation:
    if (field.value)
      return Status::make(TENON_UNSUPPORTED, "its elements lie in another file; store them in the tensor itself");
    return {};
  default:
    return {};
  }
}

namespace {
struct TypeInfo {
  tenon_dtype dtype;
  unsigned field; // of typed data
};
} // namespace

/// By the values of onnx.TensorProto.DataType.
static bool typeOf(uint64_t dataType, TypeInfo &info) {
  static constexpr TypeInfo kTypes[] = {
      {TENON_STRING, 0},
      {TENON_F32, kFloatData},
      {TENON_U8, kInt32Data},
      {TENON_I8, kInt32Data},
      {TENON_U16, kInt32Data},
      {TENON_I16, kInt32Data},
      {TENON_I32, kInt32Data},
      {TENON_I64, kInt64Data},
      {TENON_STRING, kStringData},
      {TENON_BOOL, kInt32Data},
      {TENON_F16, kInt32Data},
      {TENON_F64, kDoubleData},
      {TENON_U32, kUint64Data},
      {TENON_U64, kUint64Data},
      {TENON_C64, kFloatData},
      {TENON_C128, kDoubleData},
      {TENON_BF16, kInt32Data},
      {TENON_F8E4M3FN, kInt32Data},
      {TENON_F8E4M3FNUZ, kInt32Data},
      {TENON_F8E5M2, kInt32Data},
      {TENON_F8E5M2FNUZ, kInt32Data},
      {TENON_U4, kInt32Data},
      {TENON_I4, kInt32Data},
      {TENON_F4E2M1, kInt32Data},
      {TENON_F8E8M0, kInt32Data},
      {TENON_U2, kInt32Data},
      {TENON_I2, kInt32Data},
  };
  if (dataType >= sizeof kTypes / sizeof kTypes[0])
    return false;
  info = kTypes[dataType];
  return dataType != 0;
}

/// Returns the number of elements that share a byte of the file, starting with the low bits; in memory each has a byte
/// of its own.
static unsigned elementsPerByte(tenon_dtype dtype) {
  uint32_t bits = tenon_dtype_bits(dtype);
  return bits < 8 ? 8 / bits : 1;
}

/// Returns the bytes of one number of a typed field.
static uint64_t storedBytes(tenon_dtype dtype) { return elementsPerByte(dtype) > 1 ? 1 : tenon_dtype_bits(dtype) / 8; }

static uint64_t fileBytes(const HostTensor &tensor) {
  uint64_t bytes = tenon_tensor_bytes(tensor.dtype, uint32_t(tensor.dims.size()), tensor.dims.data());
  uint64_t perByte = elementsPerByte(tensor.dtype);
  return bytes == UINT64_MAX ? bytes : bytes / perByte + (bytes % perByte != 0);
}

static void unpack(const Message &message, HostTensor &tensor) {
  unsigned bits = tenon_dtype_bits(tensor.dtype), perByte = elementsPerByte(tensor.dtype);
  for (uint64_t i = 0; i < tensor.bytes; ++i) {
    uint64_t packed = message.hasRaw ? message.raw.at[i / perByte] : message.typedInts[i / perByte];
    tensor.data()[i] = uint8_t(packed >> (i % perByte * bits) & ((1u << bits) - 1));
  }
}

static Status fillElements(const Message &message, const TypeInfo &type, HostTensor &tensor) {
  const uint8_t *from = message.raw.at;
  uint64_t have = message.raw.size();
  uint64_t width = storedBytes(tensor.dtype);
  if (!message.hasRaw) {
    if (message.typedField && message.typedField != type.field)
      return Status::make(TENON_INVALID, "elements of type %s in field %u, where they belong into field %u",
                          tenon_dtype_name(tensor.dtype), message.typedField, type.field);
    from = message.typedBytes.data();
    have = message.typedBytes.size() + message.typedInts.size() * width;
  }
  // Checked before allocating, so that a small file cannot request much memory.
  uint64_t wanted = fileBytes(tensor);
  if (have != wanted)
    return Status::make(TENON_INVALID, "has %llu bytes of elements, its shape %s needs %s%llu",
                        (unsigned long long)have,
                        typeText(tensor.dtype, tensor.dims.data(), uint32_t(tensor.dims.size())).c_str(),
                        wanted == UINT64_MAX ? "more than " : "", (unsigned long long)wanted);
  TENON_TRY(tensor.allocate());
  if (elementsPerByte(tensor.dtype) > 1) {
    unpack(message, tensor);
    return {};
  }
  if (message.hasRaw || message.typedInts.empty()) {
    if (have)
      memcpy(tensor.data(), from, have);
    return {};
  }
  for (size_t i = 0; i < message.typedInts.size(); ++i)
    memcpy(tensor.data() + i * width, &message.typedInts[i], width);
  return {};
}

static Status fillStrings(const Message &message, HostTensor &tensor) {
  if (message.hasRaw || message.typedField)
    return Status::make(TENON_INVALID, "a tensor of strings with elements that are not strings");
  uint64_t wanted = tenon_tensor_bytes(TENON_U8, uint32_t(tensor.dims.size()), tensor.dims.data());
  if (message.strings.size() != wanted)
    return Status::make(TENON_INVALID, "has %zu strings, its shape %s needs %s%llu", message.strings.size(),
                        indexText(UINT64_MAX, tensor.dims.data(), uint32_t(tensor.dims.size())).c_str(),
                        wanted == UINT64_MAX ? "more than " : "", (unsigned long long)wanted);
  std::vector<std::string_view> strings;
  for (const Span &string : message.strings)
    strings.push_back(string.text());
  return tensor.setStrings(strings);
}

Status parseTensorProto(const uint8_t *bytes, size_t size, HostTensor *tensor) {
  Message message;
  HostTensor result;
  Span rest{bytes, bytes + size};
  while (rest.size()) {
    Field field;
    if (!nextField(rest, field))
      return MALFORMED();
    TENON_TRY(readField(field, message, result));
  }
  TypeInfo type;
  if (!typeOf(message.dataType, type))
    return Status::make(message.dataType ? TENON_UNSUPPORTED : TENON_INVALID,
                        "ONNX element type %llu, which is neither a type of numbers nor strings",
                        (unsigned long long)message.dataType);
  if (message.hasRaw && message.typedField)
    return Status::make(TENON_INVALID, "elements both in raw_data and in field %u", message.typedField);
  result.dtype = type.dtype;
  if (type.dtype != TENON_STRING && !message.strings.empty())
    return Status::make(TENON_INVALID, "strings in a tensor of %s", tenon_dtype_name(type.dtype));
  TENON_TRY(type.dtype == TENON_STRING ? fillStrings(message, result) : fillElements(message, type, result));
  *tensor = std::move(result);
  return {};
}

} // namespace tenon::run
