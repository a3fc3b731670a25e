//===- Image.cpp - which format a file has, and the limits ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <cstdarg>
#include <cstdio>

using namespace tenon::image;

Result Result::make(tenon_status status, const char *format, ...) {
  Result result;
  result.status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(result.text, sizeof result.text, format, arguments);
  va_end(arguments);
  // Texts of libraries may end with a line break.
  for (size_t end = strlen(result.text); end > 0 && (result.text[end - 1] == '\n' || result.text[end - 1] == '.');
       --end)
    result.text[end - 1] = 0;
  return result;
}

Result tenon::image::damaged(const Format &format, const char *reason) {
  return Result::make(TENON_INVALID, "the %s file is damaged: %s", format.name, reason);
}

Result tenon::image::unsupported(const Format &format, const char *reason) {
  return Result::make(TENON_UNSUPPORTED, "the image is a %s file of a kind that is not supported: %s", format.name,
                      reason);
}

Result tenon::image::outOfMemory(const Format &format) {
  return Result::make(TENON_RESOURCES, "there is not enough memory to decode the %s file", format.name);
}

// No format's signature is a prefix of another one's.
static const Format *const formats[] = {&bmpFormat, &jpegFormat, &jpeg2000Format, &pngFormat,
                                        &pnmFormat, &tiffFormat, &webpFormat};

static Result findFormat(Bytes file, const Format *&found) {
  char names[128] = "";
  for (const Format *format : formats) {
    if (format->isFormat(file)) {
      found = format;
      return {};
    }
    size_t length = strlen(names);
    snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", format->name);
  }
  return Result::make(TENON_INVALID, "the bytes are no image of a known format (%s)", names);
}

static Result checkLimits(const Format &format, Bytes file, uint64_t memoryLimit, const Header &header) {
  if (header.height > kMaxPixels || header.width > kMaxPixels || header.height * header.width > kMaxPixels)
    return Result::make(TENON_RESOURCES, "the image has more than %lld pixels, the limit",
                        static_cast<long long>(kMaxPixels));
  // A tiny header may announce a huge image, whose pixels are allocated before any is decoded. The best compression, a
  // single color in PNG, takes a byte for 8,000 pixels.
  constexpr int64_t kFreePixels = 1 << 24, kPixelsOfByte = 8192;
  int64_t pixels = header.height * header.width;
  if (pixels > kFreePixels && pixels / kPixelsOfByte > static_cast<int64_t>(file.size))
    return Result::make(TENON_RESOURCES,
                        "the %s file of %zu bytes says it has %lld pixels; the limit is %lld a byte, and %lld are free",
                        format.name, file.size, static_cast<long long>(pixels), static_cast<long long>(kPixelsOfByte),
                        static_cast<long long>(kFreePixels));
  if (memoryLimit && header.workspace > memoryLimit)
    return Result::make(
        TENON_RESOURCES,
        "decoding the %s file takes up to %llu bytes besides the pixels, more than the memory limit of %llu",
        format.name, static_cast<unsigned long long>(header.workspace), static_cast<unsigned long long>(memoryLimit));
  return {};
}

static Result readHeader(Bytes file, uint64_t memoryLimit, const Format *&format, Header &header) {
  if (Result result = findFormat(file, format); result.failed())
    return result;
  if (Result result = format->measure(file, header); result.failed())
    return result;
  if (header.height <= 0 || header.width <= 0)
    return damaged(*format, "it has no pixels");
  return checkLimits(*format, file, memoryLimit, header);
}

Result tenon::image::measure(Bytes file, uint64_t memoryLimit, Header &header) {
  const Format *format;
  return readHeader(file, memoryLimit, format, header);
}

Result tenon::image::decode(Bytes file, uint64_t memoryLimit, const Canvas &canvas) {
  const Format *format;
  Header header;
  if (Result result = readHeader(file, memoryLimit, format, header); result.failed())
    return result;
  if (header.height != canvas.height || header.width != canvas.width)
    return Result::make(TENON_INVALID, "the image has %lld x %lld pixels, and memory was made for %lld x %lld",
                        static_cast<long long>(header.height), static_cast<long long>(header.width),
                        static_cast<long long>(canvas.height), static_cast<long long>(canvas.width));
  return format->decode(file, canvas);
}
