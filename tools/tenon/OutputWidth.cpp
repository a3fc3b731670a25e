//===- OutputWidth.cpp - how wide tables may be ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/OutputWidth.h"
#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

size_t tenon::getOutputWidth() {
  constexpr size_t kPageWidth = 100, kMinWidth = 60;
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kPageWidth;
  return std::max<size_t>(size.ws_col, kMinWidth);
}
