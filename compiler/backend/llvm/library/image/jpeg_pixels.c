//===- jpeg_pixels.c - coefficients of a JPEG file, as pixels -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transform is that of Loeffler, Ligtenberg and Moschytz in fixed point; it, the upsampling by triangles and the
// colors round as libjpeg's (jidctint.c, jdsample.c, jdcolor.c).
//
//===----------------------------------------------------------------------===//

#include "jpeg.h"

//===----------------------------------------------------------------------===//
// The inverse transform
//===----------------------------------------------------------------------===//

enum { constBits = 13, passBits = 2 };

/// Eight values, `step` apart; rounded after a shift.
static void transform8(int64_t *values, int step, int shift) {
  int64_t v[8];
  for (int i = 0; i < 8; ++i)
    v[i] = values[i * step];
  int64_t z = (v[2] + v[6]) * 4433, even2 = z - v[6] * 15137, even3 = z + v[2] * 6270;
  int64_t even0 = (v[0] + v[4]) * (1 << constBits), even1 = (v[0] - v[4]) * (1 << constBits);
  int64_t sums[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};
  int64_t z1 = (v[7] + v[1]) * -7373, z2 = (v[5] + v[3]) * -20995, z5 = (v[7] + v[3] + v[5] + v[1]) * 9633;
  int64_t z3 = (v[7] + v[3]) * -16069 + z5, z4 = (v[5] + v[1]) * -3196 + z5;
  int64_t odd[4] = {v[1] * 12299 + z1 + z4, v[3] * 25172 + z2 + z3, v[5] * 16819 + z2 + z4, v[7] * 2446 + z1 + z3};
  int64_t half = (int64_t)1 << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    values[i * step] = (sums[i] + odd[i] + half) >> shift;
    values[(7 - i) * step] = (sums[i] - odd[i] + half) >> shift;
  }
}

void transformJpeg(struct JpegComponent *c) {
  int64_t stride = c->blocksAcross * 8;
  for (int64_t b = 0; b < c->blocksAcross * c->blocksDown; ++b) {
    const int16_t *block = c->coefficients + b * 64;
    uint8_t *to = c->samples + b / c->blocksAcross * 8 * stride + b % c->blocksAcross * 8;
    int64_t values[64];
    // Products of damaged files may be too large for 16 bits.
    for (int i = 0; i < 64; ++i)
      values[i] = (int16_t)(block[i] * c->quantization[i]);
    for (int i = 0; i < 8; ++i)
      transform8(values + i, 8, constBits - passBits);
    for (int i = 0; i < 8; ++i)
      transform8(values + i * 8, 1, constBits + passBits + 3);
    for (int i = 0; i < 64; ++i)
      to[i / 8 * stride + i % 8] = clampToByte(values[i] + 128);
  }
}

//===----------------------------------------------------------------------===//
// Upsampling
//===----------------------------------------------------------------------===//

static void repeat(const struct JpegComponent *c, const uint8_t *row, int64_t times, uint8_t *to) {
  for (int64_t x = 0; x < c->width; ++x)
    for (int64_t k = 0; k < times; ++k)
      to[x * times + k] = row[x];
}

/// Twice as many columns: three parts of the nearer sample, one of the next.
static void widen(const struct JpegComponent *c, const uint8_t *row, uint8_t *to) {
  int64_t last = c->width - 1;
  for (int64_t x = 0; x <= last; ++x) {
    to[2 * x] = x == 0 ? row[x] : (row[x] * 3 + row[x - 1] + 1) >> 2;
    to[2 * x + 1] = x == last ? row[x] : (row[x] * 3 + row[x + 1] + 2) >> 2;
  }
}

/// Twice as many rows.
static void heighten(const struct JpegComponent *c, const uint8_t *near, const uint8_t *far, bool isUpper,
                     uint8_t *to) {
  for (int64_t x = 0; x < c->width; ++x)
    to[x] = (near[x] * 3 + far[x] + (isUpper ? 1 : 2)) >> 2;
}

