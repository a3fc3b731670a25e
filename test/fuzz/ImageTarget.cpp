//===- ImageTarget.cpp - files of images ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"

#include <cstdlib>
#include <vector>

extern "C" {
int32_t tenon_image_size(void *const *, const int64_t *, int64_t, int64_t, void *, int64_t);
int32_t tenon_image_pixels(void *const *, const int64_t *, int64_t, int64_t, void *, int64_t);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The first byte says in which order pixels are wanted. A copy has nothing readable behind it.
  if (size == 0)
    return 0;
  std::vector<uint8_t> file(data + 1, data + size);
  int64_t order = data[0] % 3, result[4] = {};
  void *measure[] = {file.data(), result};
  int64_t measureSizes[] = {int64_t(file.size()), 4};
  if (tenon_image_size(measure, measureSizes, 0, 1, nullptr, -1) != TENON_KERNEL_OK || result[3])
    return 0;
  // Large images are slow, and show nothing that small ones do not.
  constexpr int64_t kMostPixels = 1 << 16, kMostWorkspace = 1 << 24;
  if (result[0] * result[1] > kMostPixels || result[2] > kMostWorkspace)
    return 0;
  int64_t bytes = result[0] * result[1] * (order == 2 ? 1 : 3);
  std::vector<uint8_t> pixels(size_t(bytes), 0), workspace(size_t(result[2]), 0);
  void *decode[] = {file.data(), &order, pixels.data(), workspace.data()};
  int64_t decodeSizes[] = {int64_t(file.size()), 1, bytes, result[2]};
  (void)tenon_image_pixels(decode, decodeSizes, 0, 1, nullptr, -1);
  return 0;
}
