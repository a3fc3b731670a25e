//===- image.c - files of images, as pixels -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "image.h"
#include "../kernel.h"
#include "formats.h"

static enum ImageFormat formatOf(const struct Reader *file) {
  if (hasBytesAt(file, 0, "\xff\xd8\xff", 3))
    return formatJpeg;
  if (hasBytesAt(file, 0, "\x89PNG\r\n\x1a\n", 8))
    return formatPng;
  if (hasBytesAt(file, 0, "BM", 2))
    return formatBmp;
  if (hasBytesAt(file, 0, "RIFF", 4) && hasBytesAt(file, 8, "WEBP", 4))
    return formatWebp;
  if (hasBytesAt(file, 0, "II*\0", 4) || hasBytesAt(file, 0, "MM\0*", 4))
    return formatTiff;
  if (hasBytesAt(file, 0, "\0\0\0\x0cjP  \r\n\x87\n", 12) || hasBytesAt(file, 0, "\xff\x4f\xff\x51", 4))
    return formatJpeg2000;
  if (file->size > 2 && file->data[0] == 'P' && file->data[1] >= '1' && file->data[1] <= '6')
    return formatPnm;
  return formatUnknown;
}

static enum Outcome decode(enum ImageFormat format, struct Reader file, struct Image *image) {
  switch (format) {
  case formatBmp: return decodeBmp(file, image);
  case formatJpeg: return decodeJpeg(file, image);
  case formatJpeg2000: return decodeJpeg2000(file, image);
  case formatPng: return decodePng(file, image);
  case formatPnm: return decodePnm(file, image);
  case formatTiff: return decodeTiff(file, image);
  case formatWebp: return decodeWebp(file, image);
  default: return imageUnsupported;
  }
}

/// The bytes of a file; gives the image's height, width, the bytes of workspace that decoding it needs, and what is
/// wrong with it: 0, or 1 where it is too large, or 2 and its format where it cannot be decoded.
KERNEL(tenon_image_size) {
  struct Reader file = {.data = buffers[0], .size = sizes[0]};
  int64_t *result = buffers[1];
  struct Image image = {0};
  enum ImageFormat format = formatOf(&file);
  enum Outcome outcome = decode(format, file, &image);
  if (outcome == imageDamaged)
    return TENON_KERNEL_BAD_VALUE;
  result[0] = outcome == imageDone ? image.height : 0;
  result[1] = outcome == imageDone ? image.width : 0;
  result[2] = outcome == imageDone ? image.workspaceSize : 0;
  result[3] = outcome == imageUnsupported ? 2 + format : outcome == imageTooLarge;
  return TENON_KERNEL_OK;
}
FACTS(tenon_image_size, 2, TENON_READS(TENON_ELEMENTS(0, 1)), TENON_WRITES(TENON_NUMBER(32)));

/// The bytes and a PixelOrder; gives the pixels, and its workspace.
KERNEL(tenon_image_pixels) {
  struct Reader file = {.data = buffers[0], .size = sizes[0]};
  enum PixelOrder order = *(const int64_t *)buffers[1];
  struct Image image = {0};
  enum ImageFormat format = formatOf(&file);
  enum Outcome outcome = decode(format, file, &image);
  int64_t size = image.height * image.width * (order == orderGray ? 1 : 3);
  if (outcome != imageDone || size != sizes[2] || image.workspaceSize != sizes[3])
    return TENON_KERNEL_BAD_VALUE;
  image = (struct Image){.pixels = buffers[2], .order = order, .workspace = buffers[3]};
  return decode(format, file, &image) == imageDone ? TENON_KERNEL_OK : TENON_KERNEL_BAD_VALUE;
}
FACTS(tenon_image_pixels, 4, TENON_READS(TENON_ELEMENTS(0, 1)), TENON_READS(TENON_NUMBER(8)), TENON_WRITES(TENON_ELEMENTS(2, 1)), TENON_WRITES(TENON_ELEMENTS(3, 1)));
