//===- NpyFile.h - the frame of NumPy's files -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_NPYFILE_H
#define TENON_TOOLS_TENON_RUN_NPYFILE_H

#include "tools/tenon-run/HostTensor.h"

#include <cstdio>
#include <functional>
#include <string_view>

namespace tenon::run {

/// The dictionary at the start of a file.
struct NpyHeader {
  std::string_view descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
};

/// Reads all of a file but the elements.
Status readNpyHeader(const uint8_t *bytes, size_t size, NpyHeader &header);

/// Returns the position of row-major element `index` in a Fortran-ordered array.
uint64_t fortranIndex(uint64_t index, const std::vector<int64_t> &dims);

/// Writes a file with elements of the NumPy type `descr` and the shape of `tensor`; `elements` writes them. An
/// incomplete file is removed.
Status writeNpyFile(const char *path, std::string_view descr, const tenon_tensor &tensor,
                    const std::function<bool(FILE *)> &elements);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_NPYFILE_H
