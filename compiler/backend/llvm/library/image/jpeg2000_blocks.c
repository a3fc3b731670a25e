//===- jpeg2000_blocks.c - blocks of coefficients -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic decoder MQ (T.800, annex C) and the three passes over a plane of bits (annex D). A coefficient has
// one bit below its last, which is set: of what a file leaves out, the middle is taken, as OpenJPEG does.
//
//===----------------------------------------------------------------------===//

#include "jpeg2000.h"

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

enum { signContext = 9, refineContext = 14, runContext = 17, uniformContext = 18, contextCount = 19 };

struct State {
  uint16_t probability;
  uint8_t nextLikely, nextUnlikely, isSwitch;
};

static const struct State states[47] = {
    {0x5601, 1, 1, 1},    {0x3401, 2, 6, 0},    {0x1801, 3, 9, 0},    {0x0ac1, 4, 12, 0},   {0x0521, 5, 29, 0},
    {0x0221, 38, 33, 0},  {0x5601, 7, 6, 1},    {0x5401, 8, 14, 0},   {0x4801, 9, 14, 0},   {0x3801, 10, 14, 0},
    {0x3001, 11, 17, 0},  {0x2401, 12, 18, 0},  {0x1c01, 13, 20, 0},  {0x1601, 29, 21, 0},  {0x5601, 15, 14, 1},
    {0x5401, 16, 14, 0},  {0x5101, 17, 15, 0},  {0x4801, 18, 16, 0},  {0x3801, 19, 17, 0},  {0x3401, 20, 18, 0},
    {0x3001, 21, 19, 0},  {0x2801, 22, 19, 0},  {0x2401, 23, 20, 0},  {0x2201, 24, 21, 0},  {0x1c01, 25, 22, 0},
    {0x1801, 26, 23, 0},  {0x1601, 27, 24, 0},  {0x1401, 28, 25, 0},  {0x1201, 29, 26, 0},  {0x1101, 30, 27, 0},
    {0x0ac1, 31, 28, 0},  {0x09c1, 32, 29, 0},  {0x08a1, 33, 30, 0},  {0x0521, 34, 31, 0},  {0x0441, 35, 32, 0},
    {0x02a1, 36, 33, 0},  {0x0221, 37, 34, 0},  {0x0141, 38, 35, 0},  {0x0111, 39, 36, 0},  {0x0085, 40, 37, 0},
    {0x0049, 41, 38, 0},  {0x0025, 42, 39, 0},  {0x0015, 43, 40, 0},  {0x0009, 44, 41, 0},  {0x0005, 45, 42, 0},
    {0x0001, 45, 43, 0},  {0x5601, 46, 46, 0}};

struct Decoder {
  const uint8_t *data;
  int64_t size, place;
  uint32_t code, interval;
  int left;
  uint8_t states[contextCount], likely[contextCount];
};

static uint32_t byteAt(const struct Decoder *d, int64_t place) { return place < d->size ? d->data[place] : 0xff; }

/// Behind the last byte, and behind a marker, there are ones.
static void takeByte(struct Decoder *d) {
  uint32_t now = byteAt(d, d->place), next = byteAt(d, d->place + 1);
  if (now == 0xff && next > 0x8f) {
    d->code += 0xff00;
    d->left = 8;
    return;
  }
  ++d->place;
  d->code += next << (now == 0xff ? 9 : 8);
  d->left = now == 0xff ? 7 : 8;
}

static void resetContexts(struct Decoder *d) {
  for (int i = 0; i < contextCount; ++i)
    d->states[i] = d->likely[i] = 0;
  d->states[0] = 4;
  d->states[runContext] = 3;
  d->states[uniformContext] = 46;
}

static void start(struct Decoder *d, const uint8_t *data, int64_t size) {
  *d = (struct Decoder){.data = data, .size = size, .interval = 0x8000};
  d->code = byteAt(d, 0) << 16;
  takeByte(d);
  d->code <<= 7;
  d->left -= 7;
  resetContexts(d);
}

