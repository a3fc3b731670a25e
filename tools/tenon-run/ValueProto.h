//===- ValueProto.h - ONNX sequence and optional files --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Parses onnx.SequenceProto and onnx.OptionalProto in the format of ONNX's test data.
//
// ===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_VALUEPROTO_H
#define TENON_TOOLS_TENON_RUN_VALUEPROTO_H

#include "tools/tenon-run/HostValue.h"

namespace tenon::run {

/// Parses a sequence of tensors, which may be empty. Memory use is linear in `size`.
Status parseSequenceProto(const uint8_t *bytes, size_t size, HostValue *value);

/// Parses a tensor, a sequence of tensors, or nothing.
Status parseOptionalProto(const uint8_t *bytes, size_t size, HostValue *value);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_VALUEPROTO_H
