//===- Webp.cpp - WebP, by libwebp ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <webp/decode.h>

using namespace tenon::image;

static bool isWebp(Bytes file) { return file.startsWith("RIFF", 4) && file.startsWith("WEBP", 4, 8); }

static Result fail(VP8StatusCode code) {
  switch (code) {
  case VP8_STATUS_OUT_OF_MEMORY:
    return outOfMemory(webpFormat);
  case VP8_STATUS_UNSUPPORTED_FEATURE:
    return unsupported(webpFormat, "libwebp has no decoder for it");
  case VP8_STATUS_NOT_ENOUGH_DATA:
  case VP8_STATUS_SUSPENDED:
    return damaged(webpFormat, "it is cut short");
  default:
    return damaged(webpFormat, "its data are not those of an encoder");
  }
}

static Result measureWebp(Bytes file, Header &header) {
  WebPBitstreamFeatures features;
  if (VP8StatusCode code = WebPGetFeatures(file.data, file.size, &features); code != VP8_STATUS_OK)
    return fail(code);
  if (features.has_animation)
    return unsupported(webpFormat, "it is an animation");
  // Lossless images are decoded to 4 bytes per pixel, and a gray canvas is filled from a copy.
  header = {features.height, features.width, uint64_t(features.height) * features.width * 8};
  return {};
}

/// Transparency is left out.
static Result decodeWebp(Bytes file, const Canvas &canvas) {
  bool isGray = canvas.order == PixelOrder::gray;
  size_t stride = size_t(canvas.width) * 3, size = stride * size_t(canvas.height);
  Buffer colors(isGray ? size : 0);
  WebPDecoderConfig config;
  if (!colors || !WebPInitDecoderConfig(&config))
    return outOfMemory(webpFormat);
  config.output.colorspace = canvas.order == PixelOrder::bgr ? MODE_BGR : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {isGray ? colors.get() : canvas.pixels, int(stride), size};
  VP8StatusCode code = WebPDecode(file.data, file.size, &config);
  WebPFreeDecBuffer(&config.output);
  if (code != VP8_STATUS_OK)
    return fail(code);
  for (int64_t y = 0; isGray && y < canvas.height; ++y)
    canvas.putRow(y, 0, canvas.width, colors.get() + size_t(y) * stride, 3, Samples::rgb);
  return {};
}

const Format tenon::image::webpFormat = {"WebP", isWebp, measureWebp, decodeWebp};
