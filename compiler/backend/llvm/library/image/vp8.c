//===- vp8.c - lossy WebP -------------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vp8.h"
#include "vp8_tables.h"

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

static int32_t takeSigned(struct Vp8Bits *bits, int count) {
  int32_t value = takeVp8Number(bits, count);
  return takeVp8Number(bits, 1) ? -value : value;
}

static int32_t takeOptional(struct Vp8Bits *bits, int count) {
  return takeVp8Number(bits, 1) ? takeSigned(bits, count) : 0;
}

static void readSegments(struct Vp8 *vp8, struct Vp8Bits *bits) {
  vp8->hasSegments = takeVp8Number(bits, 1);
  if (!vp8->hasSegments)
    return;
  vp8->updatesMap = takeVp8Number(bits, 1);
  if (takeVp8Number(bits, 1)) {
    vp8->isAbsolute = takeVp8Number(bits, 1);
    for (int i = 0; i < vp8Segments; ++i)
      vp8->segmentQuantizers[i] = takeOptional(bits, 7);
    for (int i = 0; i < vp8Segments; ++i)
      vp8->segmentLevels[i] = takeOptional(bits, 6);
  }
  for (int i = 0; i < 3; ++i)
    vp8->segmentOdds[i] = vp8->updatesMap && takeVp8Number(bits, 1) ? takeVp8Number(bits, 8) : 255;
}

static void readFilter(struct Vp8 *vp8, struct Vp8Bits *bits) {
  vp8->isSimpleFilter = takeVp8Number(bits, 1);
  vp8->level = takeVp8Number(bits, 6);
  vp8->sharpness = takeVp8Number(bits, 3);
  vp8->hasDeltas = takeVp8Number(bits, 1);
  if (!vp8->hasDeltas || !takeVp8Number(bits, 1))
    return;
  // For kinds of frames, of which this is the first, and for modes, of which blocks of four are.
  for (int i = 0; i < 8; ++i) {
    int32_t delta = takeOptional(bits, 6);
    if (i == 0)
      vp8->frameDelta = delta;
    if (i == 4)
      vp8->splitDelta = delta;
  }
}

static int32_t clampTo(int32_t value, int32_t high) { return value < 0 ? 0 : value > high ? high : value; }

static void readQuantizers(struct Vp8 *vp8, struct Vp8Bits *bits) {
  int32_t base = takeVp8Number(bits, 7), lumaFirst = takeOptional(bits, 4), secondFirst = takeOptional(bits, 4);
  int32_t secondRest = takeOptional(bits, 4), chromaFirst = takeOptional(bits, 4), chromaRest = takeOptional(bits, 4);
  for (int i = 0; i < vp8Segments; ++i) {
    int32_t q = vp8->hasSegments ? vp8->segmentQuantizers[i] + (vp8->isAbsolute ? 0 : base) : base;
    int32_t second = vp8OtherSteps[clampTo(q + secondRest, 127)] * 155 / 100;
    vp8->quantizers[i] = (struct Vp8Quantizer){
        {vp8FirstSteps[clampTo(q + lumaFirst, 127)], vp8OtherSteps[clampTo(q, 127)]},
        {vp8FirstSteps[clampTo(q + secondFirst, 127)] * 2, second < 8 ? 8 : second},
        {vp8FirstSteps[clampTo(q + chromaFirst, 117)], vp8OtherSteps[clampTo(q + chromaRest, 127)]}};
  }
}

static void readOdds(struct Vp8 *vp8, struct Vp8Bits *bits) {
  uint8_t *odds = &vp8->odds[0][0][0][0];
  for (size_t i = 0; i < sizeof(vp8->odds); ++i)
    odds[i] = takeVp8Bit(bits, vp8UpdateOdds[i]) ? takeVp8Number(bits, 8) : vp8DefaultOdds[i];
  vp8->hasSkips = takeVp8Number(bits, 1);
  vp8->skipOdds = vp8->hasSkips ? takeVp8Number(bits, 8) : 0;
}

/// Behind the first partition: the sizes of the others, but for the last one's, and these.
static bool readPartitions(struct Vp8 *vp8, struct Reader r) {
  struct Reader sizes = takeBytes(&r, 3 * (vp8->partitionCount - 1));
  for (int i = 0; i < vp8->partitionCount; ++i) {
    bool isLast = i + 1 == vp8->partitionCount;
    startVp8Bits(&vp8->partitions[i], takeBytes(&r, isLast ? bytesLeft(&r) : read24(&sizes)));
  }
  return !r.hasEnded;
}

static bool readHeader(struct Vp8 *vp8, struct Reader frame, int64_t firstSize) {
  struct Reader first = takeBytes(&frame, firstSize);
  struct Vp8Bits *bits = &vp8->header;
  if (frame.hasEnded)
    return false;
  startVp8Bits(bits, first);
  // The color space, and whether samples have to be clamped, which they always are.
  takeVp8Number(bits, 2);
  readSegments(vp8, bits);
  readFilter(vp8, bits);
  vp8->partitionCount = 1 << takeVp8Number(bits, 2);
  readQuantizers(vp8, bits);
  // Whether the odds are for later frames, too.
  takeVp8Number(bits, 1);
  readOdds(vp8, bits);
  return readPartitions(vp8, frame);
}

