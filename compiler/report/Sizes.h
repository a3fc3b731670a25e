//===- Sizes.h - sizes that a user asks about ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_SIZES_H
#define TENON_COMPILER_REPORT_SIZES_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"
#include <string>
#include <vector>

namespace tenon {

/// Arguments of a command line: "NAME=1x3x32" for an input, "N=128" for a symbol.
struct SizeArguments {
  std::vector<std::string> shapes, sizes;

  bool isAnyGiven() const { return !shapes.empty() || !sizes.empty(); }
};

/// What the expressions of a plan come to. Those that depend on data have no value.
struct PlanSizes {
  std::vector<int64_t> symbols, exprs;
  std::vector<uint8_t> symbolKnown, exprKnown;
  std::vector<uint8_t> symbolAssumed; ///< nobody has given the symbol its size
};

/// What becomes of a dynamic dimension of the inputs that has no size: an error, or a size is assumed, which is 1 for
/// the first symbol, a batch as a rule, and 64 for others, each moved into its range. Where the plan's checks refuse
/// those, it is 64 for all, and after that the upper ends of the ranges.
enum class MissingSizes { refused, assumed };

/// Evaluates all expressions for the sizes that the arguments give, with every check that binding them would do.
rt::Status evaluateSizes(const rt::Plan &plan, const SizeArguments &arguments, MissingSizes missing, PlanSizes &sizes);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_SIZES_H
