//===- jpeg_scan.c - what is coded in a scan of a JPEG file ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "jpeg.h"

/// A code for reading: the first code of each length, and what short codes mean at once.
struct Lookup {
  const struct JpegCode *code;
  int32_t first[18], index[17];
  uint8_t symbols[256], lengths[256];
};

/// Some components, of which a band of coefficients is read; in progressive files from bit `low` on, where bits
/// above `high` were read before, if `high` is not 0.
struct Scan {
  struct Jpeg *jpeg;
  int count;
  struct JpegComponent *components[JPEG_MAX_COMPONENTS];
  struct Lookup *dc[JPEG_MAX_COMPONENTS], *ac[JPEG_MAX_COMPONENTS];
  struct Lookup dcLookups[4], acLookups[4];
  uint32_t first, last, high, low;
  /// Blocks without further coefficients of the band that are still to come.
  int32_t emptyBlocks;
  uint32_t bits;
  int bitCount;
  bool isDamaged;
};

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Up to 16 bits. Before a marker there are zeros, which count as damage once they are used up.
static uint32_t peekBits(struct Scan *s, int count) {
  struct Reader *in = &s->jpeg->in;
  while (s->bitCount < count) {
    uint32_t byte = 0;
    bool isMarker = in->place + 1 >= in->size
                        ? in->place >= in->size || in->data[in->place] == 0xff
                        : in->data[in->place] == 0xff && in->data[in->place + 1] != 0;
    if (!isMarker) {
      byte = readByte(in);
      if (byte == 0xff)
        readByte(in);
      s->bits = s->bits << 8 | byte;
      s->bitCount += 8;
      continue;
    }
    // As many zeros as are asked for; dropping them tells.
    return s->bits << (count - s->bitCount) & ((1u << count) - 1);
  }
  return s->bits >> (s->bitCount - count) & ((1u << count) - 1);
}

static void dropBits(struct Scan *s, int count) {
  s->isDamaged |= count > s->bitCount;
  s->bitCount = count > s->bitCount ? 0 : s->bitCount - count;
  s->bits &= (1u << s->bitCount) - 1;
}

static uint32_t takeBits(struct Scan *s, int count) {
  uint32_t value = peekBits(s, count);
  dropBits(s, count);
  return value;
}

/// A number of `count` bits; the lower half of them stands for negative numbers.
static int32_t takeNumber(struct Scan *s, int count) {
  if (count == 0)
    return 0;
  int32_t value = takeBits(s, count);
  return value >> (count - 1) ? value : value - (1 << count) + 1;
}

static void prepare(struct Lookup *lookup, const struct JpegCode *code) {
  lookup->code = code;
  int32_t value = 0, index = 0;
  for (int i = 0; i < 256; ++i)
    lookup->lengths[i] = 0;
  for (int length = 1; length <= 16; ++length) {
    lookup->first[length] = value;
    lookup->index[length] = index;
    for (int i = 0; length <= 8 && i < code->counts[length]; ++i)
      for (int k = 0; k < 1 << (8 - length); ++k) {
        int at = (value + i) << (8 - length) | k;
        lookup->symbols[at & 255] = code->symbols[index + i];
        lookup->lengths[at & 255] = length;
      }
    index += code->counts[length];
    value = (value + code->counts[length]) << 1;
  }
}

