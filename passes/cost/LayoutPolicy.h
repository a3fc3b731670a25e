//===- LayoutPolicy.h - when operands of matmuls are transposed or packed -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_LAYOUTPOLICY_H
#define TENON_PASSES_COST_LAYOUTPOLICY_H

#include <cstdint>

namespace tenon {

/// Decides which operands of matmuls are transposed or packed at run time (passes/layout/TransposeMatmulOperands.cpp),
/// and which transposes kernels compute as they read (passes/fusion/Fuse.cpp).
struct LayoutPolicy {
  /// With at least this many columns, gathering the elements of a row for each column takes longer than transposing the
  /// matrix first.
  int64_t minGatheredColumns = 64;
  /// A matrix is packed into panels at run time if it is multiplied with at least `minPackedRows` rows and has at least
  /// `minPackedColumns` columns and `minPackedDepth` rows: then packing is a small part of the work, and the rows are
  /// far apart in memory.
  int64_t minPackedRows = 64, minPackedColumns = 128, minPackedDepth = 64;
  /// With fewer products a kernel for the transpose takes longer than the matmul.
  int64_t minProducts = 1 << 12;
  /// An int8 matrix is packed as k4 if it is multiplied with at least this many rows.
  int64_t minInt8Rows = 4;
};

} // namespace tenon

#endif // TENON_PASSES_COST_LAYOUTPOLICY_H
