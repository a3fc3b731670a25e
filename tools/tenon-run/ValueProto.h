//===- ValueProto.h - ONNX sequence and optional files --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// An onnx.SequenceProto or onnx.OptionalProto as ONNX's test data has them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_VALUEPROTO_H
#define TENON_TOOLS_TENON_RUN_VALUEPROTO_H

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

/// Reads a sequence of tensors, which may be empty. Takes memory in proportion to `size`.
Status parseSequenceProto(const uint8_t *bytes, size_t size, HostValue *value);

/// Reads a tensor, a sequence of tensors, or nothing.
Status parseOptionalProto(const uint8_t *bytes, size_t size, HostValue *value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_VALUEPROTO_H
