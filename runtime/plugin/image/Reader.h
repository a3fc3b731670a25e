//===- Reader.h - numbers that are read in order --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLUGIN_IMAGE_READER_H
#define TENON_RUNTIME_PLUGIN_IMAGE_READER_H

#include "runtime/plugin/image/Image.h"

namespace tenon::image {

/// Reads zeros past the end, and records that this happened.
class Reader {
public:
  enum class Endian { little, big };
  Reader(Bytes file, Endian endian) : file(file), isBigEndian(endian == Endian::big) {}

  uint32_t u8() {
    if (place < file.size)
      return file.data[place++];
    isPastEnd = true;
    return 0;
  }
  uint32_t u16() { return number(2); }
  uint32_t u24() { return number(3); }
  uint32_t u32() { return number(4); }

  bool hasEnded() const { return isPastEnd; }
  size_t at() const { return place; }
  size_t left() const { return file.size - place; }

  /// Moves to a position in the file, or to its end if that comes first.
  void moveTo(uint64_t to) {
    isPastEnd |= to > file.size;
    place = to > file.size ? file.size : size_t(to);
  }
  void skip(uint64_t count) { moveTo(count > left() ? UINT64_MAX : place + count); }

private:
  uint32_t number(int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value = isBigEndian ? value << 8 | u8() : value | u8() << (8 * i);
    return value;
  }

  Bytes file;
  size_t place = 0;
  bool isBigEndian, isPastEnd = false;
};

} // namespace tenon::image

#endif // TENON_RUNTIME_PLUGIN_IMAGE_READER_H