//===----------------------------------------------------------------------===//
// Macroblocks
//===----------------------------------------------------------------------===//

static enum Vp8Mode readBlockMode(struct Vp8Bits *bits, enum Vp8Mode above, enum Vp8Mode left) {
  // A node has two next ones; leaves are negative, or 0 for the first mode.
  static const int8_t tree[18] = {-vp8Dc,          2,  -vp8TrueMotion, 4,  -vp8Vertical,        6,
                                  8,               12, -vp8Horizontal, 10, -vp8DownRight,       -vp8VerticalRight,
                                  -vp8DownLeft,    14, -vp8VerticalLeft, 16, -vp8HorizontalDown, -vp8HorizontalUp};
  const uint8_t *odds = vp8ModeOdds + (above * vp8ModeCount + left) * 9;
  int i = 0;
  do
    i = tree[i + takeVp8Bit(bits, odds[i / 2])];
  while (i > 0);
  return -i;
}

struct Modes {
  bool isSkipped;
  enum Vp8Mode luma, chroma, blocks[16];
};

static void readModes(struct Vp8 *vp8, int64_t x, struct Vp8Macroblock *m, struct Modes *modes) {
  struct Vp8Bits *bits = &vp8->header;
  uint8_t *above = vp8->modesAbove + 4 * x;
  m->segment = 0;
  if (vp8->updatesMap) {
    uint32_t high = takeVp8Bit(bits, vp8->segmentOdds[0]);
    m->segment = 2 * high + takeVp8Bit(bits, vp8->segmentOdds[1 + high]);
  }
  modes->isSkipped = vp8->hasSkips && takeVp8Bit(bits, vp8->skipOdds);
  m->isSplit = !takeVp8Bit(bits, 145);
  if (!m->isSplit) {
    if (takeVp8Bit(bits, 156))
      modes->luma = takeVp8Bit(bits, 128) ? vp8TrueMotion : vp8Horizontal;
    else
      modes->luma = takeVp8Bit(bits, 163) ? vp8Vertical : vp8Dc;
  }
  for (int i = 0; i < 16; ++i) {
    uint8_t *a = &above[i % 4], *l = &vp8->modesLeft[i / 4];
    *a = *l = modes->blocks[i] = m->isSplit ? readBlockMode(bits, *a, *l) : modes->luma;
  }
  modes->chroma = vp8Dc;
  if (takeVp8Bit(bits, 142)) {
    modes->chroma = vp8Vertical;
    if (takeVp8Bit(bits, 114))
      modes->chroma = takeVp8Bit(bits, 183) ? vp8TrueMotion : vp8Horizontal;
  }
}

static void skipResidue(struct Vp8 *vp8, bool isSplit, struct Vp8Context *above) {
  struct Vp8Context *both[2] = {above, &vp8->left};
  for (int i = 0; i < 2; ++i)
    *both[i] = (struct Vp8Context){.second = isSplit ? both[i]->second : 0};
}

static void drawBlocks(const struct Vp8 *vp8, int64_t x, int64_t y, const struct Modes *modes,
                       const struct Vp8Residue *residue) {
  int64_t stride = vp8->planes[0].stride;
  uint8_t *at = vp8->planes[0].samples + y * 16 * stride + x * 16;
  // Blocks at the right have those samples that the macroblock above and to the right ends with, in every row. In
  // the last column its neighbor's last one stands for them.
  uint8_t corner[4];
  for (int i = 0; i < 4; ++i)
    corner[i] = y > 0 && x + 1 == vp8->across ? at[15 - stride] : at[16 + i - stride];
  for (int i = 0; i < 16; ++i) {
    uint8_t *block = at + i / 4 * 4 * stride + i % 4 * 4;
    predictVp8Block(block, stride, i % 4 == 3 ? corner : block - stride + 4, modes->blocks[i]);
    addVp8Block(block, stride, residue->values[i]);
  }
}

static void drawSquare(const struct Vp8 *vp8, int plane, int64_t x, int64_t y, enum Vp8Mode mode,
                       const struct Vp8Residue *residue) {
  int side = plane ? 8 : 16, blocks = side / 4, first = plane == 0 ? 0 : 12 + 4 * plane;
  int64_t stride = vp8->planes[plane].stride;
  uint8_t *at = vp8->planes[plane].samples + y * side * stride + x * side;
  predictVp8Square(at, stride, side, mode, y > 0, x > 0);
  for (int i = 0; i < blocks * blocks; ++i)
    addVp8Block(at + i / blocks * 4 * stride + i % blocks * 4, stride, residue->values[first + i]);
}

