//===- png.c - portable network graphics ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transparency is left out, and of samples of 16 bits the upper eight are taken.
//
//===----------------------------------------------------------------------===//

#include "image.h"
#include "inflate.h"

enum { pngGray = 0, pngColor = 2, pngPalette = 3, pngGrayAlpha = 4, pngColorAlpha = 6 };

struct Png {
  uint32_t bits, colorType, channels;
  bool isInterlaced;
  uint8_t palette[256][3];
};

/// The pixels of one of the seven passes of an interlaced image; of all, where it is not.
struct Pass {
  int64_t firstX, firstY, stepX, stepY, width, height, rowSize;
};

static const int64_t passCount = 7;

static struct Pass passOf(const struct Png *png, const struct Image *image, int64_t i) {
  static const uint8_t firstX[] = {0, 4, 0, 2, 0, 1, 0}, firstY[] = {0, 0, 4, 0, 2, 0, 1};
  static const uint8_t stepX[] = {8, 8, 4, 4, 2, 2, 1}, stepY[] = {8, 8, 8, 4, 4, 2, 2};
  struct Pass pass = {0, 0, 1, 1, 0, 0, 0};
  if (png->isInterlaced)
    pass = (struct Pass){firstX[i], firstY[i], stepX[i], stepY[i], 0, 0, 0};
  else if (i > 0)
    return pass;
  pass.width = (image->width - pass.firstX + pass.stepX - 1) / pass.stepX;
  pass.height = (image->height - pass.firstY + pass.stepY - 1) / pass.stepY;
  pass.rowSize = (pass.width * png->bits * png->channels + 7) / 8;
  if (pass.width == 0)
    pass.height = 0;
  return pass;
}

static enum Outcome readPngHeader(struct Reader *r, struct Png *png, struct Image *image) {
  static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
  moveTo(r, 16);
  int64_t width = read32(r), height = read32(r);
  png->bits = readByte(r);
  png->colorType = readByte(r);
  uint32_t methods = read16(r), interlace = readByte(r);
  if (r->hasEnded || png->colorType > 6 || !channels[png->colorType] || methods || interlace > 1)
    return imageDamaged;
  bool isSmall = png->bits == 1 || png->bits == 2 || png->bits == 4;
  bool isAllowed = png->bits == 8 || (png->bits == 16 && png->colorType != pngPalette) ||
                   (isSmall && (png->colorType == pngGray || png->colorType == pngPalette));
  if (!isAllowed)
    return imageDamaged;
  png->channels = channels[png->colorType];
  png->isInterlaced = interlace;
  return setSize(image, height, width);
}

