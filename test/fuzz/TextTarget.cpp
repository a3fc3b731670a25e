//===- TextTarget.cpp - kernels on lists of strings ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Kernel.h"

#include <algorithm>
#include <cstring>
#include <vector>

extern "C" {
#define KERNEL(name) int32_t name(void *const *, const int64_t *, int64_t, int64_t, void *, int64_t);
KERNEL(tenon_find_strings)
KERNEL(tenon_lower_case)
KERNEL(tenon_match)
KERNEL(tenon_read_numbers)
KERNEL(tenon_read_integers)
KERNEL(tenon_split)
KERNEL(tenon_split_counts)
}

namespace {
/// Hands out the parts of the input.
struct Reader {
  const uint8_t *data;
  size_t size;

  uint8_t byte() { return size ? (--size, *data++) : 0; }
  std::vector<uint8_t> bytes() {
    size_t count = std::min<size_t>(byte(), size);
    std::vector<uint8_t> taken(data, data + count);
    data += count;
    size -= count;
    return taken;
  }
  /// Where strings end: rising mostly, and anything now and then.
  std::vector<int64_t> ends() {
    std::vector<int64_t> taken(byte() % 8);
    int64_t at = 0;
    for (int64_t &end : taken) {
      uint8_t step = byte();
      end = at += step == 255 ? -1000 : step % 16;
    }
    return taken;
  }
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Reader in{data, size};
  std::vector<uint8_t> bytes = in.bytes(), keys = in.bytes(), delimiter = in.bytes();
  std::vector<int64_t> ends = in.ends(), keyEnds = in.ends();
  int64_t count = int64_t(ends.size()), length = int64_t(bytes.size()), limit = in.byte() - 1;
  std::vector<int64_t> results(ends.size()), begins(ends.size() * 3), lengths(ends.size() * 3);
  std::vector<double> numbers(ends.size());
  std::vector<uint8_t> lower(bytes.size());
  auto run = [&](auto kernel, std::vector<void *> buffers, std::vector<int64_t> sizes) {
    (void)kernel(buffers.data(), sizes.data(), 0, 1, nullptr, -1);
  };
  run(tenon_lower_case, {bytes.data(), lower.data()}, {length, length});
  run(tenon_find_strings, {bytes.data(), ends.data(), keys.data(), keyEnds.data(), results.data()},
      {length, count, int64_t(keys.size()), int64_t(keyEnds.size()), count});
  run(tenon_split_counts, {bytes.data(), ends.data(), delimiter.data(), &limit, results.data()},
      {length, count, int64_t(delimiter.size()), 1, count});
  run(tenon_split, {bytes.data(), ends.data(), delimiter.data(), &limit, begins.data(), lengths.data()},
      {length, count, int64_t(delimiter.size()), 1, int64_t(begins.size()), int64_t(lengths.size())});
  run(tenon_read_numbers, {bytes.data(), ends.data(), numbers.data()}, {length, count, count});
  run(tenon_read_integers, {bytes.data(), ends.data(), results.data()}, {length, count, count});
  // An automaton of any numbers: what leads out of its table is refused.
  std::vector<uint8_t> classes(256), accepts(size_t(in.byte() % 4)), isMatch(ends.size());
  std::vector<int32_t> next(size_t(in.byte() % 16));
  for (uint8_t &value : classes)
    value = in.byte() % 5;
  for (int32_t &value : next)
    value = int32_t(in.byte() % 5) - 1;
  run(tenon_match, {bytes.data(), ends.data(), classes.data(), next.data(), accepts.data(), isMatch.data()},
      {length, count, 256, int64_t(next.size()), int64_t(accepts.size()), count});
  return 0;
}
