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

/// Microseconds from the first binding of an input to the first instruction of a run; NaN where that cannot be
/// measured.
struct BindTimes {
  double seen = NAN;  ///< of sizes that alternate
  double fresh = NAN; ///< of sizes that the session has never had
};

/// Measures it on a model whose inputs are bound, and binds them again as they were. New sizes are made by
/// shrinking the largest open dimension, so that no memory has to be reserved: where no input has a dimension
/// that is a symbol and can shrink, the times stay NaN.
Status measureBinding(Model &model, BindTimes *times);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_BINDTIMES_H