static uint32_t decide(struct Decoder *d, int context) {
  const struct State *state = &states[d->states[context]];
  uint32_t likely = d->likely[context];
  bool isBelow = d->code >> 16 < state->probability;
  d->interval -= state->probability;
  if (!isBelow) {
    d->code -= (uint32_t)state->probability << 16;
    if (d->interval & 0x8000)
      return likely;
  }
  // The smaller part of the interval is the unlikely one, whichever it is.
  bool isLikely = isBelow == (d->interval < state->probability);
  if (isBelow)
    d->interval = state->probability;
  if (!isLikely && state->isSwitch)
    d->likely[context] = 1 - likely;
  d->states[context] = isLikely ? state->nextLikely : state->nextUnlikely;
  do {
    if (d->left == 0)
      takeByte(d);
    d->interval <<= 1;
    d->code <<= 1;
    --d->left;
  } while (!(d->interval & 0x8000));
  return isLikely ? likely : 1 - likely;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

enum { flagSignificant = 1, flagNegative = 2, flagRefined = 4, flagVisited = 8 };
enum { maxSide = 1024, maxSize = 4096 };

/// A block, with a border of flags around.
struct Coder {
  struct Decoder decoder;
  int width, height, kind;
  bool isCausal;
  uint32_t one; ///< the bit of the plane, above the middle
  uint32_t values[maxSize];
  uint8_t flags[maxSize + 2 * (maxSide + maxSize / maxSide + 2)];
};

static uint8_t *flagsAt(struct Coder *c, int x, int y) { return &c->flags[(y + 1) * (c->width + 2) + x + 1]; }

/// Flags of the eight around: of those in the row below there are none at the end of a stripe, where causal.
struct Around {
  int horizontal, vertical, diagonal;
  int signX, signY;
};

static int signOf(uint8_t flags) {
  return flags & flagSignificant ? flags & flagNegative ? -1 : 1 : 0;
}

static struct Around lookAround(struct Coder *c, int x, int y) {
  uint8_t *at = flagsAt(c, x, y), *above = at - (c->width + 2), *below = at + (c->width + 2);
  bool seesBelow = !c->isCausal || y % 4 != 3;
  uint8_t under[3] = {seesBelow ? below[-1] : 0, seesBelow ? below[0] : 0, seesBelow ? below[1] : 0};
  return (struct Around){
      (at[-1] & 1) + (at[1] & 1),
      (above[0] & 1) + (under[1] & 1),
      (above[-1] & 1) + (above[1] & 1) + (under[0] & 1) + (under[2] & 1),
      signOf(at[-1]) + signOf(at[1]),
      signOf(above[0]) + signOf(under[1]),
  };
}

static int significanceContext(const struct Coder *c, const struct Around *a) {
  int h = a->horizontal, v = a->vertical, d = a->diagonal;
  if (c->kind == 3) {
    int sum = h + v;
    if (d >= 2)
      return d >= 3 ? 8 : sum ? 7 : 6;
    return (d ? 3 : 0) + (sum > 2 ? 2 : sum);
  }
  if (c->kind == 1) {
    h = a->vertical;
    v = a->horizontal;
  }
  if (h == 2)
    return 8;
  if (h == 1)
    return v ? 7 : d ? 6 : 5;
  return v ? v + 2 : d > 2 ? 2 : d;
}

static void becomeSignificant(struct Coder *c, int x, int y, const struct Around *a) {
  int h = a->signX > 1 ? 1 : a->signX < -1 ? -1 : a->signX, v = a->signY > 1 ? 1 : a->signY < -1 ? -1 : a->signY;
  bool isFlipped = h < 0 || (h == 0 && v < 0);
  int context = signContext + (h == 0 ? (v != 0) : 3 + (isFlipped ? -v : v));
  bool isNegative = decide(&c->decoder, context) != isFlipped;
  c->values[y * c->width + x] = c->one | c->one >> 1;
  *flagsAt(c, x, y) |= flagSignificant | (isNegative ? flagNegative : 0);
}

static void propagate(struct Coder *c, int x, int y) {
  uint8_t *flags = flagsAt(c, x, y);
  struct Around a = lookAround(c, x, y);
  if (*flags & flagSignificant || !(a.horizontal || a.vertical || a.diagonal))
    return;
  if (decide(&c->decoder, significanceContext(c, &a)))
    becomeSignificant(c, x, y, &a);
  *flags |= flagVisited;
}

static void refine(struct Coder *c, int x, int y) {
  uint8_t *flags = flagsAt(c, x, y);
  if ((*flags & (flagSignificant | flagVisited)) != flagSignificant)
    return;
  struct Around a = lookAround(c, x, y);
  bool hasNeighbors = a.horizontal || a.vertical || a.diagonal;
  int context = *flags & flagRefined ? refineContext + 2 : refineContext + hasNeighbors;
  // The middle moves up or down by half of what it was.
  uint32_t *value = &c->values[y * c->width + x];
  *value = decide(&c->decoder, context) ? *value + (c->one >> 1) : *value - (c->one >> 1);
  *flags |= flagRefined;
}

/// Whether four coefficients of a column have nothing around them, so that one decision may be for all.
static bool isRun(struct Coder *c, int x, int y) {
  if (y + 4 > c->height)
    return false;
  for (int i = y; i < y + 4; ++i) {
    struct Around a = lookAround(c, x, i);
    if (*flagsAt(c, x, i) & (flagSignificant | flagVisited) || a.horizontal || a.vertical || a.diagonal)
      return false;
  }
  return true;
}

/// A column of a stripe, in the last pass over a plane.
static void cleanColumn(struct Coder *c, int x, int top) {
  int y = top, end = top + 4 < c->height ? top + 4 : c->height;
  if (isRun(c, x, top)) {
    if (!decide(&c->decoder, runContext))
      return;
    y += decide(&c->decoder, uniformContext) << 1;
    y += decide(&c->decoder, uniformContext);
    struct Around a = lookAround(c, x, y);
    becomeSignificant(c, x, y, &a);
    ++y;
  }
  for (; y < end; ++y) {
    uint8_t *flags = flagsAt(c, x, y);
    struct Around a = lookAround(c, x, y);
    if (!(*flags & (flagSignificant | flagVisited)) && decide(&c->decoder, significanceContext(c, &a)))
      becomeSignificant(c, x, y, &a);
  }
}

enum PassKind { passPropagate, passRefine, passClean };

static void runPass(struct Coder *c, enum PassKind kind) {
  for (int top = 0; top < c->height; top += 4)
    for (int x = 0; x < c->width; ++x) {
      if (kind == passClean) {
        cleanColumn(c, x, top);
        continue;
      }
      for (int y = top; y < top + 4 && y < c->height; ++y)
        if (kind == passPropagate)
          propagate(c, x, y);
        else
          refine(c, x, y);
    }
  if (kind != passClean)
    return;
  for (int y = 0; y < c->height; ++y)
    for (int x = 0; x < c->width; ++x)
      *flagsAt(c, x, y) &= ~flagVisited;
}

/// False where the symbol that ends a plane is another one.
static bool readSegmentSymbol(struct Coder *c) {
  uint32_t symbol = 0;
  for (int i = 0; i < 4; ++i)
    symbol = symbol << 1 | decide(&c->decoder, uniformContext);
  return symbol == 10;
}

static void store(struct Coder *c, const struct J2kCoding *coding, const struct J2kBand *band, struct J2kArea area,
                  int64_t stride) {
  for (int y = 0; y < c->height; ++y)
    for (int x = 0; x < c->width; ++x) {
      union J2kValue *to = &band->values[(area.y0 - band->area.y0 + y) * stride + area.x0 - band->area.x0 + x];
      int32_t value = c->values[y * c->width + x];
      bool isNegative = *flagsAt(c, x, y) & flagNegative;
      if (coding->isReversible)
        to->integer = isNegative ? -(value / 2) : value / 2;
      else
        to->real = (isNegative ? -value : value) * 0.5f * band->step;
    }
}

bool decodeBlock(const struct J2kCoding *coding, const struct J2kBand *band, const struct J2kBlock *block,
                 const uint8_t *data, struct J2kArea area, int64_t stride) {
  struct Coder c;
  int32_t plane = band->planes - block->zeroPlanes;
  // The last plane is bit 1; bit 0 is the middle.
  if (plane < 1 || plane > 29 || block->passes > 3 * plane - 2)
    return false;
  c.width = widthOf(area);
  c.height = heightOf(area);
  c.kind = band->kind;
  c.isCausal = coding->style & j2kCausal;
  for (int i = 0; i < c.width * c.height; ++i)
    c.values[i] = 0;
  for (int i = 0; i < (c.width + 2) * (c.height + 2); ++i)
    c.flags[i] = 0;
  start(&c.decoder, data, block->size);
  enum PassKind kind = passClean;
  for (int i = 0; i < block->passes; ++i) {
    c.one = 1u << plane;
    runPass(&c, kind);
    if (kind == passClean && coding->style & j2kSegmentSymbols && !readSegmentSymbol(&c))
      return false;
    if (coding->style & j2kResetContexts)
      resetContexts(&c.decoder);
    plane -= kind == passClean;
    kind = kind == passClean ? passPropagate : kind + 1;
  }
  store(&c, coding, band, area, stride);
  return true;
}
