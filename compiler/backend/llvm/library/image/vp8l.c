//===- vp8l.c - lossless WebP ---------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RFC 9649: pixels as literals, copies and entries of a cache, under codes that may differ from block to block; then
// transforms are undone, the last one first. The data of transforms and blocks are images themselves. A pixel is
// alpha, red, green and blue, from the upper bits down.
//
//===----------------------------------------------------------------------===//

#include "huffman.h"
#include "image.h"
#include "vp8l.h"

enum { literals = 256, lengthSymbols = 24, distanceSymbols = 40, codesOfGroup = 5, maxCacheBits = 11 };
enum { maxGroupSymbols = literals + lengthSymbols + (1 << maxCacheBits) + 3 * literals + distanceSymbols };

enum TransformKind { transformPredict, transformColors, transformGreen, transformPalette, transformCount };

struct Transform {
  enum TransformKind kind;
  int bits;
  uint32_t *data;
  /// Width of the image that it gives, and how many colors there are.
  int64_t width, colorCount;
};

struct Vp8l {
  struct BitReader in;
  struct Transform transforms[transformCount];
  int transformCount;
  /// Images of data, and the memory of codes; of which as much is used as `symbolPlace` says.
  uint32_t *data[transformCount], *blocks;
  struct Code *codes;
  int64_t groupLimit, symbolLimit, symbolPlace;
  uint16_t *symbols;
};

static int64_t blocksOf(int64_t size, int bits) { return (size + ((int64_t)1 << bits) - 1) >> bits; }

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// One or two symbols that have a bit, or none.
static void readSimpleLengths(struct Vp8l *v, uint8_t *lengths) {
  bool isPair = readBits(&v->in, 1);
  int bits = readBits(&v->in, 1) ? 8 : 1;
  lengths[readBits(&v->in, bits)] = 1;
  if (isPair)
    lengths[readBits(&v->in, 8)] = 1;
}

