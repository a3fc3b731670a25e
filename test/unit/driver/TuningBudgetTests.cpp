//===- TuningBudgetTests.cpp - how phases share the seconds of --tune -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/TuningBudget.h"
#include <catch2/catch.hpp>

using namespace tenon;

static constexpr TuningPhase kPhases[] = {TuningPhase::paths, TuningPhase::schedules, TuningPhase::forms,
                                          TuningPhase::sensitivities, TuningPhase::plans};

TEST_CASE("Phases that use their shares measure for the whole budget and no longer") {
  TuningBudget budget(20);
  for (TuningPhase phase : kPhases) {
    CHECK(budget.getShare(phase) > 0);
    budget.spend(budget.getShare(phase));
  }
  CHECK(budget.getSpent() == Approx(20));
}

TEST_CASE("What earlier phases have not needed is divided among later ones") {
  TuningBudget used(10), unused(10);
  used.spend(used.getShare(TuningPhase::paths));
  for (TuningPhase phase : kPhases)
    if (phase != TuningPhase::paths)
      CHECK(unused.getShare(phase) > used.getShare(phase));
  CHECK(unused.getShare(TuningPhase::plans) == Approx(10));
}

TEST_CASE("A budget that is exceeded leaves nothing") {
  TuningBudget budget(1);
  budget.spend(3);
  CHECK(budget.getShare(TuningPhase::schedules) == 0);
  CHECK(budget.getSpent() == 3);
}

TEST_CASE("Spending counts the time that it lives") {
  TuningBudget budget(1);
  {
    TuningBudget::Spending spending(&budget), nothing(nullptr);
    CHECK(budget.getSpent() == 0);
  }
  CHECK(budget.getSpent() > 0);
}
