//===- Proto.cpp - the wire format of protobuf ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Proto.h"

namespace tenon::run {

bool Span::varint(uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end)
      return false;
    uint8_t byte = *at++;
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

bool nextField(Span &message, Field &field) {
  uint64_t tag;
  if (!message.varint(tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    return false;
  field = {unsigned(tag >> 3), unsigned(tag & 7), 0, {}};
  uint64_t length;
  switch (field.wireType) {
  case kVarint:
    return message.varint(field.value);
  case kFixed64:
    length = 8;
    break;
  case kFixed32:
    length = 4;
    break;
  case kBytes:
    if (!message.varint(length))
      return false;
    break;
  default:
    return false;
  }
  field.bytes.at = message.at;
  if (length > message.size() || !message.skip(length))
    return false;
  field.bytes.end = message.at;
  return true;
}

} // namespace tenon::run
