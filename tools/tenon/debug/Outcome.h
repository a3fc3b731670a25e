//===- Outcome.h - how a model fails --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_OUTCOME_H
#define TENON_TOOLS_TENON_DEBUG_OUTCOME_H

#include "tools/tenon/debug/Comparison.h"

namespace tenon::debug {

/// How a model fails.
struct Outcome {
  enum class Stage { compile, run, compare, none };
  Stage stage = Stage::none;
  StepEnd end;                        ///< of the stage that failed
  std::optional<ComparedValue> worst; ///< the output that is furthest off

  /// Returns the diverging value with the largest error.
  static std::optional<ComparedValue> findWorst(llvm::ArrayRef<ComparedValue> values);
  /// Returns the matching value with the largest error, among floats.
  static std::optional<ComparedValue> findLargest(llvm::ArrayRef<ComparedValue> values);
  /// Why, in one line.
  std::string describe() const;
  /// True if it is probably the same failure: the same stage and first line of the message.
  bool isLike(const Outcome &other) const;
};

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_OUTCOME_H
