//===- Bmp.cpp - Windows bitmaps ------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header, a palette and rows, from the last one up. No library in use has this format alone, so it is read here.
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Reader.h"

using namespace tenon::image;

namespace {
enum Compression : uint32_t { plain = 0, runs8 = 1, runs4 = 2, masks = 3, masksWithAlpha = 6 };

struct Bmp {
  uint32_t bits = 0, compression = plain;
  int64_t height = 0, width = 0; ///< as the file has them: a negative height is that of an image from the top down
  uint64_t firstRow = 0;         ///< the place in the file
  uint32_t masks[3] = {};        ///< of red, green and blue
  uint8_t palette[256][3] = {};

  bool isTopDown() const { return height < 0; }
  int64_t rows() const { return height < 0 ? -height : height; }
  bool hasRuns() const { return compression == runs8 || compression == runs4; }
};
} // namespace

static void readPalette(Reader &r, Bmp &bmp, uint32_t count, bool isCore) {
  for (uint32_t i = 0; i < count && i < 256; ++i) {
    for (int channel = 2; channel >= 0; --channel)
      bmp.palette[i][channel] = uint8_t(r.u8());
    r.skip(isCore ? 0 : 1);
  }
}

static bool isSupported(const Bmp &bmp) {
  switch (bmp.compression) {
  case plain:
    return bmp.bits == 1 || bmp.bits == 4 || bmp.bits == 8 || bmp.bits == 16 || bmp.bits == 24 || bmp.bits == 32;
  case runs8:
    return bmp.bits == 8 && !bmp.isTopDown();
  case runs4:
    return bmp.bits == 4 && !bmp.isTopDown();
  case masks:
  case masksWithAlpha:
    return bmp.bits == 16 || bmp.bits == 32;
  }
  return false;
}

static Result readBmp(Reader &r, Bmp &bmp) {
  r.moveTo(10);
  bmp.firstRow = r.u32();
  uint32_t headerSize = r.u32(), colors = 0;
  bool isCore = headerSize == 12;
  if (!isCore && headerSize < 40)
    return damaged(bmpFormat, "its header has a size that no version has");
  bmp.width = isCore ? r.u16() : int32_t(r.u32());
  bmp.height = isCore ? r.u16() : int32_t(r.u32());
  r.skip(2);
  bmp.bits = r.u16();
  if (!isCore) {
    bmp.compression = r.u32();
    r.skip(12);
    colors = r.u32();
    r.skip(4);
  }
  bool hasMasks = bmp.compression == masks || bmp.compression == masksWithAlpha;
  static const uint32_t masksOf16[] = {0x7c00, 0x3e0, 0x1f}, masksOf32[] = {0xff0000, 0xff00, 0xff};
  for (int i = 0; i < 3; ++i)
    bmp.masks[i] = hasMasks ? r.u32() : bmp.bits == 16 ? masksOf16[i] : masksOf32[i];
  // Masks follow a header of the first version, and are part of later ones.
  uint32_t maskSize = hasMasks && headerSize == 40 ? bmp.compression == masksWithAlpha ? 16 : 12 : 0;
  r.moveTo(uint64_t(14) + headerSize + maskSize);
  if (bmp.bits <= 8)
    readPalette(r, bmp, colors > 0 ? colors : 1u << bmp.bits, isCore);
  if (r.hasEnded())
    return damaged(bmpFormat, "its header is cut short");
  return isSupported(bmp) ? Result() : unsupported(bmpFormat, "its compression or number of bits");
}

static bool isBmp(Bytes file) { return file.startsWith("BM", 2); }

static Result measureBmp(Bytes file, Header &header) {
  Bmp bmp;
  Reader r(file, Reader::Endian::little);
  Result result = readBmp(r, bmp);
  header = {bmp.rows(), bmp.width, 0};
  return result;
}

/// The part of a pixel under a mask, in 8 bits.
static uint8_t partOf(uint32_t pixel, uint32_t mask) {
  if (!mask)
    return 0;
  int shift = __builtin_ctz(mask);
  return uint8_t(uint64_t((pixel & mask) >> shift) * 255 / (mask >> shift));
}

static void putIndex(const Canvas &canvas, const Bmp &bmp, int64_t y, int64_t x, uint32_t index) {
  canvas.putRow(y, x, 1, bmp.palette[index & 255], 3, Samples::rgb);
}

static Result decodeRows(Reader &r, const Bmp &bmp, const Canvas &canvas) {
  uint64_t rowSize = uint64_t(canvas.width * bmp.bits + 31) / 32 * 4;
  for (int64_t i = 0; i < canvas.height && !r.hasEnded(); ++i) {
    int64_t y = bmp.isTopDown() ? i : canvas.height - 1 - i;
    // The padding of the last row may be missing.
    r.moveTo(bmp.firstRow + uint64_t(i) * rowSize);
    uint32_t byte = 0;
    for (int64_t x = 0; x < canvas.width; ++x) {
      if (bmp.bits <= 8) {
        uint32_t bit = uint32_t(x % 8) * bmp.bits % 8;
        byte = bit ? byte : r.u8();
        putIndex(canvas, bmp, y, x, byte >> (8 - bit - bmp.bits) & ((1u << bmp.bits) - 1));
        continue;
      }
      uint32_t pixel = bmp.bits == 16 ? r.u16() : bmp.bits == 24 ? r.u24() : r.u32();
      uint8_t color[] = {partOf(pixel, bmp.masks[0]), partOf(pixel, bmp.masks[1]), partOf(pixel, bmp.masks[2])};
      canvas.putRow(y, x, 1, color, 3, Samples::rgb);
    }
  }
  return r.hasEnded() ? damaged(bmpFormat, "its pixels are cut short") : Result();
}

/// Decodes run-length encoded data; skipped pixels have the first color.
static Result decodeRuns(Reader &r, const Bmp &bmp, const Canvas &canvas) {
  for (int64_t y = 0; y < canvas.height; ++y)
    canvas.putRow(y, 0, canvas.width, bmp.palette[0], 0, Samples::rgb);
  int64_t x = 0, row = 0;
  r.moveTo(bmp.firstRow);
  while (row < canvas.height && !r.hasEnded()) {
    uint32_t count = r.u8(), value = r.u8(), byte = value;
    if (count == 0 && value == 0) {
      x = 0;
      ++row;
      continue;
    }
    if (count == 0 && value == 1)
      break;
    if (count == 0 && value == 2) {
      x += r.u8();
      row += r.u8();
      continue;
    }
    bool isStretch = count == 0;
    size_t begin = r.at();
    count = isStretch ? value : count;
    for (uint32_t i = 0; i < count; ++i, ++x) {
      if (isStretch && (bmp.bits == 8 || i % 2 == 0))
        byte = r.u8();
      if (x < canvas.width)
        putIndex(canvas, bmp, canvas.height - 1 - row, x, bmp.bits == 8 ? byte : i % 2 ? byte & 15 : byte >> 4);
    }
    // Stretches fill whole words.
    if (isStretch && (r.at() - begin) % 2)
      r.u8();
  }
  return r.hasEnded() ? damaged(bmpFormat, "its runs are cut short") : Result();
}

static Result decodeBmp(Bytes file, const Canvas &canvas) {
  Bmp bmp;
  Reader r(file, Reader::Endian::little);
  if (Result result = readBmp(r, bmp); result.failed())
    return result;
  return bmp.hasRuns() ? decodeRuns(r, bmp, canvas) : decodeRows(r, bmp, canvas);
}

const Format tenon::image::bmpFormat = {"BMP", isBmp, measureBmp, decodeBmp};
