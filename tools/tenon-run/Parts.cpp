//===- Parts.cpp - values as the tensors that the runtime takes -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Parts.h"

#include <algorithm>
#include <cstring>

namespace tenon::run {

//===----------------------------------------------------------------------===//
// Apart
//===----------------------------------------------------------------------===//

static Status makeTensor(tenon_dtype dtype, std::vector<int64_t> dims, const void *from, HostTensor *tensor) {
  tensor->dtype = dtype;
  tensor->dims = std::move(dims);
  TENON_TRY(tensor->allocate());
  if (tensor->bytes)
    memcpy(tensor->data(), from, tensor->bytes);
  return {};
}

static Status addStrings(HostTensor tensor, std::vector<HostTensor> &parts) {
  parts.resize(parts.size() + 2);
  HostTensor &bytes = parts[parts.size() - 2], &ends = parts.back();
  TENON_TRY(makeTensor(TENON_I64, tensor.dims, tensor.ends.data(), &ends));
  tensor.dtype = TENON_U8;
  tensor.dims = {int64_t(tensor.bytes)};
  bytes = std::move(tensor);
  return {};
}

static Status addSequence(const Model::Value &input, HostValue value, std::vector<HostTensor> &parts) {
  const tenon_dim_info &ranks = input.content()[1].dims[1];
  bool isOpen = ranks.value < 0 && !value.tensors.empty();
  uint64_t rank = isOpen ? value.tensors[0].dims.size() : uint64_t(ranks.value < 0 ? ranks.min : ranks.value);
  uint64_t total = 0;
  std::vector<int64_t> shapes;
  for (size_t i = 0; i < value.tensors.size(); ++i) {
    const HostTensor &tensor = value.tensors[i];
    if (tensor.dims.size() != rank)
      return Status::make(TENON_INVALID, "tensor %zu of the sequence has %zu dimensions, input '%s' is %s", i,
                          tensor.dims.size(), input.name.c_str(), valueText(input).c_str());
    shapes.insert(shapes.end(), tensor.dims.begin(), tensor.dims.end());
    total += tensor.count();
  }
  parts.resize(parts.size() + 2);
  HostTensor &elements = parts[parts.size() - 2];
  TENON_TRY(makeTensor(TENON_I64, {int64_t(value.tensors.size()), int64_t(rank)}, shapes.data(), &parts.back()));
  elements.dtype = input.dtype();
  elements.dims = {int64_t(total)};
  TENON_TRY(elements.allocate());
  uint8_t *to = elements.data();
  for (const HostTensor &tensor : value.tensors) {
    if (tensor.bytes)
      memcpy(to, tensor.data(), tensor.bytes);
    to += tensor.bytes;
  }
  return {};
}

/// What stands for the contents that are not there.
static Status addNothing(const Model::Value &input, std::vector<HostTensor> &parts) {
  for (size_t i = 1; i < input.ports.size(); ++i) {
    HostTensor &part = parts.emplace_back();
    part.dtype = input.ports[i].dtype;
    for (const tenon_dim_info &dim : input.ports[i].dims)
      part.dims.push_back(dim.value < 0 ? dim.min : dim.value);
    TENON_TRY(part.allocate());
  }
  return {};
}

Status takeApart(const Model::Value &input, HostValue value, std::vector<HostTensor> *parts) {
  std::vector<HostTensor> result;
  if (!value.has && !input.isOptional())
    return Status::make(TENON_INVALID, "holds nothing, input '%s' is %s", input.name.c_str(), valueText(input).c_str());
  if (input.isOptional()) {
    uint8_t has = value.has;
    TENON_TRY(makeTensor(TENON_BOOL, {}, &has, &result.emplace_back()));
  }
  if (value.has && (value.isSequence != input.isSequence() || !input.content()))
    return Status::make(TENON_INVALID, "holds a %s, input '%s' is %s", value.isSequence ? "sequence" : "tensor",
                        input.name.c_str(), valueText(input).c_str());
  for (const HostTensor &tensor : value.tensors)
    if (tensor.dtype != input.dtype())
      return Status::make(TENON_INVALID, "holds %s, input '%s' is %s", tenon_dtype_name(tensor.dtype),
                          input.name.c_str(), valueText(input).c_str());
  if (!value.has)
    TENON_TRY(addNothing(input, result));
  else if (value.isSequence)
    TENON_TRY(addSequence(input, std::move(value), result));
  else if (input.dtype() == TENON_STRING)
    TENON_TRY(addStrings(std::move(value.tensors[0]), result));
  else
    result.push_back(std::move(value.tensors[0]));
  *parts = std::move(result);
  return {};
}

//===----------------------------------------------------------------------===//
// Together
//===----------------------------------------------------------------------===//

static Status putSequence(const char *name, const tenon_tensor &elements, const tenon_tensor &shapes,
                          ValueView &value) {
  value.isSequence = true;
  uint64_t left = tenon_tensor_bytes(elements.dtype, elements.rank, elements.dims);
  uint8_t *data = static_cast<uint8_t *>(elements.data);
  uint32_t rank = uint32_t(shapes.dims[1]);
  for (int64_t i = 0; i < shapes.dims[0]; ++i) {
    const int64_t *dims = static_cast<const int64_t *>(shapes.data) + i * rank;
    uint64_t bytes = tenon_tensor_bytes(elements.dtype, rank, dims);
    if (bytes > left)
      return Status::make(TENON_FAULT, "output '%s': its tensors need more elements than it has", name);
    value.tensors.push_back({{elements.dtype, rank, dims, data}});
    data += bytes;
    left -= bytes;
  }
  return {};
}

static Status putStrings(const char *name, const tenon_tensor &bytes, const tenon_tensor &ends, ValueView &value) {
  TensorView view{{TENON_STRING, ends.rank, ends.dims, bytes.data}, static_cast<const int64_t *>(ends.data)};
  int64_t last = 0;
  for (uint64_t i = 0, e = view.count(); i < e; ++i) {
    if (view.ends[i] < last || view.ends[i] > bytes.dims[0])
      return Status::make(TENON_FAULT, "output '%s': string %llu lies outside of its bytes", name,
                          (unsigned long long)i);
    last = view.ends[i];
  }
  value.tensors.push_back(view);
  return {};
}

Status putTogether(const Model::Value &output, const std::vector<tenon_tensor> &parts, ValueView *value) {
  ValueView result;
  size_t first = output.isOptional();
  result.has = !first || *static_cast<const uint8_t *>(parts[0].data);
  if (result.has && first == parts.size())
    return Status::make(TENON_FAULT, "output '%s' holds a value of another type than declared", output.name.c_str());
  if (result.has && output.isSequence())
    TENON_TRY(putSequence(output.name.c_str(), parts[first], parts[first + 1], result));
  else if (result.has && output.dtype() == TENON_STRING)
    TENON_TRY(putStrings(output.name.c_str(), parts[first], parts[first + 1], result));
  else if (result.has)
    result.tensors.push_back({parts[first]});
  *value = std::move(result);
  return {};
}

} // namespace tenon::run
