//===- Tiff.cpp - TIFF, by libtiff ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first image of a file, in strips or tiles.
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <tiffio.h>

using namespace tenon::image;

namespace {
/// One file, and libtiff's view of it.
struct Decoder {
  explicit Decoder(Bytes file) : file(file) {}
  ~Decoder() {
    if (tiff)
      TIFFClose(tiff);
  }

  Result open(Header &header);
  Result checkKind() const;
  Result checkTiles() const;
  Result decode(const Canvas &canvas);
  Result decodeUpright(const Canvas &canvas);
  Result readTile(uint32_t number, uint16_t plane, uint8_t *to, int64_t rows);
  void putTile(const Canvas &canvas, const uint8_t *planes, int64_t top, int64_t left, int64_t rows,
               uint8_t *line) const;
  uint8_t sample(const uint8_t *row, int64_t i) const;
  void putSamples(uint8_t *line, int64_t count) const;
  Result fail() const { return result.failed() ? result : damaged(tiffFormat, "libtiff gives no reason"); }

  bool isPalette() const { return photometric == PHOTOMETRIC_PALETTE; }
  bool isInk() const { return photometric == PHOTOMETRIC_SEPARATED; }
  bool isColor() const { return photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR; }
  /// The number of samples per pixel that are read; the others are alpha and extensions.
  int64_t used() const { return isColor() ? hasPremultiplied ? 4 : 3 : isInk() ? 4 : 1; }
  int64_t planes() const { return planar == PLANARCONFIG_SEPARATE && samples > 1 ? used() : 1; }
  int64_t channels() const { return planar == PLANARCONFIG_SEPARATE ? 1 : samples; }

  Bytes file;
  uint64_t place = 0;
  bool isDecoding = false; ///< pixels are read: warnings are of them, and not of tags that nobody needs
  Result result;           ///< the first error that libtiff reported
  TIFF *tiff = nullptr;
  int64_t height = 0, width = 0, tileHeight = 0, tileWidth = 0, rowSize = 0;
  uint16_t bits = 1, samples = 1, photometric = 0, planar = PLANARCONFIG_CONTIG, orientation = ORIENTATION_TOPLEFT,
           compression = 0, sampleFormat = SAMPLEFORMAT_UINT;
  bool isTiled = false, hasPremultiplied = false;
  uint16_t *palette[3] = {};
};
} // namespace

// The file of libtiff, over memory.

static Decoder &decoderOf(thandle_t handle) { return *static_cast<Decoder *>(handle); }

static tmsize_t readBytes(thandle_t handle, void *to, tmsize_t count) {
  Decoder &d = decoderOf(handle);
  uint64_t left = d.place < d.file.size ? d.file.size - d.place : 0,
           taken = std::min<uint64_t>(uint64_t(std::max<tmsize_t>(count, 0)), left);
  if (taken)
    memcpy(to, d.file.data + d.place, taken);
  d.place += taken;
  return tmsize_t(taken);
}

static tmsize_t writeBytes(thandle_t, void *, tmsize_t) { return 0; }

static toff_t seekBytes(thandle_t handle, toff_t offset, int from) {
  Decoder &d = decoderOf(handle);
  d.place = from == SEEK_SET ? offset : from == SEEK_CUR ? d.place + offset : d.file.size + offset;
  return d.place;
}

static int closeFile(thandle_t) { return 0; }
static toff_t sizeOfFile(thandle_t handle) { return decoderOf(handle).file.size; }

static int onError(TIFF *, void *data, const char *, const char *format, va_list arguments) {
  auto &d = *static_cast<Decoder *>(data);
  char text[160];
  vsnprintf(text, sizeof text, format, arguments);
  if (!d.result.failed())
    d.result = damaged(tiffFormat, text);
  return 1;
}

