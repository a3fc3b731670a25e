//===- Tensors.cpp - element types and constants of a model ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Tensors.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/ExternalFiles.h"
#include "dialects/tenon/Dims.h"
#include "mlir/IR/Builders.h"
#include <cstring>
#include <onnx/onnx_pb.h>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;
using onnx::TensorProto;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

Type onnx_import::getElementType(MLIRContext *context, int32_t dataType) {
  Builder b(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::FLOAT8E4M3FN:
    return Float8E4M3FNType::get(context);
  case TensorProto::FLOAT8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case TensorProto::FLOAT8E5M2:
    return Float8E5M2Type::get(context);
  case TensorProto::FLOAT8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case TensorProto::FLOAT8E8M0:
    return Float8E8M0FNUType::get(context);
  case TensorProto::FLOAT4E2M1:
    return Float4E2M1FNType::get(context);
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT2:
    return b.getIntegerType(2);
  case TensorProto::INT4:
    return b.getIntegerType(4);
  case TensorProto::INT8:
    return b.getI8Type();
  case TensorProto::INT16:
    return b.getI16Type();
  case TensorProto::INT32:
    return b.getI32Type();
  case TensorProto::INT64:
    return b.getI64Type();
  case TensorProto::UINT2:
    return b.getIntegerType(2, false);
  case TensorProto::UINT4:
    return b.getIntegerType(4, false);
  case TensorProto::UINT8:
    return b.getIntegerType(8, false);
  case TensorProto::UINT16:
    return b.getIntegerType(16, false);
  case TensorProto::UINT32:
    return b.getIntegerType(32, false);
  case TensorProto::UINT64:
    return b.getIntegerType(64, false);
  default:
    return {};
  }
}

int32_t onnx_import::getDataType(Type type) {
  for (int32_t dataType = TensorProto::DataType_MIN; dataType <= TensorProto::DataType_MAX; ++dataType)
    if (getElementType(type.getContext(), dataType) == type)
      return dataType;
  return TensorProto::UNDEFINED;
}

std::string onnx_import::getDataTypeName(int32_t dataType) {
  if (!TensorProto::DataType_IsValid(dataType))
    return "data type number " + std::to_string(dataType);
  return StringRef(TensorProto::DataType_Name(TensorProto::DataType(dataType))).lower();
}

//===----------------------------------------------------------------------===//
// Constants of the model
//===----------------------------------------------------------------------===//

static llvm::Error invalid(const Twine &text) { return makeError(CompileStatus::invalid, text); }
static llvm::Error unsupported(const Twine &text) { return makeError(CompileStatus::unsupported, text); }

static int64_t getByteWidth(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

/// Returns the number of elements; none if the dimensions are invalid.
static std::optional<int64_t> countElements(const TensorProto &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims())
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMaxElements)
      return std::nullopt;
  return count;
}

llvm::Expected<ElementsAttr> TensorReader::read(const TensorProto &tensor, StringRef name) {
  Type element = getElementType(context, tensor.data_type());
  if (!element)
    return unsupported("is of type " + getDataTypeName(tensor.data_type()) + ", which is not supported");
  if (tensor.has_segment())
    return unsupported("is stored in segments, which is not supported");
  std::optional<int64_t> count = countElements(tensor);
  if (!count)
    return invalid("has a negative dimension, or more than 2^40 elements");
  auto type = RankedTensorType::get(SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end()), element);
  int64_t size = getFileBytes(element, *count);
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return readExternal(tensor, type, size, name);
  if (tensor.has_raw_data() && (tensor.float_data_size() || tensor.int32_data_size() || tensor.int64_data_size() ||
                                tensor.double_data_size() || tensor.uint64_data_size() || tensor.string_data_size()))
    return invalid("has its elements twice, in raw_data and in a field of their type; one of the two has to go");
  if (!tensor.has_raw_data())
    return readFields(tensor, type, *count, name);
  if (static_cast<int64_t>(tensor.raw_data().size()) != size)
    return invalid("needs " + Twine(size) + " bytes for its shape " + dimsToString(getDims(type)) + " of " +
                   getDataTypeName(tensor.data_type()) + ", but holds " + Twine(tensor.raw_data().size()));
  return makeElements(type, tensor.raw_data(), owner, name);
}

llvm::Expected<ElementsAttr> TensorReader::readExternal(const TensorProto &tensor, RankedTensorType type, int64_t size,
                                                        StringRef name) {
  StringRef location;
  uint64_t offset = 0, length = size;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location")
      location = value;
    else if ((key == "offset" && value.getAsInteger(10, offset)) || (key == "length" && value.getAsInteger(10, length)))
      return invalid("has an external " + key + " '" + value + "', which is no number of bytes");
  }
  if (location.empty())
    return invalid("is external, but names no location");
  if (length != static_cast<uint64_t>(size))
    return invalid("needs " + Twine(size) + " bytes for its shape " + dimsToString(getDims(type)) +
                   ", but its external data has " + Twine(length));
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(location);
  if (!file)
    return prefixError(file.takeError(), "cannot be read from '" + location + "': ");
  ArrayRef<char> bytes = (*file)->getBytes();
  if (offset > bytes.size() || bytes.size() - offset < length)
    return invalid("ends at byte " + Twine(offset) + " + " + Twine(length) + " of '" + location + "', which has " +
                   Twine(bytes.size()) + " bytes");
  return makeElements(type, bytes.slice(offset, length), *file, name);
}

/// Returns the elements of a repeated field, narrowed to the tensor's element width.
template <typename Field> static SmallVector<char> narrow(const Field &field, int64_t width) {
  SmallVector<char> bytes(field.size() * width);
  for (int i = 0; i < field.size(); ++i) {
    auto value = field.Get(i);
    std::memcpy(&bytes[i * width], &value, width);
  }
  return bytes;
}

llvm::Expected<ElementsAttr> TensorReader::readFields(const TensorProto &tensor, RankedTensorType type, int64_t count,
                                                      StringRef name) {
  Type element = type.getElementType();
  int64_t width = getByteWidth(element), entries = getFileBytes(element, count) / width;
  auto take = [&](const auto &field, StringRef what) -> llvm::Expected<ElementsAttr> {
    if (field.size() != entries)
      return invalid("needs " + Twine(entries) + (entries == count ? " elements" : " bytes") + " for its shape " +
                     dimsToString(getDims(type)) + ", but has " + Twine(field.size()) + " in " + what);
    if (sizeof(*field.data()) == static_cast<size_t>(width) || count == 0)
      return makeElements(type, {reinterpret_cast<const char *>(field.data()), static_cast<size_t>(count * width)},
                          owner, name);
    auto bytes = std::make_shared<SmallVector<char>>(narrow(field, width));
    return makeElements(type, *bytes, bytes, name);
  };
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return take(tensor.float_data(), "float_data");
  case TensorProto::DOUBLE:
    return take(tensor.double_data(), "double_data");
  case TensorProto::INT64:
    return take(tensor.int64_data(), "int64_data");
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return take(tensor.uint64_data(), "uint64_data");
  default:
    return take(tensor.int32_data(), "int32_data");
  }
}

llvm::Expected<StringTensor> onnx_import::readStrings(const onnx::TensorProto &tensor) {
  StringTensor strings{{tensor.string_data().begin(), tensor.string_data().end()},
                       {tensor.dims().begin(), tensor.dims().end()}};
  int64_t count = 1;
  for (int64_t dim : strings.shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      count = -1;
  if (count == tensor.string_data_size())
    return strings;
  return invalid("has " + Twine(tensor.string_data_size()) + " strings, which its shape does not fit");
}
