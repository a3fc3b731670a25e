//===- webp.c - WebP files ------------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vp8.h"
#include "vp8l.h"

/// Finds the image among the chunks of the file. Transparency is left out; animations are not supported.
enum Outcome decodeWebp(struct Reader file, struct Image *image) {
  moveTo(&file, 12);
  while (bytesLeft(&file) >= 8) {
    bool isLossy = hasBytesAt(&file, file.place, "VP8 ", 4);
    bool isLossless = hasBytesAt(&file, file.place, "VP8L", 4), isMoving = hasBytesAt(&file, file.place, "ANIM", 4);
    skipBytes(&file, 4);
    int64_t size = read32(&file);
    struct Reader chunk = takeBytes(&file, size);
    if (file.hasEnded)
      return imageDamaged;
    if (isLossy)
      return decodeVp8(chunk, image);
    if (isLossless)
      return decodeVp8l(chunk, image);
    if (isMoving)
      return imageUnsupported;
    skipBytes(&file, size & 1);
  }
  return imageDamaged;
}
