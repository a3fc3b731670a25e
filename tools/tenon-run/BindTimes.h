//===- BindTimes.h - what it takes to bind sizes --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_BINDTIMES_H
#define TENON_TOOLS_TENON_RUN_BINDTIMES_H

#include "tools/tenon-run/Model.h"

#include <cmath>

namespace tenon::run {

/// The time in microseconds from the first binding of an input to the first instruction of a run; NaN if it cannot be
/// measured.
struct BindTimes {
  double seen = NAN;  ///< of sizes that alternate
  double fresh = NAN; ///< of sizes that the session has never had
};

/// Measures this on a model whose inputs are bound, and restores the bindings. New sizes are made by shrinking the
/// largest dynamic dimension, so that no memory is allocated: if no input has a symbol that can shrink, the times stay
/// NaN.
Status measureBinding(Model &model, BindTimes *times);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_BINDTIMES_H
