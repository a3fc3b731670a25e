//===- Registry.cpp - all sources of schedules ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

using namespace tenon;

const std::vector<std::unique_ptr<ScheduleSource>> &tenon::getScheduleSources() {
  static const auto sources = [] {
    const SchedulePolicy policy;
    std::vector<std::unique_ptr<ScheduleSource>> all;
    all.push_back(createTileRows(policy));
    all.push_back(createTileColumns(policy));
    all.push_back(createTileLines(policy));
    all.push_back(createTileOrder(policy));
    all.push_back(createPackedLhs(policy));
    all.push_back(createKBlocks(policy));
    all.push_back(createRegisterBlocks(policy));
    all.push_back(createUnrolling(policy));
    all.push_back(createPrefetching(policy));
    all.push_back(createVectorWidth(policy));
    return all;
  }();
  return sources;
}