static uint32_t takeSymbol(struct Scan *s, const struct Lookup *lookup) {
  uint32_t next = peekBits(s, 16);
  if (lookup->lengths[next >> 8]) {
    dropBits(s, lookup->lengths[next >> 8]);
    return lookup->symbols[next >> 8];
  }
  for (int length = 9; length <= 16; ++length) {
    int32_t place = (int32_t)(next >> (16 - length)) - lookup->first[length];
    if (place >= 0 && place < lookup->code->counts[length]) {
      dropBits(s, length);
      return lookup->code->symbols[lookup->index[length] + place];
    }
  }
  s->isDamaged = true;
  return 0;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static int16_t shiftUp(int32_t value, uint32_t by) { return (int16_t)((uint32_t)value << by); }

static void readDc(struct Scan *s, struct JpegComponent *c, const struct Lookup *dc, int16_t *block) {
  uint32_t size = takeSymbol(s, dc);
  if (size > 15) {
    s->isDamaged = true;
    return;
  }
  c->lastDc = (int16_t)(c->lastDc + takeNumber(s, size));
  block[0] = shiftUp(c->lastDc, s->low);
}

/// Coefficients for the first time. A symbol is a number of zeros and the size of what follows them.
static void readFirstAc(struct Scan *s, const struct Lookup *ac, int16_t *block) {
  if (s->emptyBlocks) {
    --s->emptyBlocks;
    return;
  }
  for (uint32_t k = s->first ? s->first : 1; k <= s->last && !s->isDamaged; ++k) {
    uint32_t symbol = takeSymbol(s, ac), zeros = symbol >> 4, size = symbol & 15;
    if (size == 0 && zeros < 15) {
      s->emptyBlocks = (1 << zeros) - 1;
      if (zeros && s->jpeg->isProgressive)
        s->emptyBlocks += takeBits(s, zeros);
      else
        s->emptyBlocks = 0;
      return;
    }
    k += zeros;
    if (k > s->last) {
      s->isDamaged |= size != 0;
      return;
    }
    if (size)
      block[jpegNaturalOrder[k]] = shiftUp(takeNumber(s, size), s->low);
  }
}

/// One more bit of a coefficient that is not zero.
static void refine(struct Scan *s, int16_t *coefficient) {
  if (takeBits(s, 1) && !(*coefficient & 1 << s->low))
    *coefficient += *coefficient > 0 ? 1 << s->low : -(1 << s->low);
}

/// One more bit of coefficients; some that were zero are so no longer.
static void refineAc(struct Scan *s, const struct Lookup *ac, int16_t *block) {
  uint32_t k = s->first;
  for (; !s->emptyBlocks && k <= s->last && !s->isDamaged; ++k) {
    uint32_t symbol = takeSymbol(s, ac), zeros = symbol >> 4, size = symbol & 15;
    int32_t value = 0;
    if (size)
      value = takeBits(s, 1) ? 1 << s->low : -(1 << s->low);
    else if (zeros < 15) {
      s->emptyBlocks = 1 << zeros;
      if (zeros)
        s->emptyBlocks += takeBits(s, zeros);
      break;
    }
    for (; k <= s->last; ++k) {
      int16_t *coefficient = &block[jpegNaturalOrder[k]];
      if (*coefficient)
        refine(s, coefficient);
      else if (zeros-- == 0) {
        *coefficient = value;
        break;
      }
    }
  }
  if (!s->emptyBlocks)
    return;
  for (; k <= s->last; ++k)
    if (block[jpegNaturalOrder[k]])
      refine(s, &block[jpegNaturalOrder[k]]);
  --s->emptyBlocks;
}

static void readBlock(struct Scan *s, int i, int64_t row, int64_t column) {
  struct JpegComponent *c = s->components[i];
  int16_t *block = c->coefficients + (row * c->blocksAcross + column) * 64;
  if (s->first == 0 && s->high == 0)
    readDc(s, c, s->dc[i], block);
  else if (s->first == 0 && takeBits(s, 1))
    block[0] |= 1 << s->low;
  if (s->last == 0)
    return;
  if (s->high == 0)
    readFirstAc(s, s->ac[i], block);
  else
    refineAc(s, s->ac[i], block);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

static bool readScanHeader(struct Scan *s, struct Reader *r) {
  struct Jpeg *jpeg = s->jpeg;
  s->count = readByte(r);
  if (s->count < 1 || s->count > jpeg->count)
    return false;
  for (int i = 0; i < s->count; ++i) {
    uint32_t id = readByte(r), tables = readByte(r);
    if ((tables & 15) > 3 || tables >> 4 > 3)
      return false;
    s->components[i] = NULL;
    for (int k = 0; k < jpeg->count; ++k)
      if (jpeg->components[k].id == id && !s->components[i])
        s->components[i] = &jpeg->components[k];
    s->dc[i] = &s->dcLookups[tables >> 4];
    s->ac[i] = &s->acLookups[tables & 15];
    if (!s->components[i])
      return false;
    for (int k = 0; k < i; ++k)
      if (s->components[k] == s->components[i])
        return false;
  }
  s->first = readByte(r);
  s->last = readByte(r);
  uint32_t bits = readByte(r);
  s->high = bits >> 4;
  s->low = bits & 15;
  if (!jpeg->isProgressive) {
    s->first = s->high = s->low = 0;
    s->last = 63;
    return !r->hasEnded;
  }
  bool isBand = s->first == 0 ? s->last == 0 : s->first <= s->last && s->last < 64 && s->count == 1;
  return !r->hasEnded && isBand && s->low <= 13 && (s->high == 0 || s->high == s->low + 1);
}

/// Makes the codes ready that the scan needs, and fixes the components' quantization.
static bool prepareTables(struct Scan *s) {
  for (int i = 0; i < s->count; ++i) {
    struct JpegComponent *c = s->components[i];
    int dc = s->dc[i] - s->dcLookups, ac = s->ac[i] - s->acLookups;
    bool needsDc = s->first == 0 && s->high == 0, needsAc = s->last > 0;
    if ((needsDc && !s->jpeg->dcCodes[dc].isThere) || (needsAc && !s->jpeg->acCodes[ac].isThere))
      return false;
    if (needsDc)
      prepare(s->dc[i], &s->jpeg->dcCodes[dc]);
    if (needsAc)
      prepare(s->ac[i], &s->jpeg->acCodes[ac]);
    if (c->hasQuantization)
      continue;
    if (!s->jpeg->hasTable[c->table])
      return false;
    for (int k = 0; k < 64; ++k)
      c->quantization[k] = s->jpeg->quantization[c->table][k];
    c->hasQuantization = true;
  }
  return true;
}

static void restart(struct Scan *s) {
  s->bits = s->bitCount = 0;
  s->emptyBlocks = 0;
  for (int i = 0; i < s->count; ++i)
    s->components[i]->lastDc = 0;
}

/// Skips the marker between intervals. False where there is none.
static bool readRestart(struct Scan *s) {
  struct Reader *in = &s->jpeg->in;
  while (bytesLeft(in) > 1 && !(in->data[in->place] == 0xff && in->data[in->place + 1] != 0 &&
                                in->data[in->place + 1] != 0xff))
    ++in->place;
  if (bytesLeft(in) < 2 || (in->data[in->place + 1] & 0xf8) != 0xd0)
    return false;
  skipBytes(in, 2);
  restart(s);
  return true;
}

static void readUnit(struct Scan *s, int64_t row, int64_t column) {
  for (int i = 0; i < s->count; ++i) {
    struct JpegComponent *c = s->components[i];
    for (uint32_t y = 0; y < c->vertical; ++y)
      for (uint32_t x = 0; x < c->horizontal; ++x)
        readBlock(s, i, row * c->vertical + y, column * c->horizontal + x);
  }
}

bool readJpegScan(struct Jpeg *jpeg) {
  struct Scan s = {.jpeg = jpeg};
  int64_t size = (int64_t)read16(&jpeg->in) - 2;
  struct Reader header = takeBytes(&jpeg->in, size);
  if (size < 0 || jpeg->in.hasEnded || !readScanHeader(&s, &header) || !prepareTables(&s))
    return false;
  // Of one component alone there are only the blocks that have samples of the image.
  bool isAlone = s.count == 1;
  int64_t across = isAlone ? (s.components[0]->width + 7) / 8 : jpeg->unitsAcross;
  int64_t down = isAlone ? (s.components[0]->height + 7) / 8 : jpeg->unitsDown;
  restart(&s);
  for (int64_t unit = 0; unit < across * down; ++unit) {
    if (unit && jpeg->restartInterval && unit % jpeg->restartInterval == 0 && !readRestart(&s))
      return false;
    if (isAlone)
      readBlock(&s, 0, unit / across, unit % across);
    else
      readUnit(&s, unit / across, unit % across);
    if (s.isDamaged)
      return false;
  }
  return true;
}