/// Twice as many of both.
static void enlarge(const struct JpegComponent *c, const uint8_t *near, const uint8_t *far, uint8_t *to) {
  int64_t last = c->width - 1;
  for (int64_t x = 0; x <= last; ++x) {
    int32_t sum = near[x] * 3 + far[x];
    int32_t before = x == 0 ? sum : near[x - 1] * 3 + far[x - 1];
    int32_t next = x == last ? sum : near[x + 1] * 3 + far[x + 1];
    to[2 * x] = (sum * 3 + before + 8) >> 4;
    to[2 * x + 1] = (sum * 3 + next + 7) >> 4;
  }
}

/// Row `y` of the image, of one component.
static void upsample(const struct Jpeg *jpeg, const struct JpegComponent *c, int64_t y, uint8_t *to) {
  int64_t across = jpeg->maxHorizontal / c->horizontal, down = jpeg->maxVertical / c->vertical;
  int64_t stride = c->blocksAcross * 8, at = y / down;
  bool isUpper = y % down == 0;
  int64_t other = isUpper ? at - 1 : at + 1;
  other = other < 0 ? 0 : other >= c->height ? c->height - 1 : other;
  const uint8_t *near = c->samples + at * stride, *far = c->samples + other * stride;
  if (across == 1 && down == 2)
    heighten(c, near, far, isUpper, to);
  else if (across == 2 && down == 1 && c->width > 2)
    widen(c, near, to);
  else if (across == 2 && down == 2 && c->width > 2)
    enlarge(c, near, far, to);
  else
    repeat(c, near, across, to);
}

//===----------------------------------------------------------------------===//
// Colors
//===----------------------------------------------------------------------===//

/// Whether three components are red, green and blue. Files do not say so plainly.
static bool isRgb(const struct Jpeg *jpeg) {
  const struct JpegComponent *c = jpeg->components;
  if (jpeg->hasJfif)
    return false;
  if (jpeg->hasAdobe)
    return jpeg->adobeTransform == 0;
  return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B';
}

/// Luma and two differences of color, to red, green and blue.
static void toRgb(const uint8_t ycc[3], uint8_t rgb[3]) {
  int32_t y = ycc[0], blue = ycc[1] - 128, red = ycc[2] - 128;
  rgb[0] = clampToByte(y + ((91881 * red + 32768) >> 16));
  rgb[1] = clampToByte(y + ((-22554 * blue - 46802 * red + 32768) >> 16));
  rgb[2] = clampToByte(y + ((116130 * blue + 32768) >> 16));
}

/// Four components are taken to be inverted, as Photoshop writes them.
static void putFour(const struct Jpeg *jpeg, const struct Image *image, int64_t y, int64_t x, const uint8_t s[4]) {
  uint8_t ink[4] = {255 - s[0], 255 - s[1], 255 - s[2], 255 - s[3]};
  // With differences of color the first three are the complement of red, green and blue.
  if (jpeg->hasAdobe && jpeg->adobeTransform == 2)
    toRgb(s, ink);
  putInk(image, y, x, ink);
}

void putJpeg(const struct Jpeg *jpeg, const struct Image *image, uint8_t *rows) {
  int64_t rowSize = jpeg->unitsAcross * jpeg->maxHorizontal * 8;
  bool isPlain = jpeg->count == 3 && isRgb(jpeg);
  for (int64_t y = 0; y < image->height; ++y) {
    for (int i = 0; i < jpeg->count; ++i)
      upsample(jpeg, &jpeg->components[i], y, rows + i * rowSize);
    for (int64_t x = 0; x < image->width; ++x) {
      uint8_t s[4], rgb[3];
      for (int i = 0; i < jpeg->count; ++i)
        s[i] = rows[i * rowSize + x];
      if (jpeg->count == 1) {
        putPixel(image, y, x, s[0], s[0], s[0]);
      } else if (jpeg->count == 4) {
        putFour(jpeg, image, y, x, s);
      } else if (isPlain) {
        putPixel(image, y, x, s[0], s[1], s[2]);
      } else {
        toRgb(s, rgb);
        putPixel(image, y, x, rgb[0], rgb[1], rgb[2]);
      }
    }
  }
}
