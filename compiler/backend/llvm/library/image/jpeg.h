//===- jpeg.h - what the parts of the JPEG decoder share ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All scans are read into coefficients first; then each component becomes a plane of samples, and last the planes
// become pixels.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_JPEG_H
#define TENON_LIBRARY_JPEG_H

#include "image.h"

#define JPEG_MAX_COMPONENTS 4

struct JpegComponent {
  uint32_t id, horizontal, vertical, table;
  /// Samples that are there; the planes are wider, to whole units of all components.
  int64_t width, height;
  int64_t blocksAcross, blocksDown;
  /// 64 a block, in natural order.
  int16_t *coefficients;
  uint8_t *samples;
  uint16_t quantization[64];
  bool hasQuantization;
  int32_t lastDc;
};

/// A code, most significant bit first.
struct JpegCode {
  bool isThere;
  uint8_t counts[17];
  uint8_t symbols[256];
};

struct Jpeg {
  struct Reader in;
  bool hasFrame, isProgressive, hasJfif, hasAdobe;
  uint32_t adobeTransform, restartInterval;
  int count;
  uint32_t maxHorizontal, maxVertical;
  int64_t unitsAcross, unitsDown;
  struct JpegComponent components[JPEG_MAX_COMPONENTS];
  uint16_t quantization[4][64];
  bool hasTable[4];
  struct JpegCode dcCodes[4], acCodes[4];
};

/// From the order in which coefficients are stored to that of rows.
extern const uint8_t jpegNaturalOrder[64];

/// Reads a scan: its header, and what is coded in it. False where it is damaged.
bool readJpegScan(struct Jpeg *jpeg);

/// The inverse transform of all blocks.
void transformJpeg(struct JpegComponent *component);

/// Upsamples the planes, and writes them as pixels. `rows` is a workspace of one row a component.
void putJpeg(const struct Jpeg *jpeg, const struct Image *image, uint8_t *rows);

#endif // TENON_LIBRARY_JPEG_H
