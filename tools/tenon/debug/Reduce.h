//===- Reduce.h - tenon debug reduce --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_REDUCE_H
#define TENON_TOOLS_TENON_DEBUG_REDUCE_H

#include "tools/tenon/debug/Comparison.h"

namespace tenon::debug {

/// Runs `tenon debug reduce`: writes the smallest part of the model that still fails to `output`.
int runReduce(const DebugOptions &options, const std::string &output);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_REDUCE_H
