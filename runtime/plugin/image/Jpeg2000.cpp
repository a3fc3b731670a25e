//===- Jpeg2000.cpp - JPEG 2000, by OpenJPEG ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles are decoded one after the other, so that memory is needed for one, and so that a missing tile is noticed.
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Reader.h"

#include <algorithm>
#include <openjpeg-2.5/openjpeg.h>
#include <vector>

using namespace tenon::image;

namespace {
/// The contents of the boxes around a codestream that OpenJPEG does not expose.
struct Boxes {
  uint32_t colorSpace = 0; ///< EnumCS, 0 where there is none
  bool hasPalette = false;
};

enum : uint32_t { colorCmyk = 12, colorYcc = 18 };

/// OpenJPEG's objects for one file.
struct Decoder {
  explicit Decoder(Bytes file) : file(file) {}
  ~Decoder() {
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(picture);
  }

  Result open();
  Result checkComponents(const Boxes &boxes) const;
  Result decode(const Canvas &canvas);
  Result decodeTile(const Canvas &canvas, OPJ_UINT32 index, OPJ_UINT32 size, const OPJ_INT32 corners[4]);
  Result fail() const { return result.failed() ? result : damaged(jpeg2000Format, "OpenJPEG gives no reason"); }

  Bytes file;
  size_t place = 0;
  bool isInk = false;
  Result result; ///< the first error that OpenJPEG reported
  opj_stream_t *stream = nullptr;
  opj_codec_t *codec = nullptr;
  opj_image_t *picture = nullptr;
};
} // namespace

static bool isRawStream(Bytes file) { return file.startsWith("\xff\x4f\xff\x51", 4); }
static bool isJpeg2000(Bytes file) { return isRawStream(file) || file.startsWith("\0\0\0\x0cjP  \r\n\x87\n", 12); }

/// Reads the content of a header box, which ends at `end`.
static void readHeaderBox(Reader &r, uint64_t end, Boxes &boxes) {
  while (r.at() + 8 <= end && !r.hasEnded()) {
    uint64_t begin = r.at(), size = r.u32();
    uint32_t kind = r.u32();
    if (kind == 0x70636c72) // pclr
      boxes.hasPalette = true;
    if (kind == 0x636f6c72 && r.u8() == 1 && boxes.colorSpace == 0) { // colr, by a number
      r.skip(2);
      boxes.colorSpace = r.u32();
    }
    if (size < 8)
      return;
    r.moveTo(begin + size);
  }
}

static Boxes readBoxes(Bytes file) {
  Boxes boxes;
  Reader r(file, Reader::Endian::big);
  while (r.left() >= 8) {
    uint64_t begin = r.at(), size = r.u32();
    uint32_t kind = r.u32();
    if (size == 1) {
      uint64_t high = r.u32();
      size = high << 32 | r.u32();
    }
    if (kind == 0x6a703268) // jp2h
      readHeaderBox(r, size ? begin + std::min<uint64_t>(size, file.size - begin) : file.size, boxes);
    // The codestream, or a box to the end of the file.
    if (kind == 0x6a703263 || size < 8 || size > file.size - begin)
      break;
    r.moveTo(begin + size);
  }
  return boxes;
}

// The stream of OpenJPEG, over memory.

static OPJ_SIZE_T readBytes(void *to, OPJ_SIZE_T count, void *data) {
  auto &d = *static_cast<Decoder *>(data);
  count = std::min(count, d.file.size - d.place);
  if (count == 0)
    return OPJ_SIZE_T(-1);
  memcpy(to, d.file.data + d.place, count);
  d.place += count;
  return count;
}

static OPJ_OFF_T skipBytes(OPJ_OFF_T count, void *data) {
  auto &d = *static_cast<Decoder *>(data);
  OPJ_OFF_T most = OPJ_OFF_T(d.file.size - d.place), least = -OPJ_OFF_T(d.place);
  count = std::clamp(count, least, most);
  d.place = size_t(OPJ_OFF_T(d.place) + count);
  return count;
}

