//===- Budget.h - how much a search may do --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_PLACEMENT_BUDGET_H
#define TENON_PASSES_MEMORY_PLACEMENT_BUDGET_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tenon::placement {

/// Limits a search: a number of steps of some nanoseconds each and, in interactive use, a time. Without a time limit
/// the result is deterministic.
class Budget {
public:
  using Clock = std::chrono::steady_clock;

  explicit Budget(int64_t steps, std::optional<Clock::time_point> deadline = std::nullopt)
      : steps(steps), deadline(deadline) {}

  void spend(int64_t count) { steps -= count; }

  int64_t left() const { return steps; }

  bool isSpent() const { return steps <= 0 || (deadline && Clock::now() >= *deadline); }

  /// Returns a budget of one of `parts` parts of the remainder. Spending it does not reduce this budget.
  Budget part(int64_t parts) const {
    std::optional<Clock::time_point> end;
    if (deadline) {
      Clock::time_point now = Clock::now();
      end = now + std::max(*deadline - now, Clock::duration(0)) / parts;
    }
    return Budget(steps / parts, end);
  }

private:
  int64_t steps;
  std::optional<Clock::time_point> deadline;
};

} // namespace tenon::placement

#endif // TENON_PASSES_MEMORY_PLACEMENT_BUDGET_H