static bool readCodedLengths(struct Vp8l *v, uint8_t *lengths, int count) {
  static const uint8_t order[19] = {17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t own[19] = {0};
  uint16_t symbols[19];
  struct Code code = {.symbols = symbols};
  for (int i = 0, n = 4 + readBits(&v->in, 4); i < n; ++i)
    own[order[i]] = readBits(&v->in, 3);
  if (!makeWholeCode(&code, own, 19))
    return false;
  int64_t left = count;
  if (readBits(&v->in, 1)) {
    int bits = 2 + 2 * readBits(&v->in, 3);
    left = 2 + readBits(&v->in, bits);
  }
  uint8_t last = 8;
  for (int i = 0; i < count && left > 0; --left) {
    int symbol = readSymbol(&v->in, &code);
    if (symbol < 0 || v->in.bytes.hasEnded)
      return false;
    if (symbol < 16) {
      lengths[i++] = symbol;
      last = symbol ? symbol : last;
      continue;
    }
    int repeat = symbol == 16   ? 3 + readBits(&v->in, 2)
                 : symbol == 17 ? 3 + readBits(&v->in, 3)
                                : 11 + readBits(&v->in, 7);
    if (repeat > count - i)
      return false;
    while (repeat--)
      lengths[i++] = symbol == 16 ? last : 0;
  }
  return true;
}

static bool readCode(struct Vp8l *v, struct Code *code, int count) {
  uint8_t lengths[literals + lengthSymbols + (1 << maxCacheBits)];
  int used = 0;
  for (int i = 0; i < count || i < literals; ++i)
    lengths[i] = 0;
  if (readBits(&v->in, 1))
    readSimpleLengths(v, lengths);
  else if (!readCodedLengths(v, lengths, count))
    return false;
  for (int i = 0; i < count; ++i)
    used += lengths[i] != 0;
  code->symbols = v->symbols + v->symbolPlace;
  v->symbolPlace += used;
  return !v->in.bytes.hasEnded && v->symbolPlace <= v->symbolLimit && makeWholeCode(code, lengths, count);
}

static bool readGroups(struct Vp8l *v, int64_t count, int cacheBits) {
  v->symbolPlace = 0;
  for (int64_t i = 0; i < count; ++i) {
    int sizes[codesOfGroup] = {literals + lengthSymbols + (cacheBits ? 1 << cacheBits : 0), literals, literals,
                               literals, distanceSymbols};
    for (int k = 0; k < codesOfGroup; ++k)
      if (!readCode(v, &v->codes[i * codesOfGroup + k], sizes[k]))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// A length or distance: small symbols are it, larger ones have more bits.
static int64_t readExtent(struct Vp8l *v, int symbol) {
  if (symbol < 4)
    return symbol + 1;
  int bits = (symbol - 2) >> 1;
  return ((int64_t)(2 + (symbol & 1)) << bits) + readBits(&v->in, bits) + 1;
}

/// The first distances are those of pixels nearby: eight to the left less the lower half, as many rows up as the
/// upper half.
static int64_t distanceOf(int64_t number, int64_t width) {
  static const uint8_t nearby[120] = {
      0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37, 0x39, 0x15, 0x1b,
      0x36, 0x3a, 0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b, 0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45,
      0x4b, 0x34, 0x3c, 0x03, 0x57, 0x59, 0x13, 0x1d, 0x56, 0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d,
      0x68, 0x02, 0x67, 0x69, 0x12, 0x1e, 0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e,
      0x78, 0x01, 0x77, 0x79, 0x53, 0x5d, 0x11, 0x1f, 0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b,
      0x31, 0x3f, 0x63, 0x6d, 0x52, 0x5e, 0x00, 0x74, 0x7c, 0x41, 0x4f, 0x10, 0x20, 0x62, 0x6e, 0x30, 0x73, 0x7d,
      0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61, 0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70};
  if (number > 120)
    return number - 120;
  int64_t distance = (nearby[number - 1] >> 4) * width + 8 - (nearby[number - 1] & 15);
  return distance < 1 ? 1 : distance;
}

/// Which of the codes stand where: those of one group, or of one a block.
struct Blocks {
  const uint32_t *groups;
  int bits;
  int64_t across;
};

static bool readPixels(struct Vp8l *v, const struct Blocks *blocks, int cacheBits, uint32_t *to, int64_t width,
                       int64_t height) {
  uint32_t cache[1 << maxCacheBits] = {0};
  int64_t count = width * height, cached = 0;
  for (int64_t i = 0; i < count;) {
    int64_t block = blocks->groups ? (i / width >> blocks->bits) * blocks->across + (i % width >> blocks->bits) : 0;
    const struct Code *codes = v->codes + (blocks->groups ? blocks->groups[block] : 0) * codesOfGroup;
    int symbol = readSymbol(&v->in, &codes[0]);
    if (symbol < 0 || v->in.bytes.hasEnded)
      return false;
    if (symbol < literals) {
      uint32_t red = readSymbol(&v->in, &codes[1]), blue = readSymbol(&v->in, &codes[2]);
      uint32_t alpha = readSymbol(&v->in, &codes[3]);
      to[i++] = alpha << 24 | red << 16 | (uint32_t)symbol << 8 | blue;
    } else if (symbol < literals + lengthSymbols) {
      int64_t length = readExtent(v, symbol - literals);
      int64_t distance = distanceOf(readExtent(v, readSymbol(&v->in, &codes[4])), width);
      if (distance > i || length > count - i)
        return false;
      for (; length; --length, ++i)
        to[i] = to[i - distance];
    } else {
      // Pixels go into the cache once a symbol needs it.
      for (; cached < i; ++cached)
        cache[to[cached] * 0x1e35a7bdu >> (32 - cacheBits)] = to[cached];
      to[i++] = cache[symbol - literals - lengthSymbols];
    }
  }
  return !v->in.bytes.hasEnded;
}

/// Reads an image; only the outermost one has blocks.
static bool readImage(struct Vp8l *v, uint32_t *to, int64_t width, int64_t height, bool isOutermost) {
  struct Blocks blocks = {0};
  int64_t groups = 1;
  int cacheBits = readBits(&v->in, 1) ? readBits(&v->in, 4) : -1;
  if (cacheBits == 0 || cacheBits > maxCacheBits)
    return false;
  cacheBits = cacheBits < 0 ? 0 : cacheBits;
  if (isOutermost && readBits(&v->in, 1)) {
    blocks.bits = readBits(&v->in, 3) + 2;
    blocks.across = blocksOf(width, blocks.bits);
    int64_t count = blocks.across * blocksOf(height, blocks.bits);
    if (!readImage(v, v->blocks, blocks.across, blocksOf(height, blocks.bits), false))
      return false;
    for (int64_t i = 0; i < count; ++i) {
      v->blocks[i] = v->blocks[i] >> 8 & 0xffff;
      groups = v->blocks[i] + 1 > groups ? v->blocks[i] + 1 : groups;
    }
    blocks.groups = v->blocks;
  }
  return groups <= v->groupLimit && readGroups(v, groups, cacheBits) &&
         readPixels(v, &blocks, cacheBits, to, width, height);
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Adds each of the four parts by itself.
static uint32_t addParts(uint32_t a, uint32_t b) {
  uint32_t upper = (a & 0xff00ff00) + (b & 0xff00ff00), lower = (a & 0x00ff00ff) + (b & 0x00ff00ff);
  return (upper & 0xff00ff00) | (lower & 0x00ff00ff);
}

static bool readTransform(struct Vp8l *v, int64_t *width, int64_t height) {
  struct Transform *t = &v->transforms[v->transformCount];
  *t = (struct Transform){.kind = readBits(&v->in, 2), .width = *width, .data = v->data[v->transformCount]};
  for (int i = 0; i < v->transformCount; ++i)
    if (v->transforms[i].kind == t->kind)
      return false;
  ++v->transformCount;
  if (t->kind == transformGreen)
    return true;
  if (t->kind != transformPalette) {
    t->bits = readBits(&v->in, 3) + 2;
    return readImage(v, t->data, blocksOf(*width, t->bits), blocksOf(height, t->bits), false);
  }
  t->colorCount = readBits(&v->in, 8) + 1;
  t->bits = t->colorCount > 16 ? 0 : t->colorCount > 4 ? 1 : t->colorCount > 2 ? 2 : 3;
  *width = blocksOf(*width, t->bits);
  if (!readImage(v, t->data, t->colorCount, 1, false))
    return false;
  for (int64_t i = 1; i < t->colorCount; ++i)
    t->data[i] = addParts(t->data[i], t->data[i - 1]);
  return true;
}

static uint32_t average(uint32_t a, uint32_t b) { return (((a ^ b) & 0xfefefefe) >> 1) + (a & b); }

static int32_t partOf(uint32_t pixel, int shift) { return pixel >> shift & 255; }

/// What is left and above, less the corner; the corner is counted in half where `isHalf`.
static uint32_t gradient(uint32_t a, uint32_t b, uint32_t corner, bool isHalf) {
  uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    int32_t first = partOf(a, shift), c = partOf(corner, shift);
    int32_t value = isHalf ? first + (first - c) / 2 : first + partOf(b, shift) - c;
    result |= (uint32_t)clampToByte(value) << shift;
  }
  return result;
}

/// Whichever of the two the gradient is nearer to.
static uint32_t choose(uint32_t left, uint32_t above, uint32_t corner) {
  int32_t difference = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    int32_t toLeft = partOf(above, shift) - partOf(corner, shift), toAbove = partOf(left, shift) - partOf(corner, shift);
    difference += (toAbove < 0 ? -toAbove : toAbove) - (toLeft < 0 ? -toLeft : toLeft);
  }
  return difference <= 0 ? above : left;
}

static uint32_t predict(uint32_t mode, uint32_t left, const uint32_t *above) {
  uint32_t up = above[0], corner = above[-1], right = above[1];
  switch (mode) {
  case 1: return left;
  case 2: return up;
  case 3: return right;
  case 4: return corner;
  case 5: return average(average(left, right), up);
  case 6: return average(left, corner);
  case 7: return average(left, up);
  case 8: return average(corner, up);
  case 9: return average(up, right);
  case 10: return average(average(left, corner), average(up, right));
  case 11: return choose(left, up, corner);
  case 12: return gradient(left, up, corner, false);
  case 13: return gradient(average(left, up), 0, corner, true);
  default: return 0xff000000;
  }
}

static void undoPrediction(const struct Transform *t, uint32_t *pixels, int64_t height) {
  int64_t across = blocksOf(t->width, t->bits);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < t->width; ++x) {
      uint32_t *at = pixels + y * t->width + x, guess = 0xff000000;
      if (y == 0)
        guess = x == 0 ? guess : at[-1];
      else if (x == 0)
        guess = at[-t->width];
      else
        guess = predict(t->data[(y >> t->bits) * across + (x >> t->bits)] >> 8 & 15, at[-1], at - t->width);
      *at = addParts(*at, guess);
    }
}

static int32_t colorDelta(uint32_t factor, uint32_t color) { return ((int8_t)factor * (int8_t)color) >> 5; }

static void undoColors(const struct Transform *t, uint32_t *pixels, int64_t height) {
  int64_t across = blocksOf(t->width, t->bits);
  for (int64_t i = 0; i < t->width * height; ++i) {
    uint32_t factors = t->data[(i / t->width >> t->bits) * across + (i % t->width >> t->bits)];
    uint32_t pixel = pixels[i], green = pixel >> 8;
    uint32_t red = (pixel >> 16) + colorDelta(factors, green);
    uint32_t blue = pixel + colorDelta(factors >> 8, green) + colorDelta(factors >> 16, red);
    pixels[i] = (pixel & 0xff00ff00) | (red & 255) << 16 | (blue & 255);
  }
}

static void undoGreen(const struct Transform *t, uint32_t *pixels, int64_t height) {
  for (int64_t i = 0; i < t->width * height; ++i) {
    uint32_t green = pixels[i] >> 8 & 255;
    pixels[i] = addParts(pixels[i], green << 16 | green);
  }
}

/// Numbers of colors, of which several may share a pixel, to colors. The last pixel comes first, as there are more.
static void undoPalette(const struct Transform *t, uint32_t *pixels, int64_t height) {
  int64_t packed = blocksOf(t->width, t->bits), mask = (1 << t->bits) - 1, size = 8 >> t->bits;
  for (int64_t y = height - 1; y >= 0; --y)
    for (int64_t x = t->width - 1; x >= 0; --x) {
      uint32_t all = pixels[y * packed + (x >> t->bits)] >> 8 & 255;
      int64_t number = all >> ((x & mask) * size) & ((1u << size) - 1);
      pixels[y * t->width + x] = number < t->colorCount ? t->data[number] : 0;
    }
}

static void undo(const struct Transform *t, uint32_t *pixels, int64_t height) {
  switch (t->kind) {
  case transformPredict: undoPrediction(t, pixels, height); return;
  case transformColors: undoColors(t, pixels, height); return;
  case transformGreen: undoGreen(t, pixels, height); return;
  default: undoPalette(t, pixels, height); return;
  }
}

//===----------------------------------------------------------------------===//
// The image
//===----------------------------------------------------------------------===//

/// Blocks have four pixels a side at least. An encoder gives a code to symbols that occur, so there are not many more
/// than pixels; files that have are taken to be damaged.
static uint32_t *takeMemory(struct Vp8l *v, struct Image *image) {
  int64_t pixels = image->height * image->width, blocks = blocksOf(image->height, 2) * blocksOf(image->width, 2);
  v->groupLimit = blocks < 65536 ? blocks : 65536;
  v->symbolLimit = 8 * pixels + 4 * maxGroupSymbols;
  v->blocks = takeWorkspace(image, blocks * sizeof(uint32_t));
  for (int i = 0; i < transformCount; ++i)
    v->data[i] = takeWorkspace(image, (blocks > literals ? blocks : literals) * sizeof(uint32_t));
  v->codes = takeWorkspace(image, v->groupLimit * codesOfGroup * sizeof(struct Code));
  v->symbols = takeWorkspace(image, v->symbolLimit * sizeof(uint16_t));
  return takeWorkspace(image, pixels * sizeof(uint32_t));
}

enum Outcome decodeVp8l(struct Reader file, struct Image *image) {
  struct Vp8l v = {.in = {.bytes = file}};
  uint32_t code = readBits(&v.in, 8);
  int64_t width = readBits(&v.in, 14) + 1, height = readBits(&v.in, 14) + 1;
  // Whether there is transparency, and a version.
  if (code != 0x2f || readBits(&v.in, 4) >> 1 || v.in.bytes.hasEnded)
    return imageDamaged;
  enum Outcome outcome = setSize(image, height, width);
  if (outcome != imageDone)
    return outcome;
  uint32_t *pixels = takeMemory(&v, image);
  if (!image->pixels)
    return imageDone;
  while (readBits(&v.in, 1))
    if (v.transformCount == transformCount || !readTransform(&v, &width, height))
      return imageDamaged;
  if (!readImage(&v, pixels, width, height, true))
    return imageDamaged;
  while (v.transformCount--)
    undo(&v.transforms[v.transformCount], pixels, height);
  for (int64_t i = 0; i < image->height * image->width; ++i)
    putPixel(image, 0, i, pixels[i] >> 16 & 255, pixels[i] >> 8 & 255, pixels[i] & 255);
  return imageDone;
}
