//===- jpeg2000_wavelet.c - bands to samples ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// T.800, annex F: lines with low and high coefficients in turn, which are lifted to samples. Past its ends a line is
// mirrored.
//
//===----------------------------------------------------------------------===//

#include "jpeg2000.h"

/// Neighbor `i` of a line of `count` values, at least two.
static int64_t mirror(int64_t i, int64_t count) { return i < 0 ? -i : i >= count ? 2 * count - 2 - i : i; }

/// `first` is 0 where the line begins with a low coefficient, or else 1.
static void liftIntegers(union J2kValue *line, int64_t count, int64_t first) {
  if (count == 1) {
    line[0].integer >>= first;
    return;
  }
  for (int64_t i = first; i < count; i += 2) {
    int64_t sum = (int64_t)line[mirror(i - 1, count)].integer + line[mirror(i + 1, count)].integer;
    line[i].integer = (int32_t)(line[i].integer - ((sum + 2) >> 2));
  }
  for (int64_t i = 1 - first; i < count; i += 2) {
    int64_t sum = (int64_t)line[mirror(i - 1, count)].integer + line[mirror(i + 1, count)].integer;
    line[i].integer = (int32_t)(line[i].integer + (sum >> 1));
  }
}

static void liftStep(union J2kValue *line, int64_t count, int64_t first, float factor) {
  for (int64_t i = first; i < count; i += 2)
    line[i].real -= factor * (line[mirror(i - 1, count)].real + line[mirror(i + 1, count)].real);
}

static void liftReals(union J2kValue *line, int64_t count, int64_t first) {
  // High coefficients have half of their range until here.
  if (count == 1)
    return;
  for (int64_t i = 0; i < count; ++i)
    line[i].real *= i % 2 == first ? 1.230174105f : 1.625732422f;
  liftStep(line, count, first, 0.443506852f);
  liftStep(line, count, 1 - first, 0.882911075f);
  liftStep(line, count, first, -0.052980118f);
  liftStep(line, count, 1 - first, -1.586134342f);
}

/// A line whose values lie `step` apart, the low ones first.
static void liftLine(const struct J2kCoding *coding, union J2kValue *values, int64_t step, int64_t begin,
                     int64_t end, union J2kValue *line) {
  int64_t count = end - begin, first = begin & 1, low = (count + 1 - first) / 2;
  for (int64_t i = 0; i < count; ++i)
    line[i < low ? 2 * i + first : 2 * (i - low) + 1 - first] = values[i * step];
  if (coding->isReversible)
    liftIntegers(line, count, first);
  else
    liftReals(line, count, first);
  for (int64_t i = 0; i < count; ++i)
    values[i * step] = line[i];
}

void transformPlane(const struct J2kCoding *coding, struct J2kPlane *plane, union J2kValue *line) {
  int64_t stride = widthOf(plane->area);
  for (uint32_t r = 1; r <= coding->levels; ++r) {
    struct J2kArea area = plane->resolutions[r].area;
    if (isEmpty(area))
      continue;
    for (int64_t y = 0; y < heightOf(area); ++y)
      liftLine(coding, plane->values + y * stride, 1, area.x0, area.x1, line);
    for (int64_t x = 0; x < widthOf(area); ++x)
      liftLine(coding, plane->values + x, stride, area.y0, area.y1, line);
  }
}
