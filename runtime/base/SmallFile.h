//===- SmallFile.h - what the system says of itself ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_SMALLFILE_H
#define TENON_RUNTIME_BASE_SMALLFILE_H

#include <algorithm>
#include <cstddef>
#include <fcntl.h>
#include <unistd.h>

namespace tenon::rt {

/// Reads a small system file; returns an empty text on failure.
inline void readSmall(const char *path, char *text, size_t capacity) {
  text[0] = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  ssize_t length = read(file, text, capacity - 1);
  text[std::max<ssize_t>(length, 0)] = 0;
  close(file);
}

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_SMALLFILE_H
