//===- AttentionAttrs.h - what a fused attention carries to its kernel ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FUSION_ATTENTIONATTRS_H
#define TENON_PASSES_FUSION_ATTENTIONATTRS_H

#include "llvm/ADT/StringRef.h"

namespace tenon {

/// On a tenon.attention: a query whose weights are no numbers, as where all keys are hidden by -inf, has zeros as its
/// result.
inline constexpr llvm::StringRef kZeroesQueriesAttr = "tenon.zeroes_queries";

} // namespace tenon

#endif // TENON_PASSES_FUSION_ATTENTIONATTRS_H
