//===- tiff.c - tagged image files ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first image of a file, in strips or tiles: bits, grays, palettes, RGB and CMYK; plain, PackBits, LZW and
// deflate. Of samples of 16 bits the upper eight are taken.
//
//===----------------------------------------------------------------------===//

#include "image.h"
#include "inflate.h"
#include "lzw.h"

enum { whiteIsZero = 0, blackIsZero = 1, tiffRgb = 2, tiffPalette = 3, tiffInk = 5 };
enum { tiffPlain = 1, tiffLzw = 5, tiffDeflate = 8, tiffPackBits = 32773, tiffOldDeflate = 32946 };

/// The values of a field of the directory.
struct Field {
  int64_t count, place;
  uint32_t type;
};

struct Tiff {
  int64_t width, height, bits, samples, compression, photometric, predictor, planar, orientation, fillOrder,
      sampleFormat;
  /// Strips are tiles as wide as the image.
  int64_t tileWidth, tileHeight;
  struct Field bitsField, offsets, counts, colors;
};

static uint32_t sizeOfType(uint32_t type) { return type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0; }

static int64_t valueOf(struct Reader *r, const struct Field *field, int64_t i) {
  if (i >= field->count)
    return 0;
  moveTo(r, field->place + i * sizeOfType(field->type));
  return field->type == 1 ? readByte(r) : field->type == 3 ? read16(r) : read32(r);
}

static void setField(struct Reader *r, struct Tiff *tiff, uint32_t tag, struct Field field) {
  int64_t value = valueOf(r, &field, 0);
  switch (tag) {
  case 256: tiff->width = value; break;
  case 257: tiff->height = value; break;
  case 258: tiff->bitsField = field; tiff->bits = value; break;
  case 259: tiff->compression = value; break;
  case 262: tiff->photometric = value; break;
  case 266: tiff->fillOrder = value; break;
  case 273: case 324: tiff->offsets = field; break;
  case 274: tiff->orientation = value; break;
  case 277: tiff->samples = value; break;
  case 278: tiff->tileHeight = value; break;
  case 279: case 325: tiff->counts = field; break;
  case 284: tiff->planar = value; break;
  case 317: tiff->predictor = value; break;
  case 320: tiff->colors = field; break;
  case 322: tiff->tileWidth = value; break;
  case 323: tiff->tileHeight = value; break;
  case 339: tiff->sampleFormat = value; break;
  }
}

static void readDirectory(struct Reader *r, struct Tiff *tiff) {
  *tiff = (struct Tiff){.bits = 1, .samples = 1, .compression = 1, .photometric = -1, .predictor = 1, .planar = 1,
                        .orientation = 1, .fillOrder = 1, .sampleFormat = 1};
  moveTo(r, 4);
  moveTo(r, read32(r));
  uint32_t count = read16(r);
  for (uint32_t i = 0; i < count && !r->hasEnded; ++i) {
    uint32_t tag = read16(r), type = read16(r);
    struct Field field = {read32(r), r->place, type};
    int64_t next = r->place + 4;
    // Values that fit stand here, others where these bytes say.
    if (sizeOfType(type) * field.count > 4)
      field.place = read32(r);
    if (sizeOfType(type) && field.count > 0)
      setField(r, tiff, tag, field);
    moveTo(r, next);
  }
}

static bool isSupported(const struct Tiff *t) {
  bool isBytes = t->bits == 8 || t->bits == 16;
  bool isKnownColor = t->photometric == tiffRgb       ? isBytes && t->samples >= 3 && t->samples <= 8
                      : t->photometric == tiffInk     ? isBytes && t->samples >= 4 && t->samples <= 8
                      : t->photometric == tiffPalette ? t->bits <= 8 && t->samples == 1
                                                      : t->photometric == blackIsZero || t->photometric == whiteIsZero;
  bool isKnownSample = isBytes || ((t->bits == 1 || t->bits == 2 || t->bits == 4) && t->samples == 1);
  bool isKnownCompression = t->compression == tiffPlain || t->compression == tiffLzw ||
                            t->compression == tiffDeflate || t->compression == tiffOldDeflate ||
                            t->compression == tiffPackBits;
  bool isKnownPredictor = t->predictor == 1 || (t->predictor == 2 && isBytes);
  return t->samples > 0 && isKnownColor && isKnownSample && isKnownCompression && isKnownPredictor && t->samples <= 8 &&
         t->sampleFormat == 1 && t->fillOrder == 1 && t->orientation == 1 && (t->planar == 1 || t->planar == 2);
}