/// Decodes all macroblocks. False where there are too few data.
static bool drawMacroblocks(struct Vp8 *vp8) {
  for (int64_t y = 0; y < vp8->down; ++y) {
    struct Vp8Bits *bits = &vp8->partitions[y & (vp8->partitionCount - 1)];
    vp8->left = (struct Vp8Context){0};
    for (int i = 0; i < 4; ++i)
      vp8->modesLeft[i] = vp8Dc;
    for (int64_t x = 0; x < vp8->across; ++x) {
      struct Vp8Macroblock *m = &vp8->macroblocks[y * vp8->across + x];
      struct Modes modes;
      struct Vp8Residue residue = {0};
      readModes(vp8, x, m, &modes);
      m->hasCoefficients = false;
      if (modes.isSkipped)
        skipResidue(vp8, m->isSplit, &vp8->above[x]);
      else
        m->hasCoefficients =
            readVp8Residue(vp8, bits, &vp8->quantizers[m->segment], m->isSplit, &vp8->above[x], &residue);
      if (m->isSplit)
        drawBlocks(vp8, x, y, &modes, &residue);
      else
        drawSquare(vp8, 0, x, y, modes.luma, &residue);
      drawSquare(vp8, 1, x, y, modes.chroma, &residue);
      drawSquare(vp8, 2, x, y, modes.chroma, &residue);
      // Two bytes are read ahead.
      if (vp8->header.missing > 2 || bits->missing > 2)
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// A sample of chroma at a pixel, from the four that are the nearest, rounded as libwebp does.
static int32_t chromaAt(const struct Vp8Plane *plane, const struct Image *image, int64_t x, int64_t y) {
  int64_t lastRow = (image->height - 1) / 2, row = y / 2, other = y % 2 ? row + 1 : row - 1;
  other = other < 0 ? 0 : other > lastRow ? lastRow : other;
  const uint8_t *near = plane->samples + row * plane->stride, *far = plane->samples + other * plane->stride;
  int64_t k = (x + 1) / 2;
  if (x == 0 || k > (image->width - 1) / 2)
    return (3 * near[x / 2] + far[x / 2] + 2) >> 2;
  int32_t sum = near[k - 1] + near[k] + far[k - 1] + far[k] + 8;
  if (x % 2)
    return (((sum + 2 * (near[k] + far[k - 1])) >> 3) + near[k - 1]) >> 1;
  return (((sum + 2 * (near[k - 1] + far[k])) >> 3) + near[k]) >> 1;
}

static int32_t scale(int32_t value, int32_t factor) { return (value * factor) >> 8; }

static void putVp8(const struct Vp8 *vp8, const struct Image *image) {
  for (int64_t y = 0; y < image->height; ++y)
    for (int64_t x = 0; x < image->width; ++x) {
      int32_t luma = scale(vp8->planes[0].samples[y * vp8->planes[0].stride + x], 19077);
      int32_t u = chromaAt(&vp8->planes[1], image, x, y), v = chromaAt(&vp8->planes[2], image, x, y);
      putPixel(image, y, x, clampToByte((luma + scale(v, 26149) - 14234) >> 6),
               clampToByte((luma - scale(u, 6419) - scale(v, 13320) + 8708) >> 6),
               clampToByte((luma + scale(u, 33050) - 17685) >> 6));
    }
}

/// A plane's memory, and the samples around it that prediction begins with.
static void takePlane(struct Vp8 *vp8, struct Image *image, int k) {
  int64_t side = k ? 8 : 16, width = vp8->across * side, height = vp8->down * side, stride = width + 8;
  uint8_t *memory = takeWorkspace(image, stride * (height + 1));
  if (!memory)
    return;
  vp8->planes[k] = (struct Vp8Plane){memory + stride + 4, stride};
  for (int64_t i = 0; i < stride; ++i)
    memory[i] = 127;
  for (int64_t y = 0; y < height; ++y)
    vp8->planes[k].samples[y * stride - 1] = 129;
}

enum Outcome decodeVp8(struct Reader frame, struct Image *image) {
  struct Vp8 vp8 = {0};
  uint32_t tag = read24(&frame);
  bool hasCode = hasBytesAt(&frame, frame.place, "\x9d\x01\x2a", 3);
  skipBytes(&frame, 3);
  int64_t width = read16(&frame) & 0x3fff, height = read16(&frame) & 0x3fff;
  if (tag & 1 || !hasCode || frame.hasEnded)
    return imageDamaged;
  enum Outcome outcome = setSize(image, height, width);
  if (outcome != imageDone)
    return outcome;
  vp8.across = (width + 15) / 16;
  vp8.down = (height + 15) / 16;
  for (int k = 0; k < 3; ++k)
    takePlane(&vp8, image, k);
  vp8.macroblocks = takeWorkspace(image, vp8.across * vp8.down * sizeof(struct Vp8Macroblock));
  vp8.above = takeWorkspace(image, vp8.across * sizeof(struct Vp8Context));
  vp8.modesAbove = takeWorkspace(image, vp8.across * 4);
  if (!image->pixels)
    return imageDone;
  for (int64_t i = 0; i < vp8.across; ++i)
    vp8.above[i] = (struct Vp8Context){0};
  for (int64_t i = 0; i < vp8.across * 4; ++i)
    vp8.modesAbove[i] = vp8Dc;
  if (!readHeader(&vp8, frame, tag >> 5) || !drawMacroblocks(&vp8))
    return imageDamaged;
  filterVp8(&vp8);
  putVp8(&vp8, image);
  return imageDone;
}
