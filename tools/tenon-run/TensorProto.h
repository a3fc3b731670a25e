//===- TensorProto.h - ONNX tensor files ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An onnx.TensorProto as ONNX's test data has it, read without a protobuf library.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_TENSORPROTO_H
#define TENON_TOOLS_TENON_RUN_TENSORPROTO_H

#include "tools/tenon-run/HostTensor.h"

namespace tenon::run {

/// Parses a tensor of numbers or strings, from raw_data or from the typed fields. The number of elements must match its
/// shape. Memory use is linear in `size`.
Status parseTensorProto(const uint8_t *bytes, size_t size, HostTensor *tensor);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_TENSORPROTO_H
