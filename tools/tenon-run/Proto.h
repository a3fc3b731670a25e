//===- Proto.h - the wire format of protobuf -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As much of it as reading messages takes. Nothing is copied: spans point into the file.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_PROTO_H
#define TENON_TOOLS_TENON_RUN_PROTO_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon::run {

/// A stretch of a protobuf message.
struct Span {
  const uint8_t *at = nullptr, *end = nullptr;

  size_t size() const { return size_t(end - at); }
  std::string_view text() const { return {reinterpret_cast<const char *>(at), size()}; }
  bool varint(uint64_t &value);
  bool skip(size_t count) {
    if (count > size())
      return false;
    at += count;
    return true;
  }
};

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a message: a number for kVarint, bytes for the others.
struct Field {
  unsigned number, wireType;
  uint64_t value;
  Span bytes;
};

/// Removes the next field from a message. Returns false if it is malformed.
bool nextField(Span &message, Field &field);

/// Calls `each` for the numbers of a repeated field, which may be packed.
template <typename Each> bool eachInteger(const Field &field, Each each) {
  if (field.wireType == kVarint)
    return each(field.value);
  if (field.wireType != kBytes)
    return false;
  uint64_t value;
  for (Span rest = field.bytes; rest.size();)
    if (!rest.varint(value) || !each(value))
      return false;
  return true;
}

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_PROTO_H
