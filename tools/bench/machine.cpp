//===- machine.cpp - the limits of this machine ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what the speed of models is compared with, on one thread and on several, as one line of JSON.
//
//===----------------------------------------------------------------------===//

#include "tools/limits/MachineLimits.h"
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char **arguments) {
  int most = int(std::thread::hardware_concurrency());
  if (count == 2)
    most = atoi(arguments[1]);
  if (count > 2 || most < 1) {
    fprintf(stderr, "usage: machine-limits [THREADS]\n");
    return 2;
  }
  for (int threads = 1; threads <= most; threads = threads == 1 && most > 1 ? most : most + 1) {
    tenon::MachineLimits limits;
    if (!tenon::measureMachineLimits(unsigned(threads), {}, &limits)) {
      fprintf(stderr, "error: there is not enough memory, or there are not enough threads, to measure the machine\n");
      return 4;
    }
    if (threads == 1)
      printf("{\"instructions\":\"%s\",\"limits\":[", limits.instructions);
    printf("%s{\"threads\":%d,\"gflops\":%.1f,\"read_gb_s\":%.1f}", threads == 1 ? "" : ",", threads,
           limits.flopsPerSecond / 1e9, limits.readBytesPerSecond / 1e9);
  }
  printf("]}\n");
  return 0;
}
