//===- HostTensor.cpp - a tensor that tenon-run owns ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/HostTensor.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace tenon::run {

uint64_t HostTensor::count() const {
  uint64_t result = 1;
  for (int64_t dim : dims)
    result *= uint64_t(dim);
  return result;
}

Status HostTensor::allocate() {
  bytes = tenon_tensor_bytes(dtype, uint32_t(dims.size()), dims.data());
  if (bytes == UINT64_MAX)
    return Status::make(TENON_INVALID, "a tensor %s is larger than any memory",
                        typeText(dtype, dims.data(), uint32_t(dims.size())).c_str());
  return memory.reserve(bytes, false, "a tensor");
}

Status HostTensor::setStrings(const std::vector<std::string_view> &strings) {
  dtype = TENON_STRING;
  bytes = 0;
  ends.clear();
  for (std::string_view string : strings)
    ends.push_back(int64_t(bytes += string.size()));
  TENON_TRY(memory.reserve(bytes, false, "strings"));
  for (size_t i = 0; i < strings.size(); ++i)
    if (!strings[i].empty())
      memcpy(data() + ends[i] - strings[i].size(), strings[i].data(), strings[i].size());
  return {};
}

std::string typeText(tenon_dtype dtype, const int64_t *dims, uint32_t rank) {
  return tenon_dtype_name(dtype) + indexText(UINT64_MAX, dims, rank);
}

std::string indexText(uint64_t index, const int64_t *dims, uint32_t rank) {
  // UINT64_MAX stands for the shape itself.
  std::vector<int64_t> place(dims, dims + rank);
  if (index != UINT64_MAX)
    for (uint32_t d = rank; d-- > 0;) {
      place[d] = int64_t(index % uint64_t(dims[d]));
      index /= uint64_t(dims[d]);
    }
  std::string text = "[";
  for (uint32_t d = 0; d < rank; ++d)
    text.append(d ? "," : "").append(std::to_string(place[d]));
  return text.append("]");
}

std::string format(const char *text, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, text);
  int length = vsnprintf(buffer, sizeof buffer, text, arguments);
  va_end(arguments);
  if (length < int(sizeof buffer))
    return buffer;
  std::string result(size_t(length), 0);
  va_start(arguments, text);
  vsnprintf(result.data(), result.size() + 1, text, arguments);
  va_end(arguments);
  return result;
}

} // namespace tenon::run
