//===- jpeg2000.c - JPEG 2000 files ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part 1 of the standard, as a file or a bare codestream. What is left out: coding that changes from tile to tile,
// regions of interest, raw or terminated passes, palettes and sYCC.
//
//===----------------------------------------------------------------------===//

#include "jpeg2000.h"

enum {
  markerSize = 0xff51,
  markerCoding = 0xff52,
  markerComponentCoding = 0xff53,
  markerLengths = 0xff55,
  markerPacketLengths = 0xff57,
  markerTilePacketLengths = 0xff58,
  markerQuantization = 0xff5c,
  markerComponentQuantization = 0xff5d,
  markerRegistration = 0xff63,
  markerComment = 0xff64,
  markerTilePart = 0xff90,
  markerData = 0xff93,
  markerEnd = 0xffd9,
};

/// Loops over packets that have none are bounded by this.
static const int64_t maxSteps = (int64_t)1 << 26;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

enum { spaceInk = 12, spaceYcc = 18 };

/// Finds the codestream, and what is said of colors. Boxes have a size and a name.
static enum Outcome readBoxes(struct Reader *file, uint32_t *colorSpace, struct Reader *stream) {
  if (hasBytesAt(file, 0, "\xff\x4f", 2)) {
    *stream = *file;
    return imageDone;
  }
  while (bytesLeft(file) >= 8) {
    int64_t begin = file->place, size = read32(file);
    bool isHeader = hasBytesAt(file, file->place, "jp2h", 4), isStream = hasBytesAt(file, file->place, "jp2c", 4);
    bool isColor = hasBytesAt(file, file->place, "colr", 4), isPalette = hasBytesAt(file, file->place, "pclr", 4);
    skipBytes(file, 4);
    if (size == 1) {
      if (read32(file))
        return imageDamaged;
      size = read32(file);
    }
    if (isStream) {
      *stream = takeBytes(file, bytesLeft(file));
      return imageDone;
    }
    if (isPalette)
      return imageUnsupported;
    // What the header box holds are boxes, too.
    if (isHeader)
      continue;
    if (isColor && readByte(file) == 1) {
      skipBytes(file, 2);
      *colorSpace = read32(file);
    }
    if (size < 8)
      return imageDamaged;
    moveTo(file, begin + size);
  }
  return imageDamaged;
}

//===----------------------------------------------------------------------===//
// The main header
//===----------------------------------------------------------------------===//

static enum Outcome readSize(struct J2k *j2k, struct Reader *r, struct Image *image) {
  skipBytes(r, 2);
  j2k->area.x1 = read32(r);
  j2k->area.y1 = read32(r);
  j2k->area.x0 = read32(r);
  j2k->area.y0 = read32(r);
  j2k->tileWidth = read32(r);
  j2k->tileHeight = read32(r);
  j2k->tileX = read32(r);
  j2k->tileY = read32(r);
  j2k->count = read16(r);
  if (j2k->count < 1 || r->hasEnded)
    return imageDamaged;
  if (j2k->count > j2kMaxComponents)
    return imageUnsupported;
  for (int i = 0; i < j2k->count; ++i) {
    uint32_t bits = readByte(r);
    struct J2kComponent *c = &j2k->components[i];
    *c = (struct J2kComponent){.bits = (bits & 127) + 1, .isSigned = bits >> 7};
    c->stepX = readByte(r);
    c->stepY = readByte(r);
    bool isKnown = (c->stepX == 1 || c->stepX == 2 || c->stepX == 4) &&
                   (c->stepY == 1 || c->stepY == 2 || c->stepY == 4) && c->bits <= 16;
    if (!isKnown)
      return imageUnsupported;
  }
  if (r->hasEnded || isEmpty(j2k->area) || j2k->tileWidth == 0 || j2k->tileHeight == 0 ||
      j2k->tileX > j2k->area.x0 || j2k->tileY > j2k->area.y0 || j2k->tileX + j2k->tileWidth <= j2k->area.x0 ||
      j2k->tileY + j2k->tileHeight <= j2k->area.y0)
    return imageDamaged;
  j2k->tilesAcross = divideUp(j2k->area.x1 - j2k->tileX, j2k->tileWidth);
  j2k->tilesDown = divideUp(j2k->area.y1 - j2k->tileY, j2k->tileHeight);
  if (j2k->tilesAcross > 65535 || j2k->tilesDown > 65535 || j2k->tilesAcross * j2k->tilesDown > 65535)
    return imageDamaged;
  return setSize(image, heightOf(j2k->area), widthOf(j2k->area));
}

