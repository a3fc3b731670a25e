//===- vp8_predict.c - prediction and inverse transform of VP8 ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vp8.h"

static uint8_t averageOf(const uint8_t *at, int64_t stride, int side, bool hasAbove, bool hasLeft) {
  int32_t sum = 0, count = side * (hasAbove + hasLeft);
  for (int i = 0; i < side; ++i)
    sum += (hasAbove ? at[i - stride] : 0) + (hasLeft ? at[i * stride - 1] : 0);
  return count ? (sum + count / 2) / count : 128;
}

static void predictTrueMotion(uint8_t *at, int64_t stride, int side) {
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      at[y * stride + x] = clampToByte(at[y * stride - 1] + at[x - stride] - at[-stride - 1]);
}

void predictVp8Square(uint8_t *at, int64_t stride, int side, enum Vp8Mode mode, bool hasAbove, bool hasLeft) {
  if (mode == vp8TrueMotion) {
    predictTrueMotion(at, stride, side);
    return;
  }
  uint8_t average = mode == vp8Dc ? averageOf(at, stride, side, hasAbove, hasLeft) : 0;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      at[y * stride + x] = mode == vp8Dc         ? average
                           : mode == vp8Vertical ? at[x - stride]
                                                 : at[y * stride - 1];
}

/// Samples around a block: four to the left from below, the corner, eight above.
struct Edge {
  uint8_t at[13];
};

static uint8_t average2(const struct Edge *e, int i) { return (e->at[i] + e->at[i + 1] + 1) >> 1; }

/// Around sample `i`; past either end the last one counts again.
static uint8_t average3(const struct Edge *e, int i) {
  int before = i > 0 ? i - 1 : 0, next = i < 12 ? i + 1 : 12;
  return (e->at[before] + 2 * e->at[i] + e->at[next] + 2) >> 2;
}

/// The sample at x and y of a block that is predicted along a slanted line.
static uint8_t slanted(const struct Edge *e, enum Vp8Mode mode, int x, int y) {
  int i;
  switch (mode) {
  case vp8Vertical: return average3(e, 5 + x);
  case vp8Horizontal: return average3(e, 3 - y);
  case vp8DownRight: return average3(e, 4 + x - y);
  case vp8DownLeft: return average3(e, 6 + x + y);
  case vp8VerticalRight:
    i = 2 * x - y;
    return i < -1 ? average3(e, 5 - y) : i % 2 ? average3(e, 4 + (i + 1) / 2) : average2(e, 4 + i / 2);
  case vp8VerticalLeft:
    // The last column departs from the lines.
    if (x == 3 && y >= 2)
      return average3(e, y == 2 ? 10 : 11);
    i = x + y / 2;
    return y % 2 ? average3(e, 6 + i) : average2(e, 5 + i);
  case vp8HorizontalDown:
    i = 2 * y - x;
    return i < -1 ? average3(e, 3 + x) : i % 2 ? average3(e, 4 - (i + 1) / 2) : average2(e, 3 - i / 2);
  default:
    i = x + 2 * y;
    if (i > 5)
      return e->at[0];
    return i % 2 ? average3(e, 2 - i / 2) : average2(e, 2 - i / 2);
  }
}

void predictVp8Block(uint8_t *at, int64_t stride, const uint8_t right[4], enum Vp8Mode mode) {
  struct Edge e;
  int32_t sum = 4;
  if (mode == vp8TrueMotion) {
    predictTrueMotion(at, stride, 4);
    return;
  }
  e.at[4] = at[-stride - 1];
  for (int i = 0; i < 4; ++i) {
    e.at[3 - i] = at[i * stride - 1];
    e.at[5 + i] = at[i - stride];
    e.at[9 + i] = right[i];
    sum += e.at[3 - i] + e.at[5 + i];
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x)
      at[y * stride + x] = mode == vp8Dc ? sum >> 3 : slanted(&e, mode, x, y);
}

static int32_t timesCosine(int64_t value) { return ((value * 20091) >> 16) + value; }
static int32_t timesSine(int64_t value) { return (value * 35468) >> 16; }

void addVp8Block(uint8_t *at, int64_t stride, const int16_t in[16]) {
  int32_t t[16];
  for (int i = 0; i < 4; ++i) {
    int32_t a = in[i] + in[8 + i], b = in[i] - in[8 + i];
    int32_t c = timesSine(in[4 + i]) - timesCosine(in[12 + i]), d = timesCosine(in[4 + i]) + timesSine(in[12 + i]);
    t[i] = a + d;
    t[4 + i] = b + c;
    t[8 + i] = b - c;
    t[12 + i] = a - d;
  }
  for (int y = 0; y < 4; ++y) {
    const int32_t *row = t + 4 * y;
    int32_t a = row[0] + 4 + row[2], b = row[0] + 4 - row[2];
    int32_t c = timesSine(row[1]) - timesCosine(row[3]), d = timesCosine(row[1]) + timesSine(row[3]);
    int32_t values[4] = {a + d, b + c, b - c, a - d};
    for (int x = 0; x < 4; ++x)
      at[y * stride + x] = clampToByte(at[y * stride + x] + (values[x] >> 3));
  }
}
