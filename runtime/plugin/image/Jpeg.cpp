//===- Jpeg.cpp - JPEG, by libjpeg-turbo ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

using namespace tenon::image;

namespace {
/// libjpeg's structures, each the first member of one of ours, so that its callbacks find the rest. Errors return by
/// longjmp to the reading function, which has no objects with destructors.
struct Decoder {
  jpeg_decompress_struct info; ///< first
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  jpeg_source_mgr source;
  jmp_buf failed;
  bool isEndMade; ///< the file ended, and the marker of its end was read from memory of ours
  Result result;
};
} // namespace

static Decoder &decoderOf(j_common_ptr info) { return *reinterpret_cast<Decoder *>(info); }

static void failWith(j_common_ptr info, const Result &result) {
  decoderOf(info).result = result;
  longjmp(decoderOf(info).failed, 1);
}

static void onError(j_common_ptr info) {
  char text[JMSG_LENGTH_MAX];
  info->err->format_message(info, text);
  switch (info->err->msg_code) {
  case JERR_OUT_OF_MEMORY:
  case JERR_NO_BACKING_STORE:
    return failWith(info, outOfMemory(jpegFormat));
  case JERR_ARITH_NOTIMPL:
  case JERR_BAD_PRECISION:
  case JERR_CCIR601_NOTIMPL:
  case JERR_COMPONENT_COUNT:
  case JERR_CONVERSION_NOTIMPL:
  case JERR_EMPTY_IMAGE: // a height that a later marker tells
  case JERR_FRACT_SAMPLE_NOTIMPL:
  case JERR_NOTIMPL:
  case JERR_NOT_COMPILED:
  case JERR_SOF_UNSUPPORTED:
    return failWith(info, unsupported(jpegFormat, text));
  }
  failWith(info, damaged(jpegFormat, text));
}

/// libjpeg guesses damaged data and warns; such a file is rejected. Deviations of real files are accepted: bytes
/// between segments, and unknown versions of headers that only specify the color space.
static void onMessage(j_common_ptr info, int level) {
  int code = info->err->msg_code;
  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM)
    onError(info);
}

/// Short scans may take long to apply; no encoder creates as many.
static void onProgress(j_common_ptr info) {
  constexpr int kMaxScans = 500;
  if (decoderOf(info).info.input_scan_number > kMaxScans)
    failWith(info, Result::make(TENON_RESOURCES, "the JPEG file has more than %d scans, the limit", kMaxScans));
}

static void beginSource(j_decompress_ptr) {}

/// A marker for the end is appended to the file, since some encoders omit it.
static boolean fillSource(j_decompress_ptr info) {
  static const JOCTET end[] = {0xff, JPEG_EOI};
  decoderOf(reinterpret_cast<j_common_ptr>(info)).isEndMade = true;
  info->src->next_input_byte = end;
  info->src->bytes_in_buffer = sizeof end;
  return TRUE;
}

static void skipSource(j_decompress_ptr info, long count) {
  if (count <= 0)
    return;
  if (size_t(count) > info->src->bytes_in_buffer)
    failWith(reinterpret_cast<j_common_ptr>(info), damaged(jpegFormat, "a segment is cut short"));
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= size_t(count);
}

/// Reads the header, and the pixels if there is a canvas. `d` owns what must be freed.
static void read(Decoder &d, Header &header, const Canvas *canvas) {
  if (setjmp(d.failed))
    return;
  if (jpeg_read_header(&d.info, TRUE) != JPEG_HEADER_OK)
    return failWith(reinterpret_cast<j_common_ptr>(&d.info), damaged(jpegFormat, "it has no image"));
  int components = d.info.num_components;
  if (components != 1 && components != 3 && components != 4)
    return failWith(reinterpret_cast<j_common_ptr>(&d.info),
                    unsupported(jpegFormat, "it has neither 1, 3 nor 4 components"));
  d.info.out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  uint64_t pixels = uint64_t(d.info.image_height) * d.info.image_width;
  bool hasCoefficients = jpeg_has_multiple_scans(&d.info);
  header = {d.info.image_height, d.info.image_width,
            hasCoefficients ? pixels * uint64_t(components) * sizeof(JCOEF) : 0};
  if (!canvas)
    return;
  jpeg_start_decompress(&d.info);
  JSAMPARRAY row = d.info.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&d.info), JPOOL_IMAGE,
                                            d.info.output_width * JDIMENSION(d.info.output_components), 1);
  while (d.info.output_scanline < d.info.output_height) {
    int64_t y = d.info.output_scanline;
    jpeg_read_scanlines(&d.info, row, 1);
    // Four components are inverted, as Adobe's programs and others write them.
    for (int64_t i = 0; components == 4 && i < canvas->width * 4; ++i)
      row[0][i] = JSAMPLE(255 - row[0][i]);
    Samples kind = components == 1 ? Samples::gray : components == 3 ? Samples::rgb : Samples::cmyk;
    canvas->putRow(y, 0, canvas->width, row[0], components, kind);
  }
  // A sequential file is complete with its last row; other files may lack scans.
  if (hasCoefficients && d.isEndMade)
    failWith(reinterpret_cast<j_common_ptr>(&d.info), damaged(jpegFormat, "it is cut short"));
}

static Result run(Bytes file, Header &header, const Canvas *canvas) {
  Decoder d = {};
  d.info.err = jpeg_std_error(&d.errors);
  d.errors.error_exit = onError;
  d.errors.emit_message = onMessage;
  if (!setjmp(d.failed)) {
    jpeg_create_decompress(&d.info);
    d.progress.progress_monitor = onProgress;
    d.info.progress = &d.progress;
    d.source = {file.data, file.size, beginSource, fillSource, skipSource, jpeg_resync_to_restart, beginSource};
    d.info.src = &d.source;
    read(d, header, canvas);
  }
  jpeg_destroy_decompress(&d.info);
  return d.result;
}

static bool isJpeg(Bytes file) { return file.startsWith("\xff\xd8\xff", 3); }
static Result measureJpeg(Bytes file, Header &header) { return run(file, header, nullptr); }
static Result decodeJpeg(Bytes file, const Canvas &canvas) {
  Header header;
  return run(file, header, &canvas);
}

const Format tenon::image::jpegFormat = {"JPEG", isJpeg, measureJpeg, decodeJpeg};
