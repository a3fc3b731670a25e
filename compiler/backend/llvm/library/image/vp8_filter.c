//===- vp8_filter.c - the edges of blocks of VP8 --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vp8.h"

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}
static int32_t distance(int32_t a, int32_t b) { return a < b ? b - a : a - b; }

/// How strongly a macroblock's edges are filtered; not at all where the limit is 0.
struct Strength {
  int32_t limit, inner, variance;
  bool hasInner;
};

static struct Strength strengthOf(const struct Vp8 *vp8, const struct Vp8Macroblock *m) {
  int32_t level = vp8->level;
  if (vp8->hasSegments)
    level = vp8->segmentLevels[m->segment] + (vp8->isAbsolute ? 0 : vp8->level);
  if (vp8->hasDeltas)
    level += vp8->frameDelta + (m->isSplit ? vp8->splitDelta : 0);
  level = clamp(level, 0, 63);
  if (level == 0)
    return (struct Strength){0};
  int32_t inner = level;
  if (vp8->sharpness > 0) {
    inner >>= vp8->sharpness > 4 ? 2 : 1;
    inner = inner > 9 - vp8->sharpness ? 9 - vp8->sharpness : inner;
  }
  inner = inner < 1 ? 1 : inner;
  return (struct Strength){2 * level + inner, inner, level >= 40 ? 2 : level >= 15, m->isSplit || m->hasCoefficients};
}

/// Changes the two samples at an edge.
static void filterTwo(uint8_t *q, int64_t step) {
  int32_t a = 3 * (q[0] - q[-step]) + clamp(q[-2 * step] - q[step], -128, 127);
  q[-step] = clampToByte(q[-step] + clamp((a + 3) >> 3, -16, 15));
  q[0] = clampToByte(q[0] - clamp((a + 4) >> 3, -16, 15));
}

static void filterFour(uint8_t *q, int64_t step) {
  int32_t a = 3 * (q[0] - q[-step]);
  int32_t up = clamp((a + 4) >> 3, -16, 15), down = clamp((a + 3) >> 3, -16, 15), rest = (up + 1) >> 1;
  q[-2 * step] = clampToByte(q[-2 * step] + rest);
  q[-step] = clampToByte(q[-step] + down);
  q[0] = clampToByte(q[0] - up);
  q[step] = clampToByte(q[step] - rest);
}

static void filterSix(uint8_t *q, int64_t step) {
  int32_t a = clamp(3 * (q[0] - q[-step]) + clamp(q[-2 * step] - q[step], -128, 127), -128, 127);
  for (int i = 0; i < 3; ++i) {
    int32_t part = ((27 - 9 * i) * a + 63) >> 7;
    q[-(i + 1) * step] = clampToByte(q[-(i + 1) * step] + part);
    q[i * step] = clampToByte(q[i * step] - part);
  }
}

/// Whether the samples across an edge differ so little that it is no edge of the picture.
static bool isSmooth(const uint8_t *q, int64_t step, int32_t limit) {
  return 4 * distance(q[-step], q[0]) + distance(q[-2 * step], q[step]) <= 2 * limit + 1;
}

static bool isSmoothInside(const uint8_t *q, int64_t step, int32_t inner) {
  for (int i = 1; i < 4; ++i)
    if (distance(q[-(i + 1) * step], q[-i * step]) > inner || distance(q[i * step], q[(i - 1) * step]) > inner)
      return false;
  return true;
}

/// An edge of `count` samples, `along` apart; `step` leads across it.
static void filterEdge(uint8_t *q, int64_t step, int64_t along, int count, const struct Strength *s, bool isOuter,
                       bool isSimple) {
  int32_t limit = s->limit + (isOuter ? 4 : 0);
  for (int i = 0; i < count; ++i, q += along) {
    if (!isSmooth(q, step, limit) || (!isSimple && !isSmoothInside(q, step, s->inner)))
      continue;
    bool varies = distance(q[-2 * step], q[-step]) > s->variance || distance(q[step], q[0]) > s->variance;
    if (isSimple || varies)
      filterTwo(q, step);
    else if (isOuter)
      filterSix(q, step);
    else
      filterFour(q, step);
  }
}

/// All edges across one direction, of one plane.
static void filterEdges(uint8_t *at, int64_t step, int64_t along, int side, const struct Strength *s, bool hasOuter,
                        bool isSimple) {
  if (hasOuter)
    filterEdge(at, step, along, side, s, true, isSimple);
  for (int k = 4; s->hasInner && k < side; k += 4)
    filterEdge(at + k * step, step, along, side, s, false, isSimple);
}

void filterVp8(const struct Vp8 *vp8) {
  for (int64_t i = 0; vp8->level && i < vp8->across * vp8->down; ++i) {
    int64_t x = i % vp8->across, y = i / vp8->across;
    struct Strength strength = strengthOf(vp8, &vp8->macroblocks[i]);
    if (!strength.limit)
      continue;
    for (int k = 0; k < (vp8->isSimpleFilter ? 1 : 3); ++k) {
      int side = k ? 8 : 16;
      int64_t stride = vp8->planes[k].stride;
      uint8_t *at = vp8->planes[k].samples + y * side * stride + x * side;
      filterEdges(at, 1, stride, side, &strength, x > 0, vp8->isSimpleFilter);
      filterEdges(at, stride, 1, side, &strength, y > 0, vp8->isSimpleFilter);
    }
  }
}
