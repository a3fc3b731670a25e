//===- Canvas.h - where decoded pixels go ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Colours are converted as Pillow converts them, to the bit: ONNX's cases come from there.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLUGIN_IMAGE_CANVAS_H
#define TENON_RUNTIME_PLUGIN_IMAGE_CANVAS_H

#include <cstdint>

namespace tenon::image {

enum class PixelOrder { rgb, bgr, gray };

/// The meaning of a pixel's 8-bit samples. In `cmyk`, 0 means no ink.
enum class Samples { gray, rgb, cmyk };

/// The result: height x width x 3, or x 1 for `gray`, row-major.
struct Canvas {
  uint8_t *pixels;
  int64_t height, width;
  PixelOrder order;

  int64_t channels() const { return order == PixelOrder::gray ? 1 : 3; }
  uint8_t *row(int64_t y) const { return pixels + y * width * channels(); }

  /// The luma of ITU-R BT.601, in 16 bits of fraction.
  static uint8_t luma(uint32_t red, uint32_t green, uint32_t blue) {
    return uint8_t((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
  }

  void put(uint8_t *at, uint8_t red, uint8_t green, uint8_t blue) const {
    if (order == PixelOrder::gray) {
      *at = luma(red, green, blue);
      return;
    }
    at[0] = order == PixelOrder::rgb ? red : blue;
    at[1] = green;
    at[2] = order == PixelOrder::rgb ? blue : red;
  }

  /// Writes `count` pixels of row `y` from column `x` on. The pixels in `samples` are `stride` bytes apart.
  void putRow(int64_t y, int64_t x, int64_t count, const uint8_t *samples, int64_t stride, Samples kind) const {
    uint8_t *at = row(y) + x * channels();
    for (int64_t i = 0; i < count; ++i, at += channels(), samples += stride) {
      if (kind == Samples::gray)
        put(at, samples[0], samples[0], samples[0]);
      else if (kind == Samples::rgb)
        put(at, samples[0], samples[1], samples[2]);
      else
        put(at, mixInk(samples[0], samples[3]), mixInk(samples[1], samples[3]), mixInk(samples[2], samples[3]));
    }
  }

private:
  /// Converts an ink and black to light: (255 - ink) x (255 - black) / 255, rounded like Pillow.
  static uint8_t mixInk(uint32_t ink, uint32_t black) {
    uint32_t light = 255 - black, product = ink * light + 128;
    uint32_t taken = ((product >> 8) + product) >> 8;
    return uint8_t(taken > light ? 0 : light - taken);
  }
};

} // namespace tenon::image

#endif // TENON_RUNTIME_PLUGIN_IMAGE_CANVAS_H
