//===- HostValue.h - tensors, sequences and optionals ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_HOSTVALUE_H
#define TENON_TOOLS_TENON_RUN_HOSTVALUE_H

#include "tools/tenon-run/HostTensor.h"

namespace tenon::run {

/// A tensor in memory of another owner. For strings, `tensor.data` has the concatenated bytes.
struct TensorView {
  tenon_tensor tensor;
  const int64_t *ends = nullptr; // of strings: where in the bytes each ends

  uint64_t count() const { return tenon_tensor_bytes(TENON_U8, tensor.rank, tensor.dims); }
  std::string_view string(uint64_t index) const;
};

/// The value of a model's input or output: a tensor, a sequence of tensors, or none.
struct ValueView {
  bool has = true, isSequence = false;
  std::vector<TensorView> tensors; // one, unless it is a sequence or nothing
};

/// The same, owned.
struct HostValue {
  std::string name; // where the file names it; otherwise empty
  bool has = true, isSequence = false;
  std::vector<HostTensor> tensors;

  ValueView view() const;
};

/// The value that is one tensor.
HostValue toValue(HostTensor tensor);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_HOSTVALUE_H
