//===- jpeg2000_packets.c - which data belong to which block --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// T.800, annex B: a packet has what one layer adds to one precinct.
//
//===----------------------------------------------------------------------===//

#include "jpeg2000.h"

//===----------------------------------------------------------------------===//
// The order of packets
//===----------------------------------------------------------------------===//

static const char *loopsOf(enum J2kProgression progression) {
  switch (progression) {
  case j2kLrcp: return "LRCP";
  case j2kRlcp: return "RLCP";
  case j2kRpcl: return "RYXCL";
  case j2kPcrl: return "YXCRL";
  default: return "CYXRL";
  }
}

static const struct J2kResolution *resolutionOf(const struct J2kPackets *p) {
  return &p->j2k->planes[p->component].resolutions[p->resolution];
}

/// The exponent of the distance of positions: that of the precincts that are the least apart.
static uint32_t positionStep(const struct J2k *j2k, bool isVertical) {
  uint32_t least = 62;
  for (int c = 0; c < j2k->count; ++c)
    for (uint32_t r = 0, levels = j2k->components[c].coding.levels; r <= levels; ++r) {
      const struct J2kResolution *resolution = &j2k->planes[c].resolutions[r];
      uint32_t step = isVertical ? j2k->components[c].stepY : j2k->components[c].stepX;
      uint32_t own = (isVertical ? resolution->precinctHeight : resolution->precinctWidth) + levels - r;
      own += __builtin_ctz(step);
      least = own < least ? own : least;
    }
  return least;
}

/// Whether a precinct begins at a position, along one axis; sets which.
static bool isAtPrecinct(int64_t position, int64_t tileBegin, int64_t begin, uint32_t step, uint32_t down,
                         uint32_t size, int64_t *precinct) {
  int64_t distance = (int64_t)step << (size + down);
  bool isCut = (begin << down) % ((int64_t)1 << (size + down)) != 0;
  *precinct = (divideUp(position, (int64_t)step << down) >> size) - (begin >> size);
  return position % distance == 0 || (position == tileBegin && isCut);
}

/// Whether there is a packet where the loops are; where these go over positions, sets its precinct.
static bool isThere(struct J2kPackets *p) {
  const struct J2kComponent *component = &p->j2k->components[p->component];
  if (p->resolution > component->coding.levels)
    return false;
  const struct J2kResolution *r = resolutionOf(p);
  if (r->across * r->down == 0)
    return false;
  if (p->j2k->progression == j2kLrcp || p->j2k->progression == j2kRlcp)
    return p->precinct < r->across * r->down;
  uint32_t down = component->coding.levels - p->resolution;
  int64_t x, y;
  bool isAt = isAtPrecinct(p->x, p->tile.x0, r->area.x0, component->stepX, down, r->precinctWidth, &x) &&
              isAtPrecinct(p->y, p->tile.y0, r->area.y0, component->stepY, down, r->precinctHeight, &y);
  if (!isAt || x < 0 || y < 0 || x >= r->across || y >= r->down)
    return false;
  p->precinct = y * r->across + x;
  return true;
}

/// Advances one loop; false where it is at its end, and begins again.
static bool advanceLoop(struct J2kPackets *p, char loop, bool wasThere) {
  const struct J2k *j2k = p->j2k;
  switch (loop) {
  case 'L':
    if (++p->layer < j2k->layers && (wasThere || loopsOf(j2k->progression)[4] == 0))
      return true;
    p->layer = 0;
    return false;
  case 'R':
    if (++p->resolution <= j2kMaxLevels)
      return true;
    p->resolution = 0;
    return false;
  case 'C':
    if (++p->component < j2k->count)
      return true;
    p->component = 0;
    return false;
  case 'P':
    if (wasThere && ++p->precinct < resolutionOf(p)->across * resolutionOf(p)->down)
      return true;
    p->precinct = 0;
    return false;
  case 'X':
    p->x = ((p->x >> positionStep(j2k, false)) + 1) << positionStep(j2k, false);
    if (p->x < p->tile.x1)
      return true;
    p->x = p->tile.x0;
    return false;
  default:
    p->y = ((p->y >> positionStep(j2k, true)) + 1) << positionStep(j2k, true);
    if (p->y < p->tile.y1)
      return true;
    p->y = p->tile.y0;
    return false;
  }
}