/// True if libtiff warns that it ignores a tag which determines the pixel layout, and guesses instead.
static bool isNeededTag(const char *text) {
  static const char *const names[] = {"BitsPerSample", "ColorMap",       "Compression", "ExtraSamples",
                                      "FillOrder",     "ImageLength",    "ImageWidth",  "JPEGTables",
                                      "Orientation",   "Photometric",    "Planar",      "Predictor",
                                      "RowsPerStrip",  "SampleFormat",   "SamplesPer",  "StripByteCounts",
                                      "StripOffsets",  "TileByteCounts", "TileLength",  "TileOffsets",
                                      "TileWidth",     "YCbCr"};
  return std::any_of(std::begin(names), std::end(names), [&](const char *name) { return strstr(text, name); });
}

/// Codecs warn when they guess pixels, which is an error. An old bit order of LZW or an irrelevant tag is not.
static int onWarning(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) {
  auto &d = *static_cast<Decoder *>(data);
  if (d.isDecoding && strstr(format, "Old-style LZW"))
    return 1;
  char text[160];
  va_list copy;
  va_copy(copy, arguments);
  vsnprintf(text, sizeof text, format, copy);
  va_end(copy);
  bool isDamage = d.isDecoding || (strstr(text, "ignored") && isNeededTag(text));
  return isDamage ? onError(tiff, data, module, format, arguments) : 1;
}

static bool isTiff(Bytes file) {
  return file.startsWith("II*\0", 4) || file.startsWith("MM\0*", 4) || file.startsWith("II+\0", 4) ||
         file.startsWith("MM\0+", 4);
}

static TIFF *openClient(Decoder &d) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options)
    return nullptr;
  // The largest piece that libtiff allocates itself is a strip's compressed data, or an entry of the directory.
  constexpr tmsize_t kMaxAtOnce = tmsize_t(1) << 30;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMaxAtOnce);
  TIFFOpenOptionsSetErrorHandlerExtR(options, onError, &d);
  TIFFOpenOptionsSetWarningHandlerExtR(options, onWarning, &d);
  // "m": libtiff does not map the file.
  TIFF *tiff = TIFFClientOpenExt("image", "rm", &d, readBytes, writeBytes, seekBytes, closeFile, sizeOfFile, nullptr,
                                 nullptr, options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

Result Decoder::open(Header &header) {
  tiff = openClient(*this);
  if (!tiff || result.failed())
    return fail();
  uint32_t value = 0, rows = 0;
  height = TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &value) ? value : 0;
  width = TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &value) ? value : 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &sampleFormat);
  if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric))
    return damaged(tiffFormat, "it does not say what its samples mean");
  uint16_t extraCount = 0, *extra = nullptr;
  hasPremultiplied = photometric == PHOTOMETRIC_RGB && TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &extraCount, &extra) &&
                     extraCount > 0 && extra[0] == EXTRASAMPLE_ASSOCALPHA && samples > 3;
  // libtiff converts these while it decodes.
  if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG)
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (isPalette() && !TIFFGetField(tiff, TIFFTAG_COLORMAP, &palette[0], &palette[1], &palette[2]))
    return damaged(tiffFormat, "it lacks its palette");
  isTiled = TIFFIsTiled(tiff);
  if (isTiled) {
    tileWidth = TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &value) ? value : 0;
    tileHeight = TIFFGetField(tiff, TIFFTAG_TILELENGTH, &value) ? value : 0;
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    tileWidth = width;
    tileHeight = std::min<int64_t>(rows, height);
  }
  if (height <= 0 || width <= 0 || tileHeight <= 0 || tileWidth <= 0)
    return damaged(tiffFormat, "it has no pixels");
  if (Result kind = checkKind(); kind.failed())
    return kind;
  bool isTurned = orientation >= ORIENTATION_LEFTTOP;
  header = {isTurned ? width : height, isTurned ? height : width, 0};
  if (height * width > kMaxPixels)
    return {}; // which is refused
  rowSize = isTiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  if (rowSize <= 0)
    return fail();
  uint64_t turned = orientation == ORIENTATION_TOPLEFT ? 0 : uint64_t(height) * uint64_t(width) * 3;
  header.workspace = uint64_t(planes()) * uint64_t(tileHeight) * uint64_t(rowSize) + turned;
  return checkTiles();
}

