//===- ScheduleList.cpp - all schedules that a kernel may take ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleList.h"
#include "llvm/ADT/DenseSet.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

std::string tenon::printSchedule(kernel::ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Attribute(schedule).print(os);
  return text;
}

/// Merges the changes that two drafts make to `own`; where both change a field, `second` wins.
static ScheduleDraft merge(const ScheduleDraft &own, const ScheduleDraft &first, const ScheduleDraft &second) {
  ScheduleDraft merged = first;
  assert(first.tile.size() == own.tile.size() && second.tile.size() == own.tile.size() &&
         "drafts of a kernel tile the same dimensions");
  for (size_t i = 0; i < own.tile.size(); ++i)
    if (second.tile[i] != own.tile[i])
      merged.tile[i] = second.tile[i];
  if (second.packing)
    merged.packing = second.packing;
  if (second.block)
    merged.block = second.block;
  for (int64_t ScheduleDraft::*field : {&ScheduleDraft::kBlock, &ScheduleDraft::unroll, &ScheduleDraft::vectorBits})
    if (second.*field != own.*field)
      merged.*field = second.*field;
  for (bool ScheduleDraft::*field : {&ScheduleDraft::prefetches, &ScheduleDraft::columnsSlowest})
    if (second.*field != own.*field)
      merged.*field = second.*field;
  return merged;
}

kernel::ScheduleAttr tenon::makeTileSchedule(MLIRContext *context, ArrayRef<int64_t> tile) {
  kernel::ScheduleFields fields;
  for (int64_t size : tile)
    fields.tile.push_back(size == std::numeric_limits<int64_t>::max() ? ShapedType::kDynamic : size);
  return kernel::ScheduleAttr::get(context, fields);
}

std::vector<ScheduleAlternative>
tenon::listAlternatives(const ScheduleDraft &own, std::vector<NamedProposal> changes,
                        llvm::function_ref<kernel::ScheduleAttr(const ScheduleDraft &)> finish,
                        const SchedulePolicy &policy) {
  std::vector<ScheduleAlternative> list;
  llvm::DenseSet<Attribute> known;
  auto add = [&](ScheduleAlternative alternative) {
    if (list.size() >= policy.maxAlternatives)
      return;
    alternative.schedule = finish(alternative.draft);
    if (known.insert(alternative.schedule).second)
      list.push_back(std::move(alternative));
  };
  add({own, {}, 1, "policy", {}});
  for (NamedProposal &change : changes)
    add({std::move(change.proposal.draft), {}, change.proposal.cost, change.source, {}});
  std::vector<ScheduleAlternative> pairs;
  assert(!list.empty() && "the schedule of the policy comes first, and others are compared with it");
  for (size_t i = 1; i < list.size(); ++i)
    for (size_t j = i + 1; j < list.size(); ++j)
      if (list[i].source != list[j].source)
        pairs.push_back({merge(own, list[i].draft, list[j].draft),
                         {},
                         list[i].cost * list[j].cost,
                         list[i].source,
                         std::pair(i, j)});
  llvm::stable_sort(pairs, [](const auto &a, const auto &b) { return a.cost < b.cost; });
  for (ScheduleAlternative &pair : pairs)
    add(std::move(pair));
  return list;
}

std::vector<ScheduleAlternative>
tenon::listSchedules(const ScheduleProblem &problem, const ScheduleDraft &own,
                     llvm::function_ref<kernel::ScheduleAttr(const ScheduleDraft &)> finish,
                     const SchedulePolicy &policy) {
  std::vector<NamedProposal> changes;
  for (const auto &source : getScheduleSources())
    for (ScheduleProposal &proposal : source->propose(problem, own))
      changes.push_back({source->getName(), std::move(proposal)});
  return listAlternatives(own, std::move(changes), finish, policy);
}
