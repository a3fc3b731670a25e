//===- vp8.h - what the parts of the decoder of lossy WebP share ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key frame of VP8: RFC 6386. All macroblocks are predicted and corrected first, then their edges are filtered.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_VP8_H
#define TENON_LIBRARY_VP8_H

#include "image.h"

enum { vp8Segments = 4, vp8MaxPartitions = 8 };

/// How blocks are predicted; the first four are for macroblocks, too.
enum Vp8Mode { vp8Dc, vp8TrueMotion, vp8Vertical, vp8Horizontal, vp8DownRight, vp8VerticalRight, vp8DownLeft,
               vp8VerticalLeft, vp8HorizontalDown, vp8HorizontalUp, vp8ModeCount };

/// Decisions, each of which has a probability.
struct Vp8Bits {
  struct Reader in;
  uint32_t value, range;
  int count;
  /// Bytes that were asked for behind the end.
  int missing;
};

struct Vp8Quantizer {
  int32_t luma[2], second[2], chroma[2]; ///< of the first coefficient, of others
};

/// What filtering needs to know of a macroblock.
struct Vp8Macroblock {
  uint8_t segment;
  bool isSplit, hasCoefficients;
};

/// Whether blocks above or to the left have coefficients: of luma, both chromas, and the second transform.
struct Vp8Context {
  uint8_t luma[4], chroma[2][2], second;
};

/// A plane of whole macroblocks, with a border above and to the left, and four samples more to the right.
struct Vp8Plane {
  uint8_t *samples;
  int64_t stride;
};

struct Vp8 {
  int64_t across, down;
  struct Vp8Bits header, partitions[vp8MaxPartitions];
  int partitionCount;
  bool hasSegments, updatesMap, isAbsolute, isSimpleFilter, hasDeltas, hasSkips;
  int32_t segmentQuantizers[vp8Segments], segmentLevels[vp8Segments];
  uint8_t segmentOdds[3], skipOdds;
  int32_t level, sharpness, frameDelta, splitDelta;
  struct Vp8Quantizer quantizers[vp8Segments];
  uint8_t odds[4][8][3][11];
  struct Vp8Plane planes[3];
  struct Vp8Macroblock *macroblocks;
  struct Vp8Context *above, left;
  uint8_t *modesAbove, modesLeft[4];
};

void startVp8Bits(struct Vp8Bits *bits, struct Reader in);
uint32_t takeVp8Bit(struct Vp8Bits *bits, uint32_t odds);
/// A number of even odds.
uint32_t takeVp8Number(struct Vp8Bits *bits, int count);

/// The coefficients of a macroblock: 16 blocks of luma, 8 of chroma.
struct Vp8Residue {
  int16_t values[24][16];
};

/// Reads them; gives whether any is not 0.
bool readVp8Residue(struct Vp8 *vp8, struct Vp8Bits *bits, const struct Vp8Quantizer *quantizer, bool isSplit,
                    struct Vp8Context *above, struct Vp8Residue *residue);

/// Predicts a square, of a side of 16 or 8, from what is above and to the left; and a block of side 4, `right` being
/// the four samples above and to the right.
void predictVp8Square(uint8_t *at, int64_t stride, int side, enum Vp8Mode mode, bool hasAbove, bool hasLeft);
void predictVp8Block(uint8_t *at, int64_t stride, const uint8_t right[4], enum Vp8Mode mode);

/// Adds the inverse transform of coefficients to a block.
void addVp8Block(uint8_t *at, int64_t stride, const int16_t in[16]);

void filterVp8(const struct Vp8 *vp8);

/// A frame in a file of WebP.
enum Outcome decodeVp8(struct Reader file, struct Image *image);

#endif // TENON_LIBRARY_VP8_H