Result Decoder::checkKind() const {
  bool isBytes = bits == 8 || bits == 16, isFew = bits == 1 || bits == 2 || bits == 4;
  bool isGray = photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  if (sampleFormat != SAMPLEFORMAT_UINT && sampleFormat != SAMPLEFORMAT_VOID)
    return unsupported(tiffFormat, "its samples are no numbers without a sign");
  if (!isBytes && !(isFew && samples == 1))
    return unsupported(tiffFormat, "the number of its bits");
  if (!isGray && !isColor() && !isInk() && !isPalette())
    return unsupported(tiffFormat, "its color space");
  if (photometric == PHOTOMETRIC_YCBCR && compression != COMPRESSION_JPEG)
    return unsupported(tiffFormat, "luma and chroma that are not JPEG");
  if (isPalette() && bits > 8)
    return unsupported(tiffFormat, "a palette for more than 8 bits");
  if (samples < used() || samples > 8)
    return unsupported(tiffFormat, "the number of its samples");
  if (!TIFFIsCODECConfigured(compression))
    return unsupported(tiffFormat, "its compression");
  if (planar != PLANARCONFIG_CONTIG && planar != PLANARCONFIG_SEPARATE)
    return damaged(tiffFormat, "its planes are neither together nor apart");
  if (orientation < ORIENTATION_TOPLEFT || orientation > ORIENTATION_LEFTBOT)
    return damaged(tiffFormat, "its orientation is not a value from 1 to 8");
  return {};
}

/// Checks the size of tiles: a tile is decompressed as a whole, even if it extends beyond the image, and all tiles may
/// share a few bytes of the file.
Result Decoder::checkTiles() const {
  int64_t across = (width + tileWidth - 1) / tileWidth, down = (height + tileHeight - 1) / tileHeight;
  // A tile of usual size may be larger than a small image.
  constexpr double kFree = 1 << 24, kTimes = 8;
  double all = double(across) * double(down) * double(tileWidth) * double(tileHeight);
  if (all > kFree + kTimes * double(height) * double(width))
    return Result::make(
        TENON_RESOURCES,
        "the tiles of the TIFF file have %.0f pixels, more than the limit of %.0f for %lld x %lld pixels", all,
        kFree + kTimes * double(height) * double(width), static_cast<long long>(height), static_cast<long long>(width));
  return {};
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

Result Decoder::readTile(uint32_t number, uint16_t plane, uint8_t *to, int64_t rows) {
  tmsize_t size = rows * rowSize;
  uint32_t index = number + plane * (isTiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff)) / samples;
  if (planar != PLANARCONFIG_SEPARATE)
    index = number;
  tmsize_t read = isTiled ? TIFFReadEncodedTile(tiff, index, to, size) : TIFFReadEncodedStrip(tiff, index, to, size);
  if (read < 0 || result.failed())
    return fail();
  return read == size ? Result() : damaged(tiffFormat, "a strip or tile is cut short");
}

/// Returns sample `i` of a row as a byte: the upper eight bits, or the unchanged index of a palette color.
uint8_t Decoder::sample(const uint8_t *row, int64_t i) const {
  if (bits == 8)
    return row[i];
  if (bits == 16) {
    uint16_t word;
    memcpy(&word, row + 2 * i, sizeof word);
    return uint8_t(word >> 8);
  }
  int64_t bit = i * bits;
  uint32_t most = (1u << bits) - 1, value = row[bit / 8] >> (8 - bit % 8 - bits) & most;
  return uint8_t(isPalette() ? value : value * 255 / most);
}

/// Converts samples of `used()` bytes per pixel in place to gray, colors or ink, or palette indices to three bytes
/// each.
void Decoder::putSamples(uint8_t *line, int64_t count) const {
  for (int64_t x = count - 1; x >= 0; --x) {
    if (isPalette()) {
      uint8_t index = line[x];
      for (int channel = 0; channel < 3; ++channel)
        line[x * 3 + channel] = uint8_t(palette[channel][index] >> 8);
    } else if (photometric == PHOTOMETRIC_MINISWHITE) {
      line[x] = uint8_t(255 - line[x]);
    } else if (hasPremultiplied) {
      uint32_t alpha = line[x * 4 + 3];
      for (int channel = 0; channel < 3; ++channel)
        line[x * 4 + channel] = uint8_t(alpha ? std::min(line[x * 4 + channel] * 255u / alpha, 255u) : 0);
    }
  }
}

