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

/// Whether a factor of a product is a packed weight, perhaps widened: vectors run along its panels.
bool isInPanels(mlir::Value factor);

/// The summed index along which both operands of a contraction lie in memory, seen through transposes, where one of
/// them has a single row for all that the other one has: a query of a decoding step and the keys. Vectors run along the
/// sum then, and nothing is read twice.
std::optional<int64_t> getDotIndex(ContractOp op);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_DOTPRODUCTS_H