static OPJ_BOOL seekBytes(OPJ_OFF_T to, void *data) {
  auto &d = *static_cast<Decoder *>(data);
  if (to < 0 || size_t(to) > d.file.size)
    return OPJ_FALSE;
  d.place = size_t(to);
  return OPJ_TRUE;
}

static void onError(const char *text, void *data) {
  auto &d = *static_cast<Decoder *>(data);
  if (!d.result.failed())
    d.result = damaged(jpeg2000Format, text);
}

/// OpenJPEG only warns when required data is missing and it continues. Its other warnings concern unknown boxes and
/// markers.
static void onWarning(const char *text, void *data) {
  if (strstr(text, "too short") || strstr(text, "truncated") || strstr(text, "missing") || strstr(text, "corrupt"))
    onError(text, data);
}

Result Decoder::open() {
  codec = opj_create_decompress(isRawStream(file) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  stream = opj_stream_default_create(OPJ_TRUE);
  if (!codec || !stream)
    return outOfMemory(jpeg2000Format);
  opj_stream_set_user_data(stream, this, nullptr);
  opj_stream_set_user_data_length(stream, file.size);
  opj_stream_set_read_function(stream, readBytes);
  opj_stream_set_skip_function(stream, skipBytes);
  opj_stream_set_seek_function(stream, seekBytes);
  opj_set_error_handler(codec, onError, this);
  opj_set_warning_handler(codec, onWarning, this);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  // OPJ_NUM_THREADS is overridden: the session determines the threads.
  if (!opj_setup_decoder(codec, &parameters) || !opj_codec_set_threads(codec, 0) ||
      !opj_decoder_set_strict_mode(codec, OPJ_TRUE) || !opj_read_header(stream, codec, &picture) || result.failed())
    return fail();
  Boxes boxes = isRawStream(file) ? Boxes() : readBoxes(file);
  isInk = boxes.colorSpace == colorCmyk && picture->numcomps == 4;
  return checkComponents(boxes);
}

Result Decoder::checkComponents(const Boxes &boxes) const {
  if (boxes.hasPalette || boxes.colorSpace == colorYcc)
    return unsupported(jpeg2000Format, boxes.hasPalette ? "it has a palette" : "its colors are sYCC");
  if (picture->numcomps < 1 || picture->numcomps > 4)
    return unsupported(jpeg2000Format, "it has more than 4 components");
  for (OPJ_UINT32 i = 0; i < picture->numcomps; ++i)
    if (picture->comps[i].prec < 1 || picture->comps[i].prec > 16)
      return unsupported(jpeg2000Format, "a component has more than 16 bits");
  return {};
}

static Result readHeader(Decoder &d, Header &header) {
  if (Result result = d.open(); result.failed())
    return result;
  header.height = int64_t(d.picture->y1) - d.picture->y0;
  header.width = int64_t(d.picture->x1) - d.picture->x0;
  // A tile may be as large as the image: its samples take 32 bits, plus the bytes of their own size.
  header.workspace = uint64_t(header.height) * uint64_t(header.width) * d.picture->numcomps * 6;
  return {};
}

static Result measureJpeg2000(Bytes file, Header &header) {
  Decoder d(file);
  return readHeader(d, header);
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

namespace {
/// The samples of one component in a tile.
struct Plane {
  const uint8_t *data;
  int64_t x0, y0, width, height; ///< of the component's own grid
  int64_t stepX, stepY;
  uint32_t bits;
  bool isSigned;

  int sampleBytes() const { return bits <= 8 ? 1 : 2; }
  int64_t bytes() const { return width * height * sampleBytes(); }

  /// Returns the sample at a position of the reference grid as a byte: the upper eight bits, rounded like Pillow.
  uint8_t sample(int64_t x, int64_t y) const {
    int64_t column = std::clamp<int64_t>(x / stepX - x0, 0, width - 1),
            row = std::clamp<int64_t>(y / stepY - y0, 0, height - 1);
    const uint8_t *at = data + (row * width + column) * sampleBytes();
    int64_t value;
    if (bits <= 8) {
      value = isSigned ? int8_t(*at) : *at;
    } else {
      uint16_t word;
      memcpy(&word, at, sizeof word);
      value = isSigned ? int16_t(word) : word;
    }
    // With a sign, the least one becomes 0.
    value += isSigned ? int64_t(1) << (bits - 1) : 0;
    if (bits <= 8)
      return uint8_t(value << (8 - bits));
    return uint8_t(std::min<int64_t>((value + (int64_t(1) << (bits - 9))) >> (bits - 8), 255));
  }
};
} // namespace

static int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

Result Decoder::decodeTile(const Canvas &canvas, OPJ_UINT32 index, OPJ_UINT32 size, const OPJ_INT32 corners[4]) {
  Buffer samples(size);
  if (!samples)
    return outOfMemory(jpeg2000Format);
  if (!opj_decode_tile_data(codec, index, samples.get(), size, stream) || result.failed())
    return fail();
  int64_t left = corners[0], top = corners[1], right = corners[2], bottom = corners[3];
  std::vector<Plane> planes;
  const uint8_t *next = samples.get();
  for (OPJ_UINT32 i = 0; i < picture->numcomps; ++i) {
    const opj_image_comp_t &component = picture->comps[i];
    Plane plane = {
        next,           divideUp(left, component.dx), divideUp(top, component.dy), 0, 0, component.dx, component.dy,
        component.prec, component.sgnd != 0};
    plane.width = divideUp(right, component.dx) - plane.x0;
    plane.height = divideUp(bottom, component.dy) - plane.y0;
    if (plane.width <= 0 || plane.height <= 0)
      return unsupported(jpeg2000Format, "a tile has no sample of a component");
    next += plane.bytes();
    planes.push_back(plane);
  }
  int64_t x0 = picture->x0, y0 = picture->y0, width = right - left;
  bool isInside = left >= x0 && top >= y0 && width >= 0 && right - x0 <= canvas.width && bottom - y0 <= canvas.height;
  if (next - samples.get() != int64_t(size) || !isInside)
    return damaged(jpeg2000Format, "a tile has another size than its samples");
  // With one or two components the first is gray; with more, the fourth is alpha or black.
  size_t channels = planes.size() < 3 ? 1 : isInk ? 4 : 3;
  Samples kind = channels == 1 ? Samples::gray : isInk ? Samples::cmyk : Samples::rgb;
  Buffer row(size_t(width) * channels);
  if (!row)
    return outOfMemory(jpeg2000Format);
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x)
      for (size_t i = 0; i < channels; ++i)
        row.get()[size_t(x - left) * channels + i] = planes[i].sample(x, y);
    canvas.putRow(y - y0, left - x0, width, row.get(), int64_t(channels), kind);
  }
  return {};
}

