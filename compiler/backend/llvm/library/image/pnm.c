//===- pnm.c - portable bitmaps, graymaps and pixmaps ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "image.h"

static bool isSpace(uint32_t c) { return c == ' ' || (c >= 9 && c <= 13); }

/// The next byte that is neither space nor in a comment.
static uint32_t readSolid(struct Reader *r) {
  for (;;) {
    uint32_t c = readByte(r);
    if (c == '#')
      while (!r->hasEnded && c != '\n' && c != '\r')
        c = readByte(r);
    if (r->hasEnded || !isSpace(c))
      return c;
  }
}

/// A number and the one byte of space behind it; -1 where there is none.
static int64_t readNumber(struct Reader *r) {
  uint32_t c = readSolid(r);
  int64_t value = 0;
  for (int digits = 0; digits < 9; ++digits) {
    if (c < '0' || c > '9')
      return -1;
    value = value * 10 + (c - '0');
    if (bytesLeft(r) == 0)
      return value;
    c = readByte(r);
    if (isSpace(c))
      return value;
  }
  return -1;
}

/// As a byte, rounded to even as Python does.
static uint32_t scale(uint32_t value, uint32_t most) {
  uint32_t product = value * 255, quotient = product / most, rest = product % most * 2;
  return quotient + (rest > most || (rest == most && quotient % 2));
}

struct Pnm {
  bool isText, isBitmap;
  int channels;
  uint32_t most;
};

/// The next sample as a byte; false where it is none.
static bool readSample(struct Reader *r, const struct Pnm *pnm, uint32_t *sample) {
  int64_t value;
  if (!pnm->isText)
    value = pnm->most < 256 ? readByte(r) : read16(r);
  else if (pnm->isBitmap)
    value = (int64_t)readSolid(r) - '0';
  else
    value = readNumber(r);
  if (r->hasEnded || value < 0 || (pnm->isText && value > pnm->most))
    return false;
  *sample = value > pnm->most ? 255 : scale(value, pnm->most);
  return true;
}

static enum Outcome decodeSamples(struct Reader *r, const struct Pnm *pnm, const struct Image *image) {
  for (int64_t y = 0; y < image->height; ++y)
    for (int64_t x = 0; x < image->width; ++x) {
      uint32_t s[3] = {0};
      for (int c = 0; c < pnm->channels; ++c)
        if (!readSample(r, pnm, &s[c]))
          return imageDamaged;
      // A bit that is set is black.
      if (pnm->isBitmap)
        s[0] = 255 - s[0];
      bool isGray = pnm->channels == 1;
      putPixel(image, y, x, s[0], isGray ? s[0] : s[1], isGray ? s[0] : s[2]);
    }
  return imageDone;
}

static enum Outcome decodeBits(struct Reader *r, const struct Image *image) {
  for (int64_t y = 0; y < image->height; ++y)
    for (int64_t x = 0, byte = 0; x < image->width; ++x) {
      byte = x % 8 ? byte : readByte(r);
      uint32_t light = byte >> (7 - x % 8) & 1 ? 0 : 255;
      putPixel(image, y, x, light, light, light);
    }
  return r->hasEnded ? imageDamaged : imageDone;
}

enum Outcome decodePnm(struct Reader file, struct Image *image) {
  file.isBigEndian = true;
  moveTo(&file, 1);
  uint32_t kind = readByte(&file) - '0';
  struct Pnm pnm = {kind <= 3, kind == 1 || kind == 4, kind == 3 || kind == 6 ? 3 : 1, 1};
  int64_t width = readNumber(&file), height = readNumber(&file);
  int64_t most = pnm.isBitmap ? 1 : readNumber(&file);
  if (file.hasEnded || most < 1 || most > 65535)
    return imageDamaged;
  pnm.most = most;
  enum Outcome outcome = setSize(image, height, width);
  if (outcome != imageDone || !image->pixels)
    return outcome;
  return kind == 4 ? decodeBits(&file, image) : decodeSamples(&file, &pnm, image);
}
