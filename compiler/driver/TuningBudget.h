//===- TuningBudget.h - the seconds that a compilation measures for --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_TUNINGBUDGET_H
#define TENON_COMPILER_DRIVER_TUNINGBUDGET_H

#include <chrono>
#include <cstddef>

namespace tenon {

/// What is measured in real runs, in this order.
enum class TuningPhase : size_t { paths, schedules, estimates, forms, sensitivities, plans };

/// The seconds of `--tune`, which all phases share. What compiles the things that are measured does not count, but for
/// single kernels. Phases make at least a few runs, so that slow models exceed a short budget.
class TuningBudget {
public:
  explicit TuningBudget(double seconds) : total(seconds) {}

  /// Counts the time until it is destroyed. A null budget counts nothing.
  class Spending {
  public:
    explicit Spending(TuningBudget *budget) : budget(budget), begin(Clock::now()) {}
    Spending(const Spending &) = delete;
    Spending &operator=(const Spending &) = delete;
    ~Spending() {
      if (budget)
        budget->spend(std::chrono::duration<double>(Clock::now() - begin).count());
    }

  private:
    using Clock = std::chrono::steady_clock;
    TuningBudget *budget;
    Clock::time_point begin;
  };

  void spend(double seconds) { spent += seconds; }
  double getSpent() const { return spent; }

  /// Returns the seconds that a phase may measure for. What is left is divided among this phase and those after it by
  /// their weights, so that they get what earlier ones did not need.
  double getShare(TuningPhase phase) const;

private:
  double total, spent = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_TUNINGBUDGET_H
