//===- NpyStrings.cpp - strings in NumPy's file format --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Npy.h"
#include "tools/tenon-run/NpyFile.h"
#include "tools/tenon-run/Options.h"
#include "tools/tenon-run/Utf8.h"

#include <algorithm>

namespace tenon::run {

/// Reads the text of one element from its `units`, without trailing zeros. Returns false if a code point is invalid.
static bool readElement(const uint8_t *from, uint64_t units, unsigned unitBytes, bool swap, std::string &text) {
  std::vector<uint32_t> codes(units);
  for (uint64_t i = 0; i < units; ++i)
    for (unsigned b = 0; b < unitBytes; ++b)
      codes[i] |= uint32_t(from[i * unitBytes + b]) << 8 * (swap ? unitBytes - 1 - b : b);
  while (!codes.empty() && codes.back() == 0)
    codes.pop_back();
  for (uint32_t code : codes) {
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      return false;
    if (unitBytes == 1)
      text += char(code);
    else
      appendUtf8(text, code);
  }
  return true;
}

Status parseNpyStrings(const uint8_t *bytes, size_t size, HostTensor *tensor) {
  NpyHeader header;
  TENON_TRY(readNpyHeader(bytes, size, header));
  std::string descr(header.descr);
  uint64_t units, elementBytes;
  unsigned unitBytes = descr.size() > 1 && descr[1] == 'S' ? 1 : 4;
  if (descr.size() < 3 || (descr[1] != 'U' && descr[1] != 'S') || !parseNumber(descr.substr(2), &units))
    return Status::make(TENON_INVALID, "holds NumPy type '%s', expected strings ('<U' or '|S')", descr.c_str());
  uint64_t count = tenon_tensor_bytes(TENON_U8, uint32_t(header.shape.size()), header.shape.data());
  uint64_t wanted, have = size - size_t(header.data - bytes);
  if (count == UINT64_MAX || __builtin_mul_overflow(units, unitBytes, &elementBytes) ||
      __builtin_mul_overflow(count, elementBytes, &wanted) || wanted != have)
    return Status::make(
        TENON_INVALID, "has %llu bytes of elements, which its shape %s of '%s' does not fit", (unsigned long long)have,
        indexText(UINT64_MAX, header.shape.data(), uint32_t(header.shape.size())).c_str(), descr.c_str());
  // Rejected, because with zero-length strings a small file could request much memory.
  if (units == 0 && count > 0)
    return Status::make(TENON_INVALID, "holds NumPy type '%s', strings of no length", descr.c_str());

  std::vector<std::string> texts(count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t place = header.fortran ? fortranIndex(i, header.shape) : i;
    if (!readElement(header.data + place * elementBytes, units, unitBytes, descr[0] == '>', texts[i]))
      return Status::make(TENON_INVALID, "element %llu is no text", (unsigned long long)i);
  }
  HostTensor result;
  result.dims = header.shape;
  TENON_TRY(result.setStrings({texts.begin(), texts.end()}));
  *tensor = std::move(result);
  return {};
}

/// Writes code points, and zeros up to `units`.
static bool writeElement(FILE *file, std::string_view text, uint64_t units) {
  for (uint64_t i = 0; i < units; ++i) {
    uint32_t code = text.empty() ? 0 : takeCodePoint(text);
    const uint8_t bytes[4] = {uint8_t(code), uint8_t(code >> 8), uint8_t(code >> 16), 0};
    if (fwrite(bytes, 1, 4, file) != 4)
      return false;
  }
  return true;
}

Status writeNpyStrings(const char *path, const TensorView &strings) {
  // NumPy has no zero-length strings, except in arrays without elements.
  uint64_t units = 1, count = strings.count();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    for (std::string_view text = strings.string(i); !text.empty(); ++length)
      (void)takeCodePoint(text);
    units = std::max(units, length);
  }
  return writeNpyFile(path, "<U" + std::to_string(units), strings.tensor, [&](FILE *file) {
    for (uint64_t i = 0; i < count; ++i)
      if (!writeElement(file, strings.string(i), units))
        return false;
    return true;
  });
}

} // namespace tenon::run
