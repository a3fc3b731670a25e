//===- OnnxTensors.cpp - captured tensors as tensors of ONNX --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/OnnxTensors.h"
#include "tools/tenon-run/Element.h"
#include <onnx/onnx_pb.h>

using namespace tenon;
using namespace tenon::debug;
using onnx::TensorProto;

static constexpr std::pair<tenon_dtype, TensorProto::DataType> kTypes[] = {
    {TENON_F32, TensorProto::FLOAT},
    {TENON_F64, TensorProto::DOUBLE},
    {TENON_F16, TensorProto::FLOAT16},
    {TENON_BF16, TensorProto::BFLOAT16},
    {TENON_I8, TensorProto::INT8},
    {TENON_I16, TensorProto::INT16},
    {TENON_I32, TensorProto::INT32},
    {TENON_I64, TensorProto::INT64},
    {TENON_U8, TensorProto::UINT8},
    {TENON_U16, TensorProto::UINT16},
    {TENON_U32, TensorProto::UINT32},
    {TENON_U64, TensorProto::UINT64},
    {TENON_BOOL, TensorProto::BOOL},
    {TENON_F8E4M3FN, TensorProto::FLOAT8E4M3FN},
    {TENON_F8E4M3FNUZ, TensorProto::FLOAT8E4M3FNUZ},
    {TENON_F8E5M2, TensorProto::FLOAT8E5M2},
    {TENON_F8E5M2FNUZ, TensorProto::FLOAT8E5M2FNUZ},
};

std::optional<int32_t> debug::getDataType(tenon_dtype dtype) {
  for (auto [ours, theirs] : kTypes)
    if (ours == dtype)
      return theirs;
  return std::nullopt;
}

std::optional<tenon_dtype> debug::getDType(int32_t dataType) {
  for (auto [ours, theirs] : kTypes)
    if (theirs == dataType)
      return ours;
  return std::nullopt;
}

llvm::Expected<std::string> debug::convertElements(const CapturedTensor &tensor, tenon_dtype dtype) {
  auto elements = tensor.readElements();
  if (!elements)
    return elements.takeError();
  if (dtype == tensor.dtype)
    return (*elements)->getBuffer().str();
  std::string result(tenon_tensor_bytes(dtype, tensor.dims.size(), tensor.dims.data()), '\0');
  for (uint64_t i = 0, e = tensor.getCount(); i < e; ++i)
    run::setElement(dtype, result.data(), i, run::elementAt(tensor.dtype, (*elements)->getBufferStart(), i));
  return result;
}

TensorProto debug::makeTensor(llvm::StringRef name, tenon_dtype dtype, llvm::ArrayRef<int64_t> dims,
                              std::string elements) {
  TensorProto tensor;
  tensor.set_name(name.str());
  tensor.set_data_type(*getDataType(dtype));
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(std::move(elements));
  return tensor;
}

void debug::setType(onnx::ValueInfoProto &info, tenon_dtype dtype, llvm::ArrayRef<int64_t> dims) {
  onnx::TypeProto_Tensor &type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(*getDataType(dtype));
  type.mutable_shape();
  for (int64_t dim : dims)
    type.mutable_shape()->add_dim()->set_dim_value(dim);
}
