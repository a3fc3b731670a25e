//===- Image.h - image files, as pixels -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A format is three functions: one recognizes a file, one reads its header, one decodes it. Files are hostile: a size
// is compared with a limit before memory is allocated for it, and a damaged file is an error, never a guess.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLUGIN_IMAGE_IMAGE_H
#define TENON_RUNTIME_PLUGIN_IMAGE_IMAGE_H

#include "runtime/plugin/image/Canvas.h"
#include "tenon/runtime.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tenon::image {

/// A larger image is treated as an attack. Pillow has the same limit.
constexpr int64_t kMaxPixels = 178956970;

/// The result of a decoder, with a message for the user. Trivially destructible, because longjmp skips destructors in
/// frames of C libraries.
struct [[nodiscard]] Result {
  tenon_status status = TENON_OK;
  char text[256] = "";

  static Result make(tenon_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
  bool failed() const { return status != TENON_OK; }
};

/// The bytes of a file.
struct Bytes {
  const uint8_t *data;
  size_t size;

  bool startsWith(const char *bytes, size_t count, size_t at = 0) const {
    return at + count <= size && memcmp(data + at, bytes, count) == 0;
  }
};

/// What a header says.
struct Header {
  int64_t height = 0, width = 0;
  uint64_t workspace = 0; ///< bytes that decoding allocates besides the pixels, as an upper estimate
};

/// Memory whose size comes from a file: null if it cannot be allocated.
class Buffer {
public:
  explicit Buffer(size_t size) : bytes(static_cast<uint8_t *>(malloc(size ? size : 1))) {}
  ~Buffer() { free(bytes); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  uint8_t *get() const { return bytes; }
  explicit operator bool() const { return bytes; }

private:
  uint8_t *bytes;
};

struct Format {
  const char *name;
  bool (*isFormat)(Bytes file);
  /// Reads the header; extents must be in 1..INT32_MAX.
  Result (*measure)(Bytes file, Header &header);
  /// Writes every pixel of `canvas`, whose extents are those of the header.
  Result (*decode)(Bytes file, const Canvas &canvas);
};

extern const Format bmpFormat, jpegFormat, jpeg2000Format, pngFormat, pnmFormat, tiffFormat, webpFormat;

/// Recognizes a file, reads its header and checks the limits; `memoryLimit` bounds the workspace, 0 means no limit.
Result measure(Bytes file, uint64_t memoryLimit, Header &header);

/// Decodes a file whose header must match the extents of `canvas`.
Result decode(Bytes file, uint64_t memoryLimit, const Canvas &canvas);

// The errors that all formats have.
Result damaged(const Format &format, const char *reason);
Result unsupported(const Format &format, const char *reason);
Result outOfMemory(const Format &format);

} // namespace tenon::image

#endif // TENON_RUNTIME_PLUGIN_IMAGE_IMAGE_H
