//===- bmp.c - Windows bitmaps --------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "image.h"

enum { bmpPlain = 0, bmpRuns8 = 1, bmpRuns4 = 2, bmpMasks = 3, bmpMasksAlpha = 6 };

struct Bmp {
  uint32_t bits, compression;
  bool isTopDown;
  int64_t dataOffset;
  uint32_t masks[3];
  uint8_t palette[256][3];
};

static void readPalette(struct Reader *r, struct Bmp *bmp, uint32_t count, bool isCore) {
  for (uint32_t i = 0; i < 256; ++i)
    for (int c = 2; c >= 0; --c)
      bmp->palette[i][c] = 0;
  for (uint32_t i = 0; i < count && i < 256; ++i) {
    for (int c = 2; c >= 0; --c)
      bmp->palette[i][c] = readByte(r);
    skipBytes(r, isCore ? 0 : 1);
  }
}

static void setMasks(struct Bmp *bmp, uint32_t red, uint32_t green, uint32_t blue) {
  bmp->masks[0] = red;
  bmp->masks[1] = green;
  bmp->masks[2] = blue;
}

static enum Outcome readBmpHeader(struct Reader *r, struct Bmp *bmp, struct Image *image) {
  moveTo(r, 10);
  bmp->dataOffset = read32(r);
  int64_t headerSize = read32(r), colors = 0;
  bool isCore = headerSize == 12;
  if (!isCore && headerSize < 40)
    return imageDamaged;
  int32_t width = isCore ? read16(r) : read32(r), height = isCore ? read16(r) : read32(r);
  skipBytes(r, 2);
  bmp->bits = read16(r);
  bmp->compression = bmpPlain;
  if (!isCore) {
    bmp->compression = read32(r);
    skipBytes(r, 12);
    colors = read32(r);
    skipBytes(r, 4);
  }
  bool hasMasks = bmp->compression == bmpMasks || bmp->compression == bmpMasksAlpha;
  if (hasMasks)
    for (int c = 0; c < 3; ++c)
      bmp->masks[c] = read32(r);
  else if (bmp->bits == 16)
    setMasks(bmp, 0x7c00, 0x3e0, 0x1f);
  else
    setMasks(bmp, 0xff0000, 0xff00, 0xff);
  // Masks stand behind a header of the first version, and in any later one.
  int64_t maskSize = hasMasks && headerSize == 40 ? bmp->compression == bmpMasksAlpha ? 16 : 12 : 0;
  moveTo(r, 14 + headerSize + maskSize);
  if (bmp->bits <= 8)
    readPalette(r, bmp, colors > 0 ? colors : 1u << bmp->bits, isCore);
  if (r->hasEnded || height == INT32_MIN)
    return imageDamaged;
  bmp->isTopDown = height < 0;
  return setSize(image, height < 0 ? -height : height, width);
}

static bool isSupported(const struct Bmp *bmp) {
  switch (bmp->compression) {
  case bmpPlain:
    return bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8 || bmp->bits == 16 || bmp->bits == 24 ||
           bmp->bits == 32;
  case bmpRuns8:
    return bmp->bits == 8 && !bmp->isTopDown;
  case bmpRuns4:
    return bmp->bits == 4 && !bmp->isTopDown;
  case bmpMasks:
  case bmpMasksAlpha:
    return bmp->bits == 16 || bmp->bits == 32;
  }
  return false;
}

/// The part of a pixel under a mask, as a byte.
static uint32_t partOf(uint32_t pixel, uint32_t mask) {
  if (!mask)
    return 0;
  int shift = __builtin_ctz(mask);
  return (uint64_t)((pixel & mask) >> shift) * 255 / (mask >> shift);
}

static void putPaletteColor(const struct Image *image, const struct Bmp *bmp, int64_t y, int64_t x, uint32_t index) {
  const uint8_t *color = bmp->palette[index & 255];
  putPixel(image, y, x, color[0], color[1], color[2]);
}

static enum Outcome decodeRows(struct Reader *r, const struct Bmp *bmp, struct Image *image) {
  int64_t rowSize = (image->width * bmp->bits + 31) / 32 * 4;
  for (int64_t i = 0; i < image->height; ++i) {
    int64_t y = bmp->isTopDown ? i : image->height - 1 - i;
    // The padding of the last row may be missing.
    moveTo(r, bmp->dataOffset + i * rowSize);
    for (int64_t x = 0, byte = 0; x < image->width; ++x) {
      if (bmp->bits <= 8) {
        int64_t bit = x * bmp->bits % 8;
        byte = bit ? byte : readByte(r);
        putPaletteColor(image, bmp, y, x, byte >> (8 - bit - bmp->bits) & ((1u << bmp->bits) - 1));
        continue;
      }
      uint32_t pixel = bmp->bits == 16 ? read16(r) : bmp->bits == 24 ? read24(r) : read32(r);
      putPixel(image, y, x, partOf(pixel, bmp->masks[0]), partOf(pixel, bmp->masks[1]), partOf(pixel, bmp->masks[2]));
    }
  }
  return r->hasEnded ? imageDamaged : imageDone;
}

/// Runs of one byte, or stretches of bytes; where neither goes, pixels have the first color.
static enum Outcome decodeRuns(struct Reader *r, const struct Bmp *bmp, struct Image *image) {
  for (int64_t y = 0; y < image->height; ++y)
    for (int64_t x = 0; x < image->width; ++x)
      putPaletteColor(image, bmp, y, x, 0);
  int64_t x = 0, row = 0;
  moveTo(r, bmp->dataOffset);
  while (row < image->height && !r->hasEnded) {
    uint32_t count = readByte(r), value = readByte(r), byte = value;
    if (count == 0 && value == 0) {
      x = 0;
      ++row;
      continue;
    }
    if (count == 0 && value == 1)
      break;
    if (count == 0 && value == 2) {
      x += readByte(r);
      row += readByte(r);
      continue;
    }
    bool isStretch = count == 0;
    int64_t begin = r->place;
    count = isStretch ? value : count;
    for (uint32_t i = 0; i < count; ++i, ++x) {
      if (isStretch && (bmp->bits == 8 || i % 2 == 0))
        byte = readByte(r);
      uint32_t index = bmp->bits == 8 ? byte : i % 2 ? byte & 15 : byte >> 4;
      if (x < image->width)
        putPaletteColor(image, bmp, image->height - 1 - row, x, index);
    }
    // Stretches fill whole words.
    if (isStretch && (r->place - begin) % 2)
      readByte(r);
  }
  return r->hasEnded ? imageDamaged : imageDone;
}

enum Outcome decodeBmp(struct Reader file, struct Image *image) {
  struct Bmp bmp;
  enum Outcome outcome = readBmpHeader(&file, &bmp, image);
  if (outcome != imageDone)
    return outcome;
  if (!isSupported(&bmp))
    return imageUnsupported;
  if (!image->pixels)
    return imageDone;
  bool hasRuns = bmp.compression == bmpRuns8 || bmp.compression == bmpRuns4;
  return hasRuns ? decodeRuns(&file, &bmp, image) : decodeRows(&file, &bmp, image);
}
