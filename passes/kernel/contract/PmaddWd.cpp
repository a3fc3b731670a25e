//===- PmaddWd.cpp - int8 as dot products of two i16: vpmaddwd ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/PmaddWd.h"
#include "passes/kernel/K4Groups.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

SmallVector<Value> PmaddWd::splitRhs(Value groups) { return splitSignedK4Groups(b, loc, getWideType(), groups); }

SmallVector<Value> PmaddWd::splitLhs(Value group) {
  return splitUnsignedK4Groups(b, loc, getWideType(), broadcastK4Group(b, loc, group, lanes));
}

Value PmaddWd::addProducts(Value sum, Value lhs, Value rhs) { return addPmaddWd(b, loc, sum, lhs, rhs); }

static bool fits(const ContractionProblem &problem) {
  return problem.contraction.dot4Loop && hasPmaddWd(problem.int8Dot);
}

/// Widening a panel pays off only for many rows. If the number of rows is static, only the last tile may have few rows,
/// which is rare.
static std::optional<int64_t> getMaxRows(const ContractionProblem &problem) {
  if (!kPmaddWdPanel.fits(problem))
    return std::nullopt;
  return problem.schedule.getLastRows() != 0 ? 0 : kMaxRowsInRegisters;
}

const MicroKernelEntry tenon::kPmaddWd = {
    .name = kernel::MicroKernel::pmaddwd,
    .fits = fits,
    .create = createMicroKernel<PmaddWd>,
    .getMaxRows = getMaxRows,
};