Result Decoder::decode(const Canvas &canvas) {
  opj_codestream_info_v2_t *info = opj_get_cstr_info(codec);
  if (!info)
    return outOfMemory(jpeg2000Format);
  uint64_t expected = uint64_t(info->tw) * info->th, found = 0;
  opj_destroy_cstr_info(&info);
  for (;;) {
    OPJ_UINT32 index, size, components;
    OPJ_INT32 corners[4];
    OPJ_BOOL goesOn;
    if (!opj_read_tile_header(codec, stream, &index, &size, &corners[0], &corners[1], &corners[2], &corners[3],
                              &components, &goesOn) ||
        result.failed())
      return fail();
    if (!goesOn)
      break;
    if (components != picture->numcomps)
      return damaged(jpeg2000Format, "a tile has another number of components");
    if (Result tile = decodeTile(canvas, index, size, corners); tile.failed())
      return tile;
    ++found;
  }
  return found == expected ? Result() : damaged(jpeg2000Format, "tiles are missing");
}

static Result decodeJpeg2000(Bytes file, const Canvas &canvas) {
  Decoder d(file);
  Header header;
  if (Result result = readHeader(d, header); result.failed())
    return result;
  return d.decode(canvas);
}

const Format tenon::image::jpeg2000Format = {"JPEG 2000", isJpeg2000, measureJpeg2000, decodeJpeg2000};
