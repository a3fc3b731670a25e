//===- vp8_residue.c - decisions and coefficients of VP8 ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vp8.h"

static uint32_t nextByte(struct Vp8Bits *bits) {
  if (bytesLeft(&bits->in) > 0)
    return readByte(&bits->in);
  bits->missing += bits->missing < 1000;
  return 0;
}

void startVp8Bits(struct Vp8Bits *bits, struct Reader in) {
  *bits = (struct Vp8Bits){.in = in, .range = 255};
  bits->value = nextByte(bits) << 8;
  bits->value |= nextByte(bits);
}

uint32_t takeVp8Bit(struct Vp8Bits *bits, uint32_t odds) {
  uint32_t split = 1 + (((bits->range - 1) * odds) >> 8), bit = bits->value >= split << 8;
  bits->value -= bit ? split << 8 : 0;
  bits->range = bit ? bits->range - split : split;
  while (bits->range < 128) {
    bits->value <<= 1;
    bits->range <<= 1;
    if (++bits->count == 8) {
      bits->count = 0;
      bits->value |= nextByte(bits);
    }
  }
  return bit;
}

uint32_t takeVp8Number(struct Vp8Bits *bits, int count) {
  uint32_t value = 0;
  while (count--)
    value = value << 1 | takeVp8Bit(bits, 128);
  return value;
}

/// The kinds of blocks that odds depend on.
enum { kindLumaRest = 0, kindSecond = 1, kindChroma = 2, kindLuma = 3 };

/// A value from 2 on.
static int32_t readLarge(struct Vp8Bits *bits, const uint8_t *p) {
  static const uint8_t extra[4][12] = {{173, 148, 140},
                                       {176, 155, 140, 135},
                                       {180, 157, 141, 134, 130},
                                       {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}};
  if (!takeVp8Bit(bits, p[3]))
    return takeVp8Bit(bits, p[4]) ? 3 + takeVp8Bit(bits, p[5]) : 2;
  if (!takeVp8Bit(bits, p[6])) {
    if (!takeVp8Bit(bits, p[7]))
      return 5 + takeVp8Bit(bits, 159);
    int32_t value = 7 + 2 * takeVp8Bit(bits, 165);
    return value + takeVp8Bit(bits, 145);
  }
  uint32_t high = takeVp8Bit(bits, p[8]), category = 2 * high + takeVp8Bit(bits, p[9 + high]);
  int32_t value = 0;
  for (const uint8_t *odds = extra[category]; *odds; ++odds)
    value = 2 * value + takeVp8Bit(bits, *odds);
  return value + 3 + (8 << category);
}

/// Reads coefficients from number `i` on; gives the number behind the last one.
static int readBlock(struct Vp8Bits *bits, uint8_t odds[8][3][11], int context, const int32_t steps[2], int i,
                     int16_t out[16]) {
  static const uint8_t bands[17] = {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0};
  static const uint8_t places[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
  const uint8_t *p = odds[bands[i]][context];
  for (; i < 16; ++i) {
    if (!takeVp8Bit(bits, p[0]))
      return i;
    while (!takeVp8Bit(bits, p[1])) {
      if (++i == 16)
        return 16;
      p = odds[bands[i]][0];
    }
    bool isLarge = takeVp8Bit(bits, p[2]);
    int32_t value = isLarge ? readLarge(bits, p) : 1;
    p = odds[bands[i + 1]][isLarge ? 2 : 1];
    out[places[i]] = (int16_t)((takeVp8Bit(bits, 128) ? -value : value) * steps[i > 0]);
  }
  return 16;
}

/// The second transform: the first coefficients of all blocks of luma.
static void spreadSecond(const int16_t in[16], struct Vp8Residue *residue) {
  int32_t t[16];
  for (int i = 0; i < 4; ++i) {
    int32_t a = in[i] + in[12 + i], b = in[4 + i] + in[8 + i], c = in[4 + i] - in[8 + i], d = in[i] - in[12 + i];
    t[i] = a + b;
    t[4 + i] = d + c;
    t[8 + i] = a - b;
    t[12 + i] = d - c;
  }
  for (int i = 0; i < 4; ++i) {
    const int32_t *row = t + 4 * i;
    int32_t first = row[0] + 3, a = first + row[3], b = row[1] + row[2], c = row[1] - row[2], d = first - row[3];
    residue->values[4 * i][0] = (int16_t)((a + b) >> 3);
    residue->values[4 * i + 1][0] = (int16_t)((d + c) >> 3);
    residue->values[4 * i + 2][0] = (int16_t)((a - b) >> 3);
    residue->values[4 * i + 3][0] = (int16_t)((d - c) >> 3);
  }
}

bool readVp8Residue(struct Vp8 *vp8, struct Vp8Bits *bits, const struct Vp8Quantizer *quantizer, bool isSplit,
                    struct Vp8Context *above, struct Vp8Residue *residue) {
  struct Vp8Context *left = &vp8->left;
  bool hasAny = false;
  if (!isSplit) {
    int16_t second[16] = {0};
    int end = readBlock(bits, vp8->odds[kindSecond], above->second + left->second, quantizer->second, 0, second);
    above->second = left->second = end > 0;
    spreadSecond(second, residue);
  }
  int kind = isSplit ? kindLuma : kindLumaRest, first = isSplit ? 0 : 1;
  for (int i = 0; i < 16; ++i) {
    uint8_t *a = &above->luma[i % 4], *l = &left->luma[i / 4];
    int end = readBlock(bits, vp8->odds[kind], *a + *l, quantizer->luma, first, residue->values[i]);
    *a = *l = end > first;
    hasAny |= end > 1 || residue->values[i][0];
  }
  for (int i = 0; i < 8; ++i) {
    uint8_t *a = &above->chroma[i / 4][i % 2], *l = &left->chroma[i / 4][i % 4 / 2];
    int end = readBlock(bits, vp8->odds[kindChroma], *a + *l, quantizer->chroma, 0, residue->values[16 + i]);
    *a = *l = end > 0;
    hasAny |= end > 1 || residue->values[16 + i][0];
  }
  return hasAny;
}
