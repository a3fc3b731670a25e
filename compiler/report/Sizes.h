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

/// Size arguments of a command line: "NAME=1x3x32" for an input, "N=128" for a symbol.
struct SizeArguments {
  std::vector<std::string> shapes, sizes;

  bool isAnyGiven() const { return !shapes.empty() || !sizes.empty(); }
};

/// The values of a plan's expressions; data-dependent ones have none.
struct PlanSizes {
  std::vector<int64_t> symbols, exprs;
  std::vector<uint8_t> symbolKnown, exprKnown;
  std::vector<uint8_t> symbolAssumed; ///< nobody has given the symbol its size
};

/// How a dynamic input dimension without a size is handled: as an error, or with an assumed size, which is 1 for the
/// first symbol, usually the batch, and 64 for others, clamped to their ranges. If the plan's checks reject these
/// sizes, 64 is assumed for all, and then the upper ends of the ranges.
enum class MissingSizes { refused, assumed };

/// Evaluates all expressions for the sizes in the arguments, with all checks of binding them.
rt::Status evaluateSizes(const rt::Plan &plan, const SizeArguments &arguments, MissingSizes missing, PlanSizes &sizes);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_SIZES_H
