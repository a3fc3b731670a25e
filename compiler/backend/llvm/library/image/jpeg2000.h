//===- jpeg2000.h - what the parts of the JPEG 2000 decoder share ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ITU-T T.800. One tile after the other: its packets tell where the data of each block of coefficients lie, then the
// blocks are decoded into the places of their bands, and the bands become samples.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_JPEG2000_H
#define TENON_LIBRARY_JPEG2000_H

#include "image.h"

enum { j2kMaxComponents = 4, j2kMaxLevels = 32, j2kMaxBands = 3 * j2kMaxLevels + 1 };

/// The style of a component's blocks.
enum { j2kBypass = 1, j2kResetContexts = 2, j2kTerminateAll = 4, j2kCausal = 8, j2kSegmentSymbols = 32 };

enum J2kProgression { j2kLrcp, j2kRlcp, j2kRpcl, j2kPcrl, j2kCprl };

struct J2kArea {
  int64_t x0, y0, x1, y1;
};

/// How a component is coded, as the main header says.
struct J2kCoding {
  bool isOwn, isQuantizationOwn, isReversible;
  uint32_t levels, blockWidth, blockHeight, style;
  uint8_t precincts[j2kMaxLevels + 1];
  uint32_t guardBits, quantization, stepCount;
  uint16_t steps[j2kMaxBands];
};

struct J2kComponent {
  uint32_t bits, stepX, stepY;
  bool isSigned;
  struct J2kCoding coding;
};

/// A coefficient or sample, as the transform has it.
union J2kValue {
  int32_t integer;
  float real;
};

/// A subband of a tile's component: 0 is low in both directions, 1 high in x, 2 in y, 3 in both.
struct J2kBand {
  struct J2kArea area;
  int kind;
  int32_t planes;
  float step;
  /// Where its first coefficient lies.
  union J2kValue *values;
};

struct J2kResolution {
  struct J2kArea area;
  uint32_t precinctWidth, precinctHeight, blockWidth, blockHeight; ///< exponents
  int64_t across, down;
  int bandCount;
  struct J2kBand bands[3];
  int64_t firstCell;
};

/// A component of the tile that is being decoded; its values have rows of its width.
struct J2kPlane {
  struct J2kArea area;
  union J2kValue *values;
  struct J2kResolution resolutions[j2kMaxLevels + 1];
};

/// The blocks of a band in a precinct. Nodes are those of two trees: in which layer blocks begin, and how many bits
/// of theirs are zero.
struct J2kCell {
  struct J2kArea area, grid;
  int64_t firstBlock, firstNode, nodeCount;
};

struct J2kNode {
  uint16_t value, low;
};

struct J2kBlock {
  uint32_t firstChunk, lastChunk, size;
  uint16_t passes;
  uint8_t lengthBits, zeroPlanes;
};

/// Data of a block, and the number of the next one's; 0 for none.
struct J2kChunk {
  uint32_t place, size, next;
};

struct J2k {
  struct Reader in;
  struct J2kArea area;
  int64_t tileX, tileY, tileWidth, tileHeight, tilesAcross, tilesDown;
  int count;
  struct J2kComponent components[j2kMaxComponents];
  struct J2kPlane planes[j2kMaxComponents];
  bool mixesColors;
  uint32_t layers;
  enum J2kProgression progression;
  /// Memory for one tile, and how much of it there is.
  struct J2kCell *cells;
  struct J2kBlock *blocks;
  struct J2kNode *nodes;
  struct J2kChunk *chunks;
  union J2kValue *line;
  uint8_t *blockData;
  int64_t cellCount, blockCount, nodeCount, chunkCount;
};

static inline int64_t divideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }
static inline int64_t shiftDownUp(int64_t value, uint32_t by) {
  return (value + ((int64_t)1 << by) - 1) >> by;
}
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static inline struct J2kArea overlap(struct J2kArea a, struct J2kArea b) {
  return (struct J2kArea){most(a.x0, b.x0), most(a.y0, b.y0), least(a.x1, b.x1), least(a.y1, b.y1)};
}
static inline int64_t widthOf(struct J2kArea a) { return a.x1 - a.x0; }
static inline int64_t heightOf(struct J2kArea a) { return a.y1 - a.y0; }
static inline bool isEmpty(struct J2kArea a) { return a.x1 <= a.x0 || a.y1 <= a.y0; }

/// A tile's place, and of its components those of the resolutions and bands.
struct J2kArea tileArea(const struct J2k *j2k, int64_t tile);
void layOutTile(struct J2k *j2k, int64_t tile);

/// The cell of a band in a precinct, without places of blocks and nodes.
struct J2kCell cellOf(const struct J2kResolution *resolution, int64_t precinct, int band);

/// The nodes that one tree over a grid has.
int64_t countNodes(struct J2kArea grid);

/// Packets are read one after the other, over all parts of a tile.
struct J2kPackets {
  struct J2k *j2k;
  struct J2kArea tile;
  /// The next packet: how often each loop has gone, outermost first.
  bool hasBegun;
  uint32_t layer, resolution;
  int component;
  int64_t precinct, x, y;
  /// Chunks that are there; number 0 stands for none.
  int64_t chunkCount;
};

/// Reads the packets in a part of the tile. False where they are damaged.
bool readPackets(struct J2kPackets *packets, struct Reader part);

/// Decodes a block into its band, of a plane whose rows are `stride` long. False where it is damaged.
bool decodeBlock(const struct J2kCoding *coding, const struct J2kBand *band, const struct J2kBlock *block,
                 const uint8_t *data, struct J2kArea area, int64_t stride);

/// Bands to samples.
void transformPlane(const struct J2kCoding *coding, struct J2kPlane *plane, union J2kValue *line);

#endif // TENON_LIBRARY_JPEG2000_H
