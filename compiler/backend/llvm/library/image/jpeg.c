//===- jpeg.c - JPEG files ------------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequential and progressive, with Huffman codes and 8 bits: ITU-T T.81. What the standard leaves open is done as
// libjpeg does by default, to the bit.
//
//===----------------------------------------------------------------------===//

#include "jpeg.h"

const uint8_t jpegNaturalOrder[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

enum {
  markerFirstFrame = 0xc0,
  markerProgressive = 0xc2,
  markerCodes = 0xc4,
  markerLastFrame = 0xcf,
  markerReserved = 0xc8,
  markerConditioning = 0xcc,
  markerFirstRestart = 0xd0,
  markerEnd = 0xd9,
  markerScan = 0xda,
  markerQuantization = 0xdb,
  markerRestartInterval = 0xdd,
  markerJfif = 0xe0,
  markerAdobe = 0xee,
};

static bool readQuantization(struct Jpeg *jpeg, struct Reader *r) {
  while (bytesLeft(r) > 0) {
    uint32_t head = readByte(r), table = head & 15;
    if (table > 3 || head >> 4 > 1)
      return false;
    for (int i = 0; i < 64; ++i)
      jpeg->quantization[table][jpegNaturalOrder[i]] = head >> 4 ? read16(r) : readByte(r);
    jpeg->hasTable[table] = true;
  }
  return !r->hasEnded;
}

static bool readCodes(struct Jpeg *jpeg, struct Reader *r) {
  while (bytesLeft(r) > 0) {
    uint32_t head = readByte(r), total = 0, left = 1;
    if ((head & 15) > 3 || head >> 4 > 1)
      return false;
    struct JpegCode *code = head >> 4 ? &jpeg->acCodes[head & 15] : &jpeg->dcCodes[head & 15];
    for (int i = 1; i <= 16; ++i) {
      code->counts[i] = readByte(r);
      total += code->counts[i];
      if (left * 2 < code->counts[i])
        return false;
      left = left * 2 - code->counts[i];
    }
    if (total > 256)
      return false;
    for (uint32_t i = 0; i < total; ++i)
      code->symbols[i] = readByte(r);
    code->isThere = true;
  }
  return !r->hasEnded;
}

static int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

static enum Outcome readFrame(struct Jpeg *jpeg, struct Reader *r, uint32_t marker, struct Image *image) {
  uint32_t bits = readByte(r);
  int64_t height = read16(r), width = read16(r);
  jpeg->count = readByte(r);
  if (r->hasEnded || jpeg->hasFrame)
    return imageDamaged;
  // A height of 0 is told later on.
  bool isKnown = marker <= markerProgressive && bits == 8 && height > 0;
  if (!isKnown || !(jpeg->count == 1 || jpeg->count == 3 || jpeg->count == 4))
    return imageUnsupported;
  jpeg->hasFrame = true;
  jpeg->isProgressive = marker == markerProgressive;
  jpeg->maxHorizontal = jpeg->maxVertical = 1;
  for (int i = 0; i < jpeg->count; ++i) {
    struct JpegComponent *c = &jpeg->components[i];
    c->id = readByte(r);
    uint32_t factors = readByte(r);
    c->horizontal = factors >> 4;
    c->vertical = factors & 15;
    c->table = readByte(r);
    if (c->horizontal < 1 || c->horizontal > 4 || c->vertical < 1 || c->vertical > 4 || c->table > 3 || r->hasEnded)
      return imageDamaged;
    jpeg->maxHorizontal = c->horizontal > jpeg->maxHorizontal ? c->horizontal : jpeg->maxHorizontal;
    jpeg->maxVertical = c->vertical > jpeg->maxVertical ? c->vertical : jpeg->maxVertical;
  }
  return setSize(image, height, width);
}

/// The sizes of the planes, and their memory.
static enum Outcome layOut(struct Jpeg *jpeg, struct Image *image) {
  jpeg->unitsAcross = divideUp(image->width, 8 * jpeg->maxHorizontal);
  jpeg->unitsDown = divideUp(image->height, 8 * jpeg->maxVertical);
  for (int i = 0; i < jpeg->count; ++i) {
    struct JpegComponent *c = &jpeg->components[i];
    if (jpeg->maxHorizontal % c->horizontal || jpeg->maxVertical % c->vertical)
      return imageUnsupported;
    c->width = divideUp(image->width * c->horizontal, jpeg->maxHorizontal);
    c->height = divideUp(image->height * c->vertical, jpeg->maxVertical);
    c->blocksAcross = jpeg->unitsAcross * c->horizontal;
    c->blocksDown = jpeg->unitsDown * c->vertical;
    int64_t samples = c->blocksAcross * c->blocksDown * 64;
    c->coefficients = takeWorkspace(image, samples * 2);
    c->samples = takeWorkspace(image, samples);
  }
  return imageDone;
}

/// The marker that comes next; 0 past the end. Bytes in between are skipped.
static uint32_t readMarker(struct Reader *r) {
  while (bytesLeft(r) > 0) {
    if (readByte(r) != 0xff)
      continue;
    uint32_t marker = 0xff;
    while (marker == 0xff && bytesLeft(r) > 0)
      marker = readByte(r);
    if (marker != 0 && marker != 0xff)
      return marker;
  }
  return 0;
}

static bool isFrame(uint32_t marker) {
  return marker >= markerFirstFrame && marker <= markerLastFrame && marker != markerCodes &&
         marker != markerReserved && marker != markerConditioning;
}

static void readApplication(struct Jpeg *jpeg, struct Reader *r, uint32_t marker) {
  if (marker == markerJfif && hasBytesAt(r, 0, "JFIF", 5))
    jpeg->hasJfif = true;
  if (marker == markerAdobe && hasBytesAt(r, 0, "Adobe", 5) && r->size >= 12) {
    jpeg->hasAdobe = true;
    jpeg->adobeTransform = r->data[11];
  }
}

/// A segment of tables. False where it is damaged.
static bool readTables(struct Jpeg *jpeg, struct Reader *r, uint32_t marker) {
  switch (marker) {
  case markerQuantization: return readQuantization(jpeg, r);
  case markerCodes: return readCodes(jpeg, r);
  case markerRestartInterval:
    jpeg->restartInterval = read16(r);
    return !r->hasEnded;
  case markerJfif:
  case markerAdobe:
    readApplication(jpeg, r, marker);
    return true;
  }
  return true;
}

/// Scans can be small and long to read: more than any encoder makes are an attack.
static const int maxScans = 500;

/// Reads up to the frame's header; then, where the image is decoded, all scans.
static enum Outcome readSegments(struct Jpeg *jpeg, struct Image *image) {
  int scans = 0;
  for (;;) {
    uint32_t marker = readMarker(&jpeg->in);
    if (marker == markerEnd || marker == 0)
      return scans ? imageDone : imageDamaged;
    if (marker >= markerFirstRestart && marker < markerEnd)
      continue;
    if (marker == markerScan) {
      if (!jpeg->hasFrame || ++scans > maxScans || !readJpegScan(jpeg))
        return imageDamaged;
      continue;
    }
    int64_t size = (int64_t)read16(&jpeg->in) - 2;
    struct Reader segment = takeBytes(&jpeg->in, size);
    if (size < 0 || jpeg->in.hasEnded)
      return imageDamaged;
    if (!isFrame(marker)) {
      if (!readTables(jpeg, &segment, marker))
        return imageDamaged;
      continue;
    }
    enum Outcome outcome = readFrame(jpeg, &segment, marker, image);
    outcome = outcome == imageDone ? layOut(jpeg, image) : outcome;
    if (outcome != imageDone || !image->pixels)
      return outcome;
    for (int i = 0; i < jpeg->count; ++i)
      for (int64_t k = 0; k < jpeg->components[i].blocksAcross * jpeg->components[i].blocksDown * 64; ++k)
        jpeg->components[i].coefficients[k] = 0;
  }
}

enum Outcome decodeJpeg(struct Reader file, struct Image *image) {
  struct Jpeg jpeg = {.in = file};
  jpeg.in.isBigEndian = true;
  moveTo(&jpeg.in, 2);
  enum Outcome outcome = readSegments(&jpeg, image);
  if (outcome != imageDone)
    return outcome;
  uint8_t *rows = takeWorkspace(image, jpeg.count * jpeg.unitsAcross * jpeg.maxHorizontal * 8);
  if (!image->pixels)
    return imageDone;
  for (int i = 0; i < jpeg.count; ++i) {
    if (!jpeg.components[i].hasQuantization)
      return imageDamaged;
    transformJpeg(&jpeg.components[i]);
  }
  putJpeg(&jpeg, image, rows);
  return imageDone;
}