/// The check that stands behind each chunk.
static bool isChunkWhole(const uint8_t *bytes, int64_t count, uint32_t check) {
  // The remainders of half a byte, of the polynomial of CRC-32.
  static const uint32_t remainders[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                          0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                          0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = ~0u;
  for (int64_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ remainders[crc & 15];
    crc = crc >> 4 ^ remainders[crc & 15];
  }
  return ~crc == check;
}

/// Joins the compressed data of all chunks, and reads the palette. Gives the number of bytes, or -1.
static int64_t readChunks(struct Reader *r, struct Png *png, uint8_t *joined) {
  int64_t count = 0;
  for (int i = 0; i < 256; ++i)
    for (int c = 0; c < 3; ++c)
      png->palette[i][c] = 0;
  moveTo(r, 8);
  for (;;) {
    int64_t size = read32(r), begin = r->place;
    bool isData = hasBytesAt(r, begin, "IDAT", 4), isPalette = hasBytesAt(r, begin, "PLTE", 4);
    bool isEnd = hasBytesAt(r, begin, "IEND", 4);
    skipBytes(r, 4 + size);
    uint32_t check = read32(r);
    if (isEnd || r->hasEnded)
      return r->hasEnded && !isEnd ? -1 : count;
    const uint8_t *bytes = r->data + begin + 4;
    if ((isData || isPalette) && !isChunkWhole(bytes - 4, size + 4, check))
      return -1;
    for (int64_t k = 0; isData && k < size; ++k)
      joined[count++] = bytes[k];
    for (int64_t k = 0; isPalette && k < size && k < 768; ++k)
      png->palette[k / 3][k % 3] = bytes[k];
  }
}

static uint32_t paeth(int32_t left, int32_t above, int32_t corner) {
  int32_t guess = left + above - corner;
  int32_t toLeft = guess < left ? left - guess : guess - left;
  int32_t toAbove = guess < above ? above - guess : guess - above;
  int32_t toCorner = guess < corner ? corner - guess : guess - corner;
  if (toLeft <= toAbove && toLeft <= toCorner)
    return left;
  return toAbove <= toCorner ? above : corner;
}

/// Undoes the filter of a row; `above` is null for the first one.
static bool unfilter(uint8_t *row, const uint8_t *above, int64_t size, int64_t pixelSize, uint32_t filter) {
  if (filter > 4)
    return false;
  for (int64_t i = 0; filter && i < size; ++i) {
    uint32_t a = i < pixelSize ? 0 : row[i - pixelSize], b = above ? above[i] : 0;
    uint32_t c = above && i >= pixelSize ? above[i - pixelSize] : 0;
    row[i] += filter == 1 ? a : filter == 2 ? b : filter == 3 ? (a + b) / 2 : paeth(a, b, c);
  }
  return true;
}

/// Sample `i` of a row, as a byte; as it is, where it stands for a color of the palette.
static uint32_t sampleAt(const struct Png *png, const uint8_t *row, int64_t i) {
  if (png->bits >= 8)
    return row[i * png->bits / 8];
  int64_t bit = i * png->bits;
  uint32_t most = (1u << png->bits) - 1, value = row[bit / 8] >> (8 - bit % 8 - png->bits) & most;
  return png->colorType == pngPalette ? value : value * 255 / most;
}

static void putRow(const struct Png *png, const struct Image *image, const struct Pass *pass, const uint8_t *row,
                   int64_t y) {
  bool isColor = png->colorType == pngColor || png->colorType == pngColorAlpha;
  for (int64_t i = 0; i < pass->width; ++i) {
    int64_t x = pass->firstX + i * pass->stepX, at = i * png->channels;
    uint32_t first = sampleAt(png, row, at);
    const uint8_t *color = png->palette[first];
    if (png->colorType == pngPalette)
      putPixel(image, y, x, color[0], color[1], color[2]);
    else
      putPixel(image, y, x, first, isColor ? sampleAt(png, row, at + 1) : first,
               isColor ? sampleAt(png, row, at + 2) : first);
  }
}

static enum Outcome putPasses(const struct Png *png, const struct Image *image, uint8_t *raw) {
  int64_t pixelSize = png->bits * png->channels / 8;
  for (int64_t p = 0; p < passCount; ++p) {
    struct Pass pass = passOf(png, image, p);
    const uint8_t *above = NULL;
    for (int64_t i = 0; i < pass.height; ++i, raw += pass.rowSize) {
      uint32_t filter = *raw++;
      if (!unfilter(raw, above, pass.rowSize, pixelSize ? pixelSize : 1, filter))
        return imageDamaged;
      putRow(png, image, &pass, raw, pass.firstY + i * pass.stepY);
      above = raw;
    }
  }
  return imageDone;
}

enum Outcome decodePng(struct Reader file, struct Image *image) {
  struct Png png;
  file.isBigEndian = true;
  enum Outcome outcome = readPngHeader(&file, &png, image);
  if (outcome != imageDone)
    return outcome;
  int64_t size = 0;
  for (int64_t p = 0; p < passCount; ++p) {
    struct Pass pass = passOf(&png, image, p);
    size += pass.height * (pass.rowSize + 1);
  }
  uint8_t *raw = takeWorkspace(image, size), *joined = takeWorkspace(image, file.size);
  if (!image->pixels)
    return imageDone;
  int64_t joinedSize = readChunks(&file, &png, joined);
  struct Reader stream = {joined, joinedSize, 0, true, false};
  if (joinedSize < 0 || !inflate(stream, raw, size))
    return imageDamaged;
  return putPasses(&png, image, raw);
}
