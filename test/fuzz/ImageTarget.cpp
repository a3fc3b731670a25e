//===- ImageTarget.cpp - files of images ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <cstdlib>
#include <vector>

using namespace tenon::image;

/// A refusal has to say why.
static bool isRefused(const Result &result) {
  if (result.failed() && !*result.text)
    abort();
  return result.failed();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first byte says in which order pixels are wanted. A copy has nothing readable behind it.
  if (size == 0)
    return 0;
  std::vector<uint8_t> bytes(data + 1, data + size);
  Bytes file = {bytes.data(), bytes.size()};
  constexpr uint64_t kMaxWorkspace = 1 << 24;
  Header header;
  if (isRefused(measure(file, kMaxWorkspace, header)))
    return 0;
  // Large images are slow, and show nothing that small ones do not.
  constexpr int64_t kMaxPixels = 1 << 16;
  if (header.height <= 0 || header.width <= 0)
    abort();
  if (header.height * header.width > kMaxPixels)
    return 0;
  auto order = PixelOrder(data[0] % 3);
  std::vector<uint8_t> pixels(size_t(header.height * header.width) * (order == PixelOrder::gray ? 1 : 3));
  (void)isRefused(decode(file, kMaxWorkspace, {pixels.data(), header.height, header.width, order}));
  return 0;
}