static enum Outcome readComponentCoding(struct Reader *r, struct J2kCoding *coding, bool hasPrecincts) {
  coding->levels = readByte(r);
  coding->blockWidth = readByte(r) + 2;
  coding->blockHeight = readByte(r) + 2;
  coding->style = readByte(r);
  uint32_t transform = readByte(r);
  coding->isReversible = transform == 1;
  if (r->hasEnded || coding->levels > j2kMaxLevels || transform > 1 || coding->blockWidth > 10 ||
      coding->blockHeight > 10 || coding->blockWidth + coding->blockHeight > 12)
    return imageDamaged;
  for (uint32_t i = 0; i <= coding->levels; ++i) {
    coding->precincts[i] = hasPrecincts ? readByte(r) : 0xff;
    if (i > 0 && (coding->precincts[i] < 16 || coding->precincts[i] % 16 == 0))
      return imageDamaged;
  }
  if (r->hasEnded)
    return imageDamaged;
  return coding->style & (j2kBypass | j2kTerminateAll) ? imageUnsupported : imageDone;
}

static enum Outcome readCoding(struct J2k *j2k, struct Reader *r) {
  struct J2kCoding coding;
  uint32_t style = readByte(r), progression = readByte(r);
  j2k->layers = read16(r);
  j2k->mixesColors = readByte(r) == 1;
  if (progression > j2kCprl || j2k->layers == 0)
    return imageDamaged;
  j2k->progression = progression;
  enum Outcome outcome = readComponentCoding(r, &coding, style & 1);
  for (int i = 0; i < j2k->count && outcome == imageDone; ++i) {
    struct J2kCoding *own = &j2k->components[i].coding;
    if (own->isOwn)
      continue;
    own->levels = coding.levels;
    own->blockWidth = coding.blockWidth;
    own->blockHeight = coding.blockHeight;
    own->style = coding.style;
    own->isReversible = coding.isReversible;
    for (uint32_t k = 0; k <= coding.levels; ++k)
      own->precincts[k] = coding.precincts[k];
  }
  return outcome;
}

static bool readQuantization(struct Reader *r, struct J2kCoding *coding) {
  uint32_t style = readByte(r);
  coding->quantization = style & 31;
  coding->guardBits = style >> 5;
  for (coding->stepCount = 0; coding->stepCount < j2kMaxBands && bytesLeft(r) > 0; ++coding->stepCount)
    coding->steps[coding->stepCount] = coding->quantization == 0 ? readByte(r) : read16(r);
  return coding->quantization <= 2 && coding->stepCount > 0 && !r->hasEnded;
}

/// A segment of the main header, behind that of the size.
static enum Outcome readSegment(struct J2k *j2k, struct Reader *r, uint32_t marker) {
  bool isComponents = marker == markerComponentCoding || marker == markerComponentQuantization;
  int component = isComponents ? readByte(r) : 0;
  if (component >= j2k->count)
    return imageDamaged;
  struct J2kCoding *own = &j2k->components[component].coding;
  switch (marker) {
  case markerCoding: return readCoding(j2k, r);
  case markerComponentCoding:
    own->isOwn = true;
    return readComponentCoding(r, own, readByte(r) & 1);
  case markerQuantization:
    for (int i = 0; i < j2k->count; ++i) {
      struct Reader again = *r;
      if (!j2k->components[i].coding.isQuantizationOwn && !readQuantization(&again, &j2k->components[i].coding))
        return imageDamaged;
    }
    return imageDone;
  case markerComponentQuantization:
    own->isQuantizationOwn = true;
    return readQuantization(r, own) ? imageDone : imageDamaged;
  case markerComment:
  case markerLengths:
  case markerPacketLengths:
  case markerRegistration: return imageDone;
  }
  return imageUnsupported;
}

