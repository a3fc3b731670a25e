//===- Tiling.cpp - which tiles a kernel is computed in --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/Tiling.h"

using namespace tenon;

size_t ScheduleChoice::choose(llvm::ArrayRef<ScheduleAlternative> list) const {
  if (!isOpen())
    return 0;
  std::vector<ScheduleOption> options;
  for (const ScheduleAlternative &alternative : list)
    options.push_back({printSchedule(alternative.schedule), alternative.cost, alternative.source, alternative.parts});
  size_t chosen = chooser->choose(region, kernel, options);
  assert(chosen < list.size() && "an option is chosen");
  return chosen;
}
