//===- AllocationTests.cpp - a run allocates nothing ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Runner.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;

// The sanitizers have a malloc of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static std::atomic<int> allocations;

extern "C" void *__libc_malloc(size_t size);
/// Stands in for the C library's, in this program.
extern "C" void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

/// How many mappings this process has. Uses no memory of its own, which would change the answer.
static int countMappings() {
  int file = open("/proc/self/maps", O_RDONLY), lines = 0;
  static char block[65536];
  for (ssize_t count; (count = read(file, block, sizeof block)) > 0;)
    for (ssize_t i = 0; i < count; ++i)
      lines += block[i] == '\n';
  close(file);
  return lines;
}

TEST_CASE("a run with known sizes allocates nothing") {
  Runner r(scaleAndAdd(), 2);
  std::vector<float> small(100), large(4000), other(4000);
  REQUIRE(r.bind(0, large) == TENON_OK);
  REQUIRE(r.run() == TENON_OK);

  int64_t smallDims[] = {100}, largeDims[] = {4000};
  tenon_tensor tensors[] = {{TENON_F32, 1, largeDims, other.data()}, // the same size elsewhere
                            {TENON_F32, 1, smallDims, small.data()}, // a smaller size
                            {TENON_F32, 1, largeDims, large.data()}};
  int mappings = countMappings();
  allocations = 0;
  bool fine = true;
  for (int round = 0; round < 10; ++round)
    for (const tenon_tensor &tensor : tensors) {
      tenon_tensor output;
      fine &= tenon_session_bind_input(r.session, 0, &tensor, nullptr) == TENON_OK;
      fine &= tenon_session_run(r.session, nullptr) == TENON_OK;
      fine &= tenon_session_output(r.session, 0, &output, nullptr) == TENON_OK;
    }
  int allocated = allocations;
  CHECK(fine);
  CHECK(allocated == 0);
  CHECK(countMappings() == mappings);
}

#endif
