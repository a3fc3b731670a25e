//===- Png.cpp - portable network graphics, by libpng ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <png.h>

using namespace tenon::image;

namespace {
/// The allocations of a decoder. Errors return by longjmp to the reading function, which has no objects with
/// destructors.
struct Decoder {
  Bytes file;
  size_t place = 0;
  Result result;
  png_structp png = nullptr;
  png_infop info = nullptr;
  uint8_t *rows = nullptr;
};
} // namespace

static void onError(png_structp png, png_const_charp text) {
  auto &d = *static_cast<Decoder *>(png_get_error_ptr(png));
  if (!d.result.failed())
    d.result = damaged(pngFormat, text);
  png_longjmp(png, 1);
}

/// Of chunks besides the pixels: those are errors.
static void onWarning(png_structp, png_const_charp) {}

static void readBytes(png_structp png, png_bytep to, size_t count) {
  auto &d = *static_cast<Decoder *>(png_get_io_ptr(png));
  if (count > d.file.size - d.place)
    png_error(png, "it is cut short");
  memcpy(to, d.file.data + d.place, count);
  d.place += count;
}

/// Requests 8-bit samples without alpha; of 16 bits the upper eight are used, like in Pillow.
static void setTransformations(png_structp png, png_infop info) {
  int color = png_get_color_type(png, info);
  if (color == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY)
    png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
}

static void read(Decoder &d, Header &header, const Canvas *canvas) {
  if (setjmp(png_jmpbuf(d.png)))
    return;
  png_set_read_fn(d.png, &d, readBytes);
  png_set_user_limits(d.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(d.png, d.info);
  bool isInterlaced = png_get_interlace_type(d.png, d.info) != PNG_INTERLACE_NONE;
  size_t height = png_get_image_height(d.png, d.info), width = png_get_image_width(d.png, d.info);
  header = {int64_t(height), int64_t(width), isInterlaced ? uint64_t(height) * width * 3 : 0};
  if (!canvas)
    return;
  setTransformations(d.png, d.info);
  int passes = png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  size_t channels = png_get_channels(d.png, d.info), rowSize = png_get_rowbytes(d.png, d.info);
  Samples kind = channels == 1 ? Samples::gray : Samples::rgb;
  if ((channels != 1 && channels != 3) || rowSize != width * channels)
    png_error(d.png, "its pixels cannot be made 8 bits of gray or color");
  size_t rowCount = isInterlaced ? height : 1;
  d.rows = static_cast<uint8_t *>(calloc(rowCount, rowSize));
  if (!d.rows) {
    d.result = outOfMemory(pngFormat);
    return;
  }
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < height; ++y) {
      uint8_t *row = d.rows + (isInterlaced ? y * rowSize : 0);
      png_read_row(d.png, row, nullptr);
      if (pass == passes - 1)
        canvas->putRow(int64_t(y), 0, canvas->width, row, int64_t(channels), kind);
    }
  png_read_end(d.png, nullptr);
}

static Result run(Bytes file, Header &header, const Canvas *canvas) {
  Decoder d;
  d.file = file;
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, onError, onWarning);
  d.info = d.png ? png_create_info_struct(d.png) : nullptr;
  if (d.info)
    read(d, header, canvas);
  else
    d.result = outOfMemory(pngFormat);
  png_destroy_read_struct(&d.png, &d.info, nullptr);
  free(d.rows);
  return d.result;
}

static bool isPng(Bytes file) { return file.startsWith("\x89PNG\r\n\x1a\n", 8); }
static Result measurePng(Bytes file, Header &header) { return run(file, header, nullptr); }
static Result decodePng(Bytes file, const Canvas &canvas) {
  Header header;
  return run(file, header, &canvas);
}

const Format tenon::image::pngFormat = {"PNG", isPng, measurePng, decodePng};
