//===- HostTensor.h - a tensor that tenon-run owns -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_HOSTTENSOR_H
#define TENON_TOOLS_TENON_RUN_HOSTTENSOR_H

#include "runtime/base/Memory.h"
#include "tenon/runtime.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::run {

using rt::Status;

/// The exit code of a failed comparison, which the runtime itself never returns.
inline constexpr tenon_status kMismatch = tenon_status(5);

/// A tensor in memory: dense, row-major, little endian. For strings, `memory` has the concatenated bytes.
struct HostTensor {
  std::string name; // where the file names it; otherwise empty
  tenon_dtype dtype = TENON_F32;
  std::vector<int64_t> dims;
  rt::Memory memory;
  uint64_t bytes = 0;
  std::vector<int64_t> ends; // of strings: where in the bytes each ends

  uint8_t *data() const { return memory.bytes(); }
  uint64_t count() const;

  /// Allocates zeroed memory for the current shape and type. Pages are only committed when they are written.
  Status allocate();

  /// Sets the tensor to these strings, whose number must match the shape.
  Status setStrings(const std::vector<std::string_view> &strings);

  /// Returns the tensor in the runtime's form. Empty scalars have no data.
  tenon_tensor view() const { return {dtype, uint32_t(dims.size()), dims.data(), memory.bytes()}; }
};

/// "f32[1,3,224]".
std::string typeText(tenon_dtype dtype, const int64_t *dims, uint32_t rank);

/// The place of flat element `index`: "[0,17]".
std::string indexText(uint64_t index, const int64_t *dims, uint32_t rank);

/// printf into a string.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_HOSTTENSOR_H
