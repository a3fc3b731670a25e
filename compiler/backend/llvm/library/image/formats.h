//===- formats.h - the formats of images that are known -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared with the import, which has a message for each.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_FORMATS_H
#define TENON_LIBRARY_FORMATS_H

enum ImageFormat {
  formatUnknown,
  formatBmp,
  formatJpeg,
  formatJpeg2000,
  formatPng,
  formatPnm,
  formatTiff,
  formatWebp,
  imageFormatCount
};

#endif // TENON_LIBRARY_FORMATS_H
