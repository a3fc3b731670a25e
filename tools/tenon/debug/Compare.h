//===- Compare.h - the first value of a model that a compilation gets wrong ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_COMPARE_H
#define TENON_TOOLS_TENON_DEBUG_COMPARE_H

#include "tools/tenon/debug/KernelResults.h"

namespace tenon::debug {

/// What a comparison found.
struct CompareResult {
  std::vector<ComparedValue> outputs; ///< of the model as it is compiled
  std::vector<ComparedValue> values;  ///< that nodes make, each kept as an output, in the order of the nodes
  std::vector<std::string> reads;     ///< names of what the node of the first wrong value reads

  std::vector<KernelResult> kernels; ///< where outputs are wrong
  Captured want, kept;               ///< what both made, values included

  /// If outputs are wrong, but nothing is once all values are captured: results with single captured values, so that
  /// the rest of the model was compiled unchanged. The last correct value, if any, and the first wrong one.
  std::optional<ComparedValue> lastRight, firstWrong;
  bool isHidden = false; ///< no output is wrong once values are kept

  /// Returns the first of `values` that diverges; null if none does.
  const ComparedValue *getFirst() const;
  bool diverges() const;
};

/// Compares outputs and, unless `outputsOnly` is set, all values of an ONNX model.
llvm::Expected<CompareResult> compareValues(Comparison &comparison, bool outputsOnly);

/// Runs `tenon debug compare`. The exit code is 5 if something diverges.
int runCompare(DebugOptions options, bool outputsOnly);

/// Prints why a step failed, and is its exit code.
int reportFailure(const StepEnd &end);
/// Converts the outcome to an error with the category of the step.
llvm::Error toError(const StepEnd &end);
/// Prints an error, and is its exit code.
int reportFailure(llvm::Error error);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_COMPARE_H
