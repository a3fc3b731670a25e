//===- jpeg2000_layout.c - where the bands of a tile lie ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// T.800, annex B. The bands of a component lie in one array: each resolution in the corner of the next one, beside
// and below it what that adds.
//
//===----------------------------------------------------------------------===//

#include "jpeg2000.h"

struct J2kArea tileArea(const struct J2k *j2k, int64_t tile) {
  int64_t x = j2k->tileX + tile % j2k->tilesAcross * j2k->tileWidth;
  int64_t y = j2k->tileY + tile / j2k->tilesAcross * j2k->tileHeight;
  return overlap((struct J2kArea){x, y, x + j2k->tileWidth, y + j2k->tileHeight}, j2k->area);
}

/// The area `by` halvings down, of what is high in the directions that `kind` says.
static struct J2kArea bandArea(struct J2kArea area, uint32_t by, int kind) {
  int64_t half = by ? (int64_t)1 << (by - 1) : 0, dx = kind & 1 ? half : 0, dy = kind & 2 ? half : 0;
  return (struct J2kArea){shiftDownUp(area.x0 - dx, by), shiftDownUp(area.y0 - dy, by), shiftDownUp(area.x1 - dx, by),
                          shiftDownUp(area.y1 - dy, by)};
}

/// Bits and step of band number `i` of a component; the number counts over all resolutions.
static void setQuantization(const struct J2kComponent *component, uint32_t i, struct J2kBand *band) {
  const struct J2kCoding *coding = &component->coding;
  bool isDerived = coding->quantization == 1;
  uint32_t step = coding->steps[isDerived ? 0 : i];
  int32_t exponent = coding->quantization == 0 ? step >> 3 : step >> 11;
  if (isDerived && i > 0)
    exponent -= (i - 1) / 3;
  exponent = exponent < 0 ? 0 : exponent;
  band->planes = (int32_t)coding->guardBits + exponent - 1;
  float fraction = coding->quantization == 0 ? 0 : (step & 0x7ff) / 2048.0f;
  band->step = (1 + fraction) * (float)(1u << component->bits) / (float)(1u << exponent);
}

static void layOutResolution(const struct J2kComponent *component, struct J2kPlane *plane, uint32_t r) {
  const struct J2kCoding *coding = &component->coding;
  struct J2kResolution *resolution = &plane->resolutions[r];
  uint32_t levels = coding->levels;
  struct J2kArea area = bandArea(plane->area, levels - r, 0);
  resolution->area = area;
  resolution->precinctWidth = coding->precincts[r] & 15;
  resolution->precinctHeight = coding->precincts[r] >> 4;
  resolution->blockWidth = least(coding->blockWidth, resolution->precinctWidth - (r > 0));
  resolution->blockHeight = least(coding->blockHeight, resolution->precinctHeight - (r > 0));
  resolution->across = resolution->down = 0;
  if (!isEmpty(area)) {
    uint32_t w = resolution->precinctWidth, h = resolution->precinctHeight;
    resolution->across = shiftDownUp(area.x1, w) - (area.x0 >> w);
    resolution->down = shiftDownUp(area.y1, h) - (area.y0 >> h);
  }
  resolution->bandCount = r ? 3 : 1;
  for (int k = 0; k < resolution->bandCount; ++k) {
    struct J2kBand *band = &resolution->bands[k];
    band->kind = r ? k + 1 : 0;
    band->area = bandArea(plane->area, r ? levels - r + 1 : levels, band->kind);
    setQuantization(component, r ? 3 * (r - 1) + 1 + k : 0, band);
    // The resolution before lies in the corner.
    const struct J2kArea *corner = &plane->resolutions[r ? r - 1 : 0].area;
    int64_t right = band->kind & 1 ? widthOf(*corner) : 0, below = band->kind & 2 ? heightOf(*corner) : 0;
    if (plane->values)
      band->values = plane->values + below * widthOf(plane->area) + right;
  }
}

void layOutTile(struct J2k *j2k, int64_t tile) {
  struct J2kArea area = tileArea(j2k, tile);
  for (int i = 0; i < j2k->count; ++i) {
    const struct J2kComponent *component = &j2k->components[i];
    struct J2kPlane *plane = &j2k->planes[i];
    int64_t dx = component->stepX, dy = component->stepY;
    plane->area = (struct J2kArea){divideUp(area.x0, dx), divideUp(area.y0, dy), divideUp(area.x1, dx),
                                   divideUp(area.y1, dy)};
    for (uint32_t r = 0; r <= component->coding.levels; ++r)
      layOutResolution(component, plane, r);
  }
}

struct J2kCell cellOf(const struct J2kResolution *resolution, int64_t precinct, int band) {
  uint32_t w = resolution->precinctWidth, h = resolution->precinctHeight, half = resolution->bandCount > 1;
  int64_t x = (resolution->area.x0 >> w) + precinct % resolution->across;
  int64_t y = (resolution->area.y0 >> h) + precinct / resolution->across;
  struct J2kCell cell = {0};
  w -= half;
  h -= half;
  cell.area = overlap((struct J2kArea){x << w, y << h, (x + 1) << w, (y + 1) << h}, resolution->bands[band].area);
  if (isEmpty(cell.area))
    return cell;
  w = resolution->blockWidth;
  h = resolution->blockHeight;
  cell.grid = (struct J2kArea){cell.area.x0 >> w, cell.area.y0 >> h, shiftDownUp(cell.area.x1, w),
                               shiftDownUp(cell.area.y1, h)};
  cell.nodeCount = countNodes(cell.grid);
  return cell;
}

int64_t countNodes(struct J2kArea grid) {
  int64_t w = widthOf(grid), h = heightOf(grid), count = 0;
  while (w > 0 && h > 0) {
    count += w * h;
    if (w == 1 && h == 1)
      break;
    w = (w + 1) / 2;
    h = (h + 1) / 2;
  }
  return count;
}