/// Goes to the next packet; false after the last one.
static bool nextPacket(struct J2kPackets *p) {
  const char *loops = loopsOf(p->j2k->progression);
  bool wasThere = p->hasBegun;
  if (!p->hasBegun) {
    p->hasBegun = true;
    p->x = p->tile.x0;
    p->y = p->tile.y0;
    if (isThere(p))
      return true;
  }
  do {
    int i = loops[4] ? 4 : 3;
    while (i >= 0 && !advanceLoop(p, loops[i], wasThere))
      --i;
    if (i < 0)
      return false;
    wasThere = isThere(p);
  } while (!wasThere);
  return true;
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

/// Bits of a header; behind a byte of ones there is one bit less.
struct HeaderBits {
  struct Reader *in;
  uint32_t byte;
  int left;
};

static uint32_t takeBit(struct HeaderBits *bits) {
  if (bits->left == 0) {
    bits->left = bits->byte == 0xff ? 7 : 8;
    bits->byte = readByte(bits->in);
  }
  return bits->byte >> --bits->left & 1;
}

static uint32_t takeBits(struct HeaderBits *bits, uint32_t count) {
  uint32_t value = 0;
  while (count--)
    value = value << 1 | takeBit(bits);
  return value;
}

/// Whether the value of a leaf is below a limit. A node has the least value of those below it.
static bool isBelow(struct HeaderBits *bits, struct J2kNode *nodes, struct J2kArea grid, int64_t x, int64_t y,
                    uint32_t limit) {
  struct J2kNode *path[40];
  int64_t w = widthOf(grid), h = heightOf(grid);
  int depth = 0;
  for (;; w = (w + 1) / 2, h = (h + 1) / 2, x /= 2, y /= 2) {
    path[depth++] = nodes + y * w + x;
    if (w == 1 && h == 1)
      break;
    nodes += w * h;
  }
  uint32_t low = 0;
  while (depth--) {
    struct J2kNode *node = path[depth];
    low = node->low > low ? node->low : low;
    while (low < limit && low < node->value)
      if (takeBit(bits))
        node->value = low;
      else
        ++low;
    node->low = low;
  }
  return path[0]->value < limit;
}

static uint32_t takePasses(struct HeaderBits *bits) {
  if (!takeBit(bits))
    return 1;
  if (!takeBit(bits))
    return 2;
  uint32_t more = takeBits(bits, 2);
  if (more < 3)
    return 3 + more;
  more = takeBits(bits, 5);
  return more < 31 ? 6 + more : 37 + takeBits(bits, 7);
}

/// Adds data of `size` bytes to a block; where they lie becomes known behind the header.
static bool addChunk(struct J2k *j2k, struct J2kBlock *block, uint32_t size, int64_t *count) {
  if (*count == j2k->chunkCount)
    return false;
  j2k->chunks[*count] = (struct J2kChunk){0, size, 0};
  if (block->lastChunk)
    j2k->chunks[block->lastChunk].next = *count;
  else
    block->firstChunk = *count;
  block->lastChunk = (*count)++;
  block->size += size;
  return true;
}

/// What a packet says of one block. False where it is damaged.
static bool readBlockHeader(struct J2kPackets *p, struct HeaderBits *bits, const struct J2kBand *band,
                            const struct J2kCell *cell, int64_t x, int64_t y, int64_t *chunkCount) {
  struct J2k *j2k = p->j2k;
  struct J2kNode *begins = j2k->nodes + cell->firstNode, *zeros = begins + cell->nodeCount;
  struct J2kBlock *block = j2k->blocks + cell->firstBlock + y * widthOf(cell->grid) + x;
  bool isNew = block->lengthBits == 0;
  if (!(isNew ? isBelow(bits, begins, cell->grid, x, y, p->layer + 1) : takeBit(bits)))
    return true;
  if (isNew) {
    block->lengthBits = 3;
    while (!isBelow(bits, zeros, cell->grid, x, y, block->zeroPlanes + 1))
      if (++block->zeroPlanes > band->planes || bits->in->hasEnded)
        return false;
  }
  uint32_t passes = takePasses(bits);
  while (takeBit(bits))
    if (++block->lengthBits > 31)
      return false;
  uint32_t width = block->lengthBits + (31 - __builtin_clz(passes));
  if (width > 31)
    return false;
  block->passes += passes;
  uint32_t size = takeBits(bits, width);
  return !bits->in->hasEnded && block->passes < 200 && size <= (uint64_t)j2k->in.size && block->size <= j2k->in.size &&
         (size == 0 || addChunk(j2k, block, size, chunkCount));
}

static bool readCells(struct J2kPackets *p, struct HeaderBits *bits, int64_t *chunkCount) {
  const struct J2kResolution *resolution = resolutionOf(p);
  const struct J2kCell *cells = p->j2k->cells + resolution->firstCell + p->precinct * resolution->bandCount;
  for (int k = 0; k < resolution->bandCount; ++k)
    for (int64_t y = 0; y < heightOf(cells[k].grid); ++y)
      for (int64_t x = 0; x < widthOf(cells[k].grid); ++x)
        if (!readBlockHeader(p, bits, &resolution->bands[k], &cells[k], x, y, chunkCount))
          return false;
  return true;
}

static bool readPacket(struct J2kPackets *p, struct Reader *part, int64_t *chunkCount) {
  // Markers before and behind headers are there for what repairs files.
  if (hasBytesAt(part, part->place, "\xff\x91\x00\x04", 4))
    skipBytes(part, 6);
  struct HeaderBits bits = {part, 0, 0};
  int64_t chunk = *chunkCount;
  if (takeBit(&bits) && !readCells(p, &bits, chunkCount))
    return false;
  if (bits.byte == 0xff)
    readByte(part);
  if (hasBytesAt(part, part->place, "\xff\x92", 2))
    skipBytes(part, 2);
  for (; chunk < *chunkCount; ++chunk) {
    p->j2k->chunks[chunk].place = part->data + part->place - p->j2k->in.data;
    skipBytes(part, p->j2k->chunks[chunk].size);
  }
  return !part->hasEnded;
}

bool readPackets(struct J2kPackets *packets, struct Reader part) {
  while (bytesLeft(&part) > 0 && nextPacket(packets))
    if (!readPacket(packets, &part, &packets->chunkCount))
      return false;
  return true;
}