//===----------------------------------------------------------------------===//
// Strips and tiles
//===----------------------------------------------------------------------===//

static bool unpackBits(struct Reader r, uint8_t *to, int64_t size) {
  for (int64_t place = 0; place < size;) {
    uint32_t head = readByte(&r);
    if (head == 128)
      continue;
    uint32_t count = head < 128 ? head + 1 : 257 - head, value = head < 128 ? 0 : readByte(&r);
    for (uint32_t i = 0; i < count && place < size; ++i)
      to[place++] = head < 128 ? readByte(&r) : value;
    if (r.hasEnded)
      return false;
  }
  return true;
}

static bool copyPlain(struct Reader r, uint8_t *to, int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    to[i] = readByte(&r);
  return !r.hasEnded;
}

static bool decompress(const struct Tiff *tiff, struct Reader part, uint8_t *to, int64_t size) {
  switch (tiff->compression) {
  case tiffPlain: return copyPlain(part, to, size);
  case tiffLzw: return unpackLzw(part, to, size);
  case tiffPackBits: return unpackBits(part, to, size);
  default: return inflate(part, to, size);
  }
}

/// Samples are differences to the pixel before.
static void undoPredictor(const struct Tiff *tiff, bool isBigEndian, uint8_t *row, int64_t count, int64_t channels) {
  for (int64_t i = channels; i < count * channels; ++i) {
    if (tiff->bits == 8) {
      row[i] += row[i - channels];
      continue;
    }
    uint8_t *now = row + i * 2, *before = now - channels * 2;
    int high = !isBigEndian, low = isBigEndian;
    uint32_t sum = (now[high] << 8 | now[low]) + (before[high] << 8 | before[low]);
    now[high] = sum >> 8;
    now[low] = sum;
  }
}

/// Sample `i` of a row, as a byte; as it is, where it stands for a color of the palette.
static uint32_t sampleAt(const struct Tiff *tiff, bool isBigEndian, const uint8_t *row, int64_t i) {
  if (tiff->bits == 16)
    return row[i * 2 + !isBigEndian];
  int64_t bit = i * tiff->bits;
  uint32_t most = (1u << tiff->bits) - 1, value = row[bit / 8] >> (8 - bit % 8 - tiff->bits) & most;
  return tiff->photometric == tiffPalette ? value : value * 255 / most;
}

static void putColor(struct Reader *r, const struct Tiff *tiff, const struct Image *image, int64_t y, int64_t x,
                     const uint8_t samples[4]) {
  uint8_t gray = tiff->photometric == whiteIsZero ? 255 - samples[0] : samples[0];
  if (tiff->photometric == tiffInk) {
    putInk(image, y, x, samples);
  } else if (tiff->photometric == tiffRgb) {
    putPixel(image, y, x, samples[0], samples[1], samples[2]);
  } else if (tiff->photometric == tiffPalette) {
    int64_t i = samples[0], count = 1 << tiff->bits;
    uint32_t red = valueOf(r, &tiff->colors, i), green = valueOf(r, &tiff->colors, i + count);
    putPixel(image, y, x, red >> 8, green >> 8, valueOf(r, &tiff->colors, i + 2 * count) >> 8);
  } else {
    putPixel(image, y, x, gray, gray, gray);
  }
}

/// One tile: the memory of its planes, each with the channels that it holds.
struct Tile {
  uint8_t *data;
  int64_t planes, channels, rowSize, height;
};

