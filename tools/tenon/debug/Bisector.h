//===- Bisector.h - the step of a compilation that breaks a model ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_BISECTOR_H
#define TENON_TOOLS_TENON_DEBUG_BISECTOR_H

#include "tools/tenon/debug/Outcome.h"

namespace tenon::debug {

/// What a bisection found.
struct Culprit {
  StepLimit with, without; ///< compilations that differ in the step, or the part, alone
  std::string step,
      part;              ///< "tenon-simplify on main", "pattern FoldScale of tenon.mul at ..."; no part: the whole step
  size_t partCount = 0;  ///< of the step
  Outcome before, after; ///< without and with it
};

/// Finds the step of a compilation that makes a model fail.
class Bisector {
public:
  static llvm::Expected<std::unique_ptr<Bisector>> create(DebugOptions options);

  const Outcome &getWhole() const { return whole; }
  bool isFailing() const { return whole.stage != Outcome::Stage::none; }
  size_t getStepCount() const { return stepCount; }
  size_t getTries() const { return tries; }
  /// How the model is without any optional step.
  const Outcome &getPlain() const { return plain; }

  /// Returns the culprit; none if the model fails without optional steps, too.
  std::optional<Culprit> find();

private:
  explicit Bisector(DebugOptions options) : options(std::move(options)) {}

  /// Compiles with a limit, runs and compares. Lines about steps are appended to `log`, if it is not null.
  Outcome tryLimit(const StepLimit &limit, std::vector<std::string> *log = nullptr);

  DebugOptions options;
  std::unique_ptr<Comparison> comparison;
  Captured want;
  Outcome whole, plain;
  size_t stepCount = 0, tries = 0;
};

/// Runs `tenon debug bisect`. The exit code is 5 if no step is the culprit.
int runBisect(const DebugOptions &options);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_BISECTOR_H
