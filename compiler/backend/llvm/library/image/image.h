//===- image.h - what the decoders of images share ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decoder is one function, which reads the header first, and ends there where an image is only measured. Files
// are hostile: every read is checked, and so is every size that a file tells.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_IMAGE_H
#define TENON_LIBRARY_IMAGE_H

#include "reader.h"

/// How decoding ends. Unsupported is a variant of a format that there is no decoder for.
enum Outcome { imageDone, imageDamaged, imageUnsupported, imageTooLarge };

enum PixelOrder { orderRgb, orderBgr, orderGray };

struct Image {
  int64_t height, width;
  /// Bytes of memory that decoding needs beside the pixels.
  int64_t workspaceSize;
  /// Height x width x 3, or x 1; null where the image is only measured.
  uint8_t *pixels;
  enum PixelOrder order;
  uint8_t *workspace;
};

/// A larger image is taken for an attack, as Pillow does.
#define IMAGE_MAX_PIXELS 178956970

/// Sets the image's size, if it can be one.
static inline enum Outcome setSize(struct Image *image, int64_t height, int64_t width) {
  if (height <= 0 || width <= 0)
    return imageDamaged;
  if (height > IMAGE_MAX_PIXELS || width > IMAGE_MAX_PIXELS || height * width > IMAGE_MAX_PIXELS)
    return imageTooLarge;
  image->height = height;
  image->width = width;
  return imageDone;
}

/// The next part of the workspace; only counts where the image is measured.
static inline void *takeWorkspace(struct Image *image, int64_t bytes) {
  int64_t begin = image->workspaceSize;
  image->workspaceSize += (bytes + 15) & ~(int64_t)15;
  return image->pixels ? image->workspace + begin : NULL;
}

static inline uint8_t clampToByte(int64_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Writes a pixel in the wanted order; one of gray has the luma of ITU-R 601-2, rounded as Pillow rounds it.
static inline void putPixel(const struct Image *image, int64_t y, int64_t x, uint32_t red, uint32_t green,
                            uint32_t blue) {
  int64_t place = y * image->width + x;
  if (image->order == orderGray) {
    image->pixels[place] = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
    return;
  }
  uint8_t *at = image->pixels + place * 3;
  at[0] = image->order == orderRgb ? red : blue;
  at[1] = green;
  at[2] = image->order == orderRgb ? blue : red;
}

/// Cyan, magenta, yellow and black, as Pillow makes them colours of light.
static inline void putInk(const struct Image *image, int64_t y, int64_t x, const uint8_t ink[4]) {
  uint8_t parts[3];
  uint32_t light = 255 - ink[3];
  for (int i = 0; i < 3; ++i) {
    uint32_t product = ink[i] * light + 128;
    parts[i] = clampToByte((int64_t)light - (((product >> 8) + product) >> 8));
  }
  putPixel(image, y, x, parts[0], parts[1], parts[2]);
}

enum Outcome decodeBmp(struct Reader file, struct Image *image);
enum Outcome decodeJpeg(struct Reader file, struct Image *image);
enum Outcome decodeJpeg2000(struct Reader file, struct Image *image);
enum Outcome decodePng(struct Reader file, struct Image *image);
enum Outcome decodePnm(struct Reader file, struct Image *image);
enum Outcome decodeTiff(struct Reader file, struct Image *image);
enum Outcome decodeWebp(struct Reader file, struct Image *image);

#endif // TENON_LIBRARY_IMAGE_H