static enum Outcome checkHeader(const struct J2k *j2k) {
  for (int i = 0; i < j2k->count; ++i) {
    const struct J2kCoding *c = &j2k->components[i].coding;
    if (c->blockWidth == 0 || c->stepCount == 0 || (c->quantization != 1 && c->stepCount < 3 * c->levels + 1))
      return imageDamaged;
  }
  for (int i = 1; i < 3 && j2k->mixesColors; ++i) {
    const struct J2kComponent *a = &j2k->components[0], *b = &j2k->components[i];
    if (j2k->count < 3 || a->stepX != b->stepX || a->stepY != b->stepY ||
        a->coding.isReversible != b->coding.isReversible)
      return imageDamaged;
  }
  return imageDone;
}

/// Reads up to the first part of a tile.
static enum Outcome readHeader(struct J2k *j2k, struct Image *image) {
  struct Reader *in = &j2k->in;
  moveTo(in, 2);
  bool hasSize = false;
  for (;;) {
    uint32_t marker = read16(in);
    if (marker == markerTilePart && hasSize) {
      in->place -= 2;
      return checkHeader(j2k);
    }
    int64_t size = (int64_t)read16(in) - 2;
    struct Reader segment = takeBytes(in, size < 0 ? 0 : size);
    if (size < 0 || in->hasEnded || hasSize == (marker == markerSize))
      return imageDamaged;
    enum Outcome outcome = hasSize ? readSegment(j2k, &segment, marker) : readSize(j2k, &segment, image);
    if (outcome != imageDone)
      return outcome;
    hasSize = true;
  }
}

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

/// Data of a tile, and the number of its next part.
struct Part {
  int64_t tile, place, size, next;
};

static enum Outcome readPartHeader(struct Reader *in, struct Part *part) {
  int64_t begin = in->place;
  skipBytes(in, 4);
  part->tile = read16(in);
  int64_t size = read32(in);
  skipBytes(in, 2);
  for (;;) {
    uint32_t marker = read16(in);
    if (marker == markerData)
      break;
    if (in->hasEnded)
      return imageDamaged;
    if (marker != markerComment && marker != markerTilePacketLengths)
      return imageUnsupported;
    uint32_t length = read16(in);
    if (length < 2)
      return imageDamaged;
    skipBytes(in, length - 2);
  }
  part->place = in->place;
  // The last part may reach to the end of the stream.
  if (size == 0)
    size = in->size - begin - (hasBytesAt(in, in->size - 2, "\xff\xd9", 2) ? 2 : 0);
  part->size = begin + size - in->place;
  part->next = -1;
  if (part->size < 0 || in->hasEnded)
    return imageDamaged;
  skipBytes(in, part->size);
  return in->hasEnded ? imageDamaged : imageDone;
}

