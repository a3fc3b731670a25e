//===- HostValue.cpp - tensors, sequences and optionals -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

std::string_view TensorView::string(uint64_t index) const {
  int64_t begin = index ? ends[index - 1] : 0;
  return {static_cast<const char *>(tensor.data) + begin, size_t(ends[index] - begin)};
}

ValueView HostValue::view() const {
  ValueView view{has, isSequence, {}};
  for (const HostTensor &tensor : tensors)
    view.tensors.push_back({tensor.view(), tensor.ends.data()});
  return view;
}

HostValue toValue(HostTensor tensor) {
  HostValue value;
  value.name = tensor.name;
  value.tensors.push_back(std::move(tensor));
  return value;
}

} // namespace tenon::run
