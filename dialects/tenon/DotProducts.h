//===- DotProducts.h - contractions whose operands are both read along the sum ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_DOTPRODUCTS_H
#define TENON_DIALECTS_TENON_DOTPRODUCTS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// True if a factor of a contraction is a packed weight, perhaps promoted: vectors run along its panels.
bool isInPanels(mlir::Value factor);

/// Returns the summed index along which both operands of a contraction are contiguous, seen through transposes, if one
/// of them has a single row for all rows of the other one: a query of a decoding step and the keys. Vectors then run
/// along the sum, and nothing is read twice.
std::optional<int64_t> getDotIndex(ContractOp op);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_DOTPRODUCTS_H
