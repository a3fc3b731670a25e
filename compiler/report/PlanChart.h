//===- PlanChart.h - times of plans over their errors ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_PLANCHART_H
#define TENON_COMPILER_REPORT_PLANCHART_H

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// A plan that was run.
struct PlanPoint {
  std::string label;      ///< "plan 17"
  std::string paths;      ///< what tells it from the others, for its tooltip
  double nanoseconds = 0; ///< of a run
  double error = 0;       ///< of the worst output; 0 or more
  bool isChosen = false;  ///< it is what a compilation takes
};

/// Writes an SVG document: the time of each plan over its error, on a logarithmic axis, the tolerance, and the Pareto
/// front. There must be at least one point.
void printPlanChart(llvm::ArrayRef<PlanPoint> points, double tolerance, llvm::raw_ostream &os);

/// Writes a page with the chart and a table of the plans, the fastest first.
void printPlanPage(llvm::StringRef model, llvm::ArrayRef<PlanPoint> points, double tolerance, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_PLANCHART_H
