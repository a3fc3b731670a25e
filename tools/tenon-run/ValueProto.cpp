//===- ValueProto.cpp - ONNX sequence and optional files ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/ValueProto.h"

#include "tools/tenon-run/Proto.h"
#include "tools/tenon-run/TensorProto.h"

namespace tenon::run {

namespace {
/// The field numbers of onnx.SequenceProto and onnx.OptionalProto, which agree, from onnx-data.proto.
enum : unsigned {
  kName = 1,
  kElemType = 2,
  kTensor = 3,
  kSparse = 4,
  kSequence = 5,
  kMap = 6,
  kOptional = 7,
};

/// A message before its parts are parsed. Its element type is determined by the parts.
struct Message {
  std::string name;
  std::vector<Span> tensors, sequences;
};
} // namespace

static Status malformed(const char *what) {
  return Status::make(TENON_INVALID, "not an ONNX %s (.pb): malformed protobuf", what);
}

static Status readMessage(Span rest, const char *what, Message &message) {
  Field field;
  while (rest.size()) {
    if (!nextField(rest, field))
      return malformed(what);
    if (field.number > kOptional)
      continue;
    if (field.wireType != (field.number == kElemType ? kVarint : kBytes))
      return malformed(what);
    if (field.number == kSparse || field.number == kMap || field.number == kOptional)
      return Status::make(TENON_UNSUPPORTED, "the %s holds sparse tensors, maps or optionals", what);
    if (field.number == kName)
      message.name = field.bytes.text();
    else if (field.number != kElemType)
      (field.number == kTensor ? message.tensors : message.sequences).push_back(field.bytes);
  }
  return {};
}

static Status addTensor(Span bytes, HostValue &value) {
  HostTensor tensor;
  Status status = parseTensorProto(bytes.at, bytes.size(), &tensor);
  if (status.failed())
    return Status::make(status.code(), "tensor %zu: %s", value.tensors.size(), status.message());
  value.tensors.push_back(std::move(tensor));
  return {};
}

Status parseSequenceProto(const uint8_t *bytes, size_t size, HostValue *value) {
  Message message;
  TENON_TRY(readMessage({bytes, bytes + size}, "sequence", message));
  if (!message.sequences.empty())
    return Status::make(TENON_UNSUPPORTED, "a sequence of sequences");
  HostValue result{message.name, true, true, {}};
  for (Span tensor : message.tensors)
    TENON_TRY(addTensor(tensor, result));
  *value = std::move(result);
  return {};
}

Status parseOptionalProto(const uint8_t *bytes, size_t size, HostValue *value) {
  Message message;
  TENON_TRY(readMessage({bytes, bytes + size}, "optional", message));
  size_t count = message.tensors.size() + message.sequences.size();
  if (count > 1)
    return Status::make(TENON_INVALID, "an optional that holds %zu values", count);
  HostValue result{"", count == 1, false, {}};
  if (!message.tensors.empty())
    TENON_TRY(addTensor(message.tensors.front(), result));
  if (!message.sequences.empty())
    TENON_TRY(parseSequenceProto(message.sequences.front().at, message.sequences.front().size(), &result));
  result.name = message.name;
  *value = std::move(result);
  return {};
}

} // namespace tenon::run