/// Chains the parts of each tile; only counts them where there is no memory yet.
static enum Outcome readParts(struct J2k *j2k, struct Part *parts, int64_t *heads, int64_t *count) {
  struct Reader in = j2k->in;
  int64_t tiles = j2k->tilesAcross * j2k->tilesDown, *tails = heads ? heads + tiles : NULL;
  for (int64_t i = 0; heads && i < tiles; ++i)
    heads[i] = tails[i] = -1;
  for (*count = 0; hasBytesAt(&in, in.place, "\xff\x90", 2); ++*count) {
    struct Part part;
    enum Outcome outcome = readPartHeader(&in, &part);
    if (outcome != imageDone || part.tile >= tiles)
      return outcome == imageDone ? imageDamaged : outcome;
    if (!parts)
      continue;
    parts[*count] = part;
    if (heads[part.tile] < 0)
      heads[part.tile] = *count;
    else
      parts[tails[part.tile]].next = *count;
    tails[part.tile] = *count;
  }
  return imageDone;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Memory that tiles need, each at most.
struct Needs {
  int64_t cells, blocks, nodes, line, samples[j2kMaxComponents];
  int64_t precincts, steps; ///< of all tiles
};

static int64_t countPositions(const struct J2k *j2k) {
  // Precincts that are small in one direction are many there, of whichever component.
  int64_t across = 1, down = 1, resolutions = 0;
  for (int i = 0; i < j2k->count; ++i)
    for (uint32_t r = 0; r <= j2k->components[i].coding.levels; ++r, ++resolutions) {
      across = most(across, j2k->planes[i].resolutions[r].across + 1);
      down = most(down, j2k->planes[i].resolutions[r].down + 1);
    }
  return across * down * resolutions;
}

/// Numbers the cells, blocks and nodes of the tile that is laid out; sets them where `cells` is not null.
static void countTile(struct J2k *j2k, struct J2kCell *cells, struct Needs *tile) {
  for (int i = 0; i < j2k->count; ++i)
    for (uint32_t r = 0; r <= j2k->components[i].coding.levels; ++r) {
      struct J2kResolution *resolution = &j2k->planes[i].resolutions[r];
      resolution->firstCell = tile->cells;
      for (int64_t p = 0; p < resolution->across * resolution->down; ++p)
        for (int k = 0; k < resolution->bandCount; ++k) {
          struct J2kCell cell = cellOf(resolution, p, k);
          cell.firstBlock = tile->blocks;
          cell.firstNode = tile->nodes;
          tile->blocks += widthOf(cell.grid) * heightOf(cell.grid);
          tile->nodes += 2 * cell.nodeCount;
          if (cells)
            cells[tile->cells] = cell;
          ++tile->cells;
        }
    }
}

static enum Outcome measureTiles(struct J2k *j2k, struct Needs *needs) {
  for (int64_t t = 0; t < j2k->tilesAcross * j2k->tilesDown; ++t) {
    struct Needs tile = {0};
    layOutTile(j2k, t);
    for (int i = 0; i < j2k->count; ++i) {
      struct J2kArea area = j2k->planes[i].area;
      needs->samples[i] = most(needs->samples[i], isEmpty(area) ? 0 : widthOf(area) * heightOf(area));
      needs->line = most(needs->line, most(widthOf(area), heightOf(area)));
      for (uint32_t r = 0; r <= j2k->components[i].coding.levels; ++r)
        needs->precincts += j2k->planes[i].resolutions[r].across * j2k->planes[i].resolutions[r].down;
    }
    // Each precinct has a packet, and each packet a byte.
    if (needs->precincts > j2k->in.size)
      return imageDamaged;
    needs->steps += countPositions(j2k) + (int64_t)j2k->layers * j2k->count * (j2kMaxLevels + 1);
    if (needs->steps > maxSteps)
      return imageUnsupported;
    countTile(j2k, NULL, &tile);
    needs->cells = most(needs->cells, tile.cells);
    needs->blocks = most(needs->blocks, tile.blocks);
    needs->nodes = most(needs->nodes, tile.nodes);
  }
  return imageDone;
}

static void takeMemory(struct J2k *j2k, const struct Needs *needs, struct Image *image) {
  j2k->cells = takeWorkspace(image, needs->cells * sizeof(struct J2kCell));
  j2k->blocks = takeWorkspace(image, needs->blocks * sizeof(struct J2kBlock));
  j2k->nodes = takeWorkspace(image, needs->nodes * sizeof(struct J2kNode));
  j2k->chunkCount = j2k->in.size + 1;
  j2k->chunks = takeWorkspace(image, j2k->chunkCount * sizeof(struct J2kChunk));
  j2k->line = takeWorkspace(image, needs->line * sizeof(union J2kValue));
  j2k->blockData = takeWorkspace(image, j2k->in.size);
  for (int i = 0; i < j2k->count; ++i)
    j2k->planes[i].values = takeWorkspace(image, needs->samples[i] * sizeof(union J2kValue));
}

/// Makes one tile's memory ready.
static void beginTile(struct J2k *j2k, int64_t tile) {
  struct Needs used = {0};
  layOutTile(j2k, tile);
  countTile(j2k, j2k->cells, &used);
  for (int64_t i = 0; i < used.blocks; ++i)
    j2k->blocks[i] = (struct J2kBlock){0};
  for (int64_t i = 0; i < used.nodes; ++i)
    j2k->nodes[i] = (struct J2kNode){UINT16_MAX, 0};
  for (int i = 0; i < j2k->count; ++i)
    for (int64_t k = 0; k < widthOf(j2k->planes[i].area) * heightOf(j2k->planes[i].area); ++k)
      j2k->planes[i].values[k].integer = 0;
}

static bool decodeCell(struct J2k *j2k, int component, const struct J2kResolution *resolution,
                       const struct J2kBand *band, const struct J2kCell *cell) {
  for (int64_t y = cell->grid.y0; y < cell->grid.y1; ++y)
    for (int64_t x = cell->grid.x0; x < cell->grid.x1; ++x) {
      int64_t number = (y - cell->grid.y0) * widthOf(cell->grid) + x - cell->grid.x0;
      const struct J2kBlock *block = j2k->blocks + cell->firstBlock + number;
      if (!block->passes)
        continue;
      int64_t size = 0;
      for (uint32_t i = block->firstChunk; i; i = j2k->chunks[i].next)
        for (uint32_t k = 0; k < j2k->chunks[i].size; ++k)
          j2k->blockData[size++] = j2k->in.data[j2k->chunks[i].place + k];
      uint32_t w = resolution->blockWidth, h = resolution->blockHeight;
      struct J2kArea area = overlap((struct J2kArea){x << w, y << h, (x + 1) << w, (y + 1) << h}, cell->area);
      if (!decodeBlock(&j2k->components[component].coding, band, block, j2k->blockData, area,
                       widthOf(j2k->planes[component].area)))
        return false;
    }
  return true;
}

static bool decodePlane(struct J2k *j2k, int component) {
  struct J2kPlane *plane = &j2k->planes[component];
  const struct J2kCoding *coding = &j2k->components[component].coding;
  for (uint32_t r = 0; r <= coding->levels; ++r) {
    const struct J2kResolution *resolution = &plane->resolutions[r];
    for (int64_t i = 0; i < resolution->across * resolution->down * resolution->bandCount; ++i) {
      const struct J2kBand *band = &resolution->bands[i % resolution->bandCount];
      if (!decodeCell(j2k, component, resolution, band, &j2k->cells[resolution->firstCell + i]))
        return false;
    }
  }
  transformPlane(coding, plane, j2k->line);
  return true;
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

/// Rounded to even.
static int64_t roundReal(float value) {
  if (!(value > -1e9f && value < 1e9f))
    return value > 0 ? 1000000000 : -1000000000;
  return (int64_t)__builtin_rintf(value);
}

/// Undoes the mixing of the first three components at one place.
static void unmix(const struct J2k *j2k, const union J2kValue in[4], int64_t out[4]) {
  bool isReversible = j2k->components[0].coding.isReversible;
  for (int i = 0; i < j2k->count; ++i)
    out[i] = j2k->components[i].coding.isReversible ? in[i].integer : roundReal(in[i].real);
  if (!j2k->mixesColors)
    return;
  if (isReversible) {
    int64_t green = out[0] - ((out[1] + out[2]) >> 2), red = out[2] + green, blue = out[1] + green;
    out[0] = red;
    out[1] = green;
    out[2] = blue;
    return;
  }
  float y = in[0].real, u = in[1].real, v = in[2].real;
  out[0] = roundReal(y + v * 1.402f);
  out[1] = roundReal(y - u * 0.34413f - v * 0.71414f);
  out[2] = roundReal(y + u * 1.772f);
}

/// A sample as a byte.
static uint8_t toByte(const struct J2kComponent *component, int64_t value) {
  int64_t half = (int64_t)1 << (component->bits - 1), all = half * 2 - 1;
  // With a sign, the least one becomes 0.
  value += half;
  value = value < 0 ? 0 : value > all ? all : value;
  if (component->bits <= 8)
    return value << (8 - component->bits);
  return clampToByte((value + ((int64_t)1 << (component->bits - 9))) >> (component->bits - 8));
}

static void putTile(const struct J2k *j2k, const struct Image *image, struct J2kArea tile, bool isInk) {
  for (int64_t y = tile.y0; y < tile.y1; ++y)
    for (int64_t x = tile.x0; x < tile.x1; ++x) {
      union J2kValue values[4] = {{0}};
      int64_t samples[4] = {0};
      uint8_t bytes[4] = {0};
      for (int i = 0; i < j2k->count; ++i) {
        struct J2kArea area = j2k->planes[i].area;
        if (isEmpty(area))
          continue;
        int64_t px = most(x / j2k->components[i].stepX - area.x0, 0), py = most(y / j2k->components[i].stepY - area.y0, 0);
        values[i] = j2k->planes[i].values[least(py, heightOf(area) - 1) * widthOf(area) + least(px, widthOf(area) - 1)];
      }
      unmix(j2k, values, samples);
      for (int i = 0; i < j2k->count; ++i)
        bytes[i] = toByte(&j2k->components[i], samples[i]);
      int64_t row = y - j2k->area.y0, column = x - j2k->area.x0;
      bool isGray = j2k->count < 3;
      if (isInk && j2k->count == 4)
        putInk(image, row, column, bytes);
      else
        putPixel(image, row, column, bytes[0], isGray ? bytes[0] : bytes[1], isGray ? bytes[0] : bytes[2]);
    }
}

static enum Outcome decodeTile(struct J2k *j2k, const struct Image *image, int64_t tile, const struct Part *parts,
                               int64_t first, bool isInk) {
  struct J2kPackets packets = {.j2k = j2k, .tile = tileArea(j2k, tile), .chunkCount = 1};
  beginTile(j2k, tile);
  if (first < 0)
    return imageDamaged;
  for (int64_t i = first; i >= 0; i = parts[i].next) {
    struct Reader part = j2k->in;
    moveTo(&part, parts[i].place);
    if (!readPackets(&packets, takeBytes(&part, parts[i].size)))
      return imageDamaged;
  }
  for (int i = 0; i < j2k->count; ++i)
    if (!decodePlane(j2k, i))
      return imageDamaged;
  putTile(j2k, image, packets.tile, isInk);
  return imageDone;
}

enum Outcome decodeJpeg2000(struct Reader file, struct Image *image) {
  struct J2k j2k = {0};
  struct Needs needs = {0};
  uint32_t colorSpace = 0;
  int64_t partCount;
  file.isBigEndian = true;
  enum Outcome outcome = readBoxes(&file, &colorSpace, &j2k.in);
  if (outcome == imageDone && (j2k.in.size > INT32_MAX || colorSpace == spaceYcc))
    outcome = imageUnsupported;
  outcome = outcome == imageDone ? readHeader(&j2k, image) : outcome;
  outcome = outcome == imageDone ? measureTiles(&j2k, &needs) : outcome;
  outcome = outcome == imageDone ? readParts(&j2k, NULL, NULL, &partCount) : outcome;
  if (outcome != imageDone)
    return outcome;
  int64_t tiles = j2k.tilesAcross * j2k.tilesDown;
  struct Part *parts = takeWorkspace(image, partCount * sizeof(struct Part));
  int64_t *heads = takeWorkspace(image, 2 * tiles * sizeof(int64_t));
  takeMemory(&j2k, &needs, image);
  if (!image->pixels)
    return imageDone;
  outcome = readParts(&j2k, parts, heads, &partCount);
  for (int64_t i = 0; i < tiles && outcome == imageDone; ++i)
    outcome = decodeTile(&j2k, image, i, parts, heads[i], colorSpace == spaceInk);
  return outcome;
}