static void putTile(struct Reader *r, const struct Tiff *tiff, const struct Image *image, const struct Tile *tile,
                    int64_t top, int64_t left) {
  int64_t used = tiff->photometric == tiffRgb ? 3 : tiff->photometric == tiffInk ? 4 : 1;
  for (int64_t y = 0; y < tile->height && top + y < image->height; ++y)
    for (int64_t x = 0; x < tiff->tileWidth && left + x < image->width; ++x) {
      uint8_t samples[4] = {0};
      for (int64_t c = 0; c < used; ++c) {
        int64_t plane = tile->planes == 1 ? 0 : c, channel = tile->planes == 1 ? c : 0;
        const uint8_t *row = tile->data + (plane * tile->height + y) * tile->rowSize;
        samples[c] = sampleAt(tiff, r->isBigEndian, row, x * tile->channels + channel);
      }
      putColor(r, tiff, image, top + y, left + x, samples);
    }
}

/// Reads the planes of a tile, which in the file lie `planeStep` tiles apart. The last strip may be shorter.
static bool readTile(struct Reader *r, const struct Tiff *tiff, const struct Tile *tile, int64_t number,
                     int64_t planeStep, int64_t rows) {
  for (int64_t plane = 0; plane < tile->planes; ++plane) {
    int64_t i = number + plane * planeStep;
    uint8_t *data = tile->data + plane * tile->height * tile->rowSize;
    if (i >= tiff->offsets.count)
      return false;
    int64_t count = tiff->counts.count ? valueOf(r, &tiff->counts, i) : r->size;
    moveTo(r, valueOf(r, &tiff->offsets, i));
    struct Reader part = takeBytes(r, count < bytesLeft(r) ? count : bytesLeft(r));
    if (r->hasEnded || !decompress(tiff, part, data, rows * tile->rowSize))
      return false;
    for (int64_t y = 0; tiff->predictor == 2 && y < rows; ++y)
      undoPredictor(tiff, r->isBigEndian, data + y * tile->rowSize, tiff->tileWidth, tile->channels);
  }
  return true;
}

static enum Outcome decodeTiles(struct Reader *r, const struct Tiff *tiff, struct Image *image, struct Tile *tile,
                                bool isStrips) {
  int64_t across = (image->width + tiff->tileWidth - 1) / tiff->tileWidth;
  int64_t down = (image->height + tiff->tileHeight - 1) / tiff->tileHeight;
  for (int64_t i = 0; i < across * down; ++i) {
    int64_t top = i / across * tiff->tileHeight, rows = tile->height;
    if (isStrips && image->height - top < rows)
      rows = image->height - top;
    if (!readTile(r, tiff, tile, i, across * down, rows))
      return imageDamaged;
    putTile(r, tiff, image, tile, top, i % across * tiff->tileWidth);
  }
  return r->hasEnded ? imageDamaged : imageDone;
}

enum Outcome decodeTiff(struct Reader file, struct Image *image) {
  struct Tiff tiff;
  file.isBigEndian = file.data[0] == 'M';
  readDirectory(&file, &tiff);
  if (file.hasEnded)
    return imageDamaged;
  enum Outcome outcome = setSize(image, tiff.height, tiff.width);
  if (outcome != imageDone)
    return outcome;
  for (int64_t i = 0; i < tiff.samples && i < tiff.bitsField.count; ++i)
    if (valueOf(&file, &tiff.bitsField, i) != tiff.bits)
      return imageUnsupported;
  if (!isSupported(&tiff))
    return imageUnsupported;
  bool isStrips = tiff.tileWidth == 0;
  if (isStrips)
    tiff.tileWidth = image->width;
  if (tiff.tileHeight <= 0 || (isStrips && tiff.tileHeight > image->height))
    tiff.tileHeight = image->height;
  if (tiff.tileWidth > IMAGE_MAX_PIXELS || tiff.tileHeight > IMAGE_MAX_PIXELS ||
      tiff.tileWidth * tiff.tileHeight > IMAGE_MAX_PIXELS)
    return imageTooLarge;
  bool isPlanar = tiff.planar == 2 && tiff.samples > 1;
  struct Tile tile = {NULL, isPlanar ? tiff.samples : 1, isPlanar ? 1 : tiff.samples, 0, tiff.tileHeight};
  tile.rowSize = (tiff.tileWidth * tile.channels * tiff.bits + 7) / 8;
  tile.data = takeWorkspace(image, tile.planes * tile.height * tile.rowSize);
  return image->pixels ? decodeTiles(&file, &tiff, image, &tile, isStrips) : imageDone;
}