/// Writes the part of a tile that is within the canvas. `line` has room for four bytes for each of its pixels.
void Decoder::putTile(const Canvas &canvas, const uint8_t *data, int64_t top, int64_t left, int64_t rows,
                      uint8_t *line) const {
  int64_t count = std::min(tileWidth, width - left), used = this->used();
  for (int64_t y = 0; y < rows && top + y < height; ++y) {
    for (int64_t i = 0; i < used; ++i) {
      const uint8_t *row = data + ((planes() == 1 ? 0 : i) * tileHeight + y) * rowSize;
      for (int64_t x = 0; x < count; ++x)
        line[x * used + i] = sample(row, planes() == 1 ? x * channels() + i : x);
    }
    putSamples(line, count);
    Samples kind = isInk() ? Samples::cmyk : isColor() || isPalette() ? Samples::rgb : Samples::gray;
    canvas.putRow(top + y, left, count, line, isPalette() ? 3 : used, kind);
  }
}

Result Decoder::decodeUpright(const Canvas &canvas) {
  isDecoding = true;
  int64_t across = (width + tileWidth - 1) / tileWidth, down = (height + tileHeight - 1) / tileHeight;
  Buffer data(size_t(planes() * tileHeight * rowSize)), line(size_t(std::min(tileWidth, width)) * 4);
  if (!data || !line)
    return outOfMemory(tiffFormat);
  for (int64_t i = 0; i < across * down; ++i) {
    int64_t top = i / across * tileHeight, rows = isTiled ? tileHeight : std::min(tileHeight, height - top);
    for (int64_t plane = 0; plane < planes(); ++plane)
      if (Result read = readTile(uint32_t(i), uint16_t(plane), data.get() + plane * tileHeight * rowSize, rows);
          read.failed())
        return read;
    putTile(canvas, data.get(), top, i % across * tileWidth, rows, line.get());
  }
  return {};
}

/// Copies an image whose first row and column are at the positions given by `orientation`.
static void turn(const Canvas &from, const Canvas &to, uint16_t orientation) {
  bool isTransposed = orientation >= ORIENTATION_LEFTTOP;
  bool isFromRight = orientation == ORIENTATION_TOPRIGHT || orientation == ORIENTATION_BOTRIGHT ||
                     orientation == ORIENTATION_RIGHTTOP || orientation == ORIENTATION_RIGHTBOT;
  bool isFromBottom = orientation == ORIENTATION_BOTRIGHT || orientation == ORIENTATION_BOTLEFT ||
                      orientation == ORIENTATION_RIGHTBOT || orientation == ORIENTATION_LEFTBOT;
  for (int64_t y = 0; y < to.height; ++y)
    for (int64_t x = 0; x < to.width; ++x) {
      int64_t row = isFromBottom ? to.height - 1 - y : y, column = isFromRight ? to.width - 1 - x : x;
      if (isTransposed)
        std::swap(row, column);
      memcpy(to.row(y) + x * to.channels(), from.row(row) + column * from.channels(), size_t(to.channels()));
    }
}

Result Decoder::decode(const Canvas &canvas) {
  if (orientation == ORIENTATION_TOPLEFT)
    return decodeUpright(canvas);
  Buffer pixels(size_t(height * width * canvas.channels()));
  if (!pixels)
    return outOfMemory(tiffFormat);
  Canvas stored = {pixels.get(), height, width, canvas.order};
  if (Result decoded = decodeUpright(stored); decoded.failed())
    return decoded;
  turn(stored, canvas, orientation);
  return {};
}

static Result measureTiff(Bytes file, Header &header) {
  Decoder d(file);
  return d.open(header);
}

static Result decodeTiff(Bytes file, const Canvas &canvas) {
  Decoder d(file);
  Header header;
  if (Result result = d.open(header); result.failed())
    return result;
  return d.decode(canvas);
}

const Format tenon::image::tiffFormat = {"TIFF", isTiff, measureTiff, decodeTiff};
