//===- vp8l.h - lossless WebP ---------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_VP8L_H
#define TENON_LIBRARY_VP8L_H

#include "image.h"

/// A stream in a file of WebP.
enum Outcome decodeVp8l(struct Reader file, struct Image *image);

#endif // TENON_LIBRARY_VP8L_H
