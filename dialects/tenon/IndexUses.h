//===- IndexUses.h - the indices by which operations read and write -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_INDEXUSES_H
#define TENON_DIALECTS_TENON_INDEXUSES_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// The smallest and the largest valid index. The first one is negative if indices may count from the end; the last one
/// is less than the first if there is no element.
struct IndexLimits {
  mlir::AffineExpr first, last;
};

/// Indices that an operation uses.
struct IndexUse {
  mlir::Value indices; ///< null where the operation computes positions itself, which are in range if any index is
  bool hasCoordinates = false; ///< the last dimension of `indices` holds one coordinate for each of `limits`
  llvm::SmallVector<IndexLimits, 2> limits;
  mlir::AffineExpr
      count; ///< how many indices, or tuples of coordinates; elements of the result where `indices` is null
  bool isInRange = false; ///< all indices are known to be within the limits
};

/// Returns all indices of an operation that must be in range. A run with an index out of range fails.
llvm::SmallVector<IndexUse, 2> getIndexUses(mlir::Operation *op);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_INDEXUSES_H
