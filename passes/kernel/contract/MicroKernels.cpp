//===- MicroKernels.cpp - all micro-kernels -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

static constexpr const MicroKernelEntry *kMicroKernels[] = {
    // Only a schedule chooses these, except AMX tiles of terms, for which there is no other micro-kernel.
    &kBf16Dot,
    &kF16Fma,
    &kStrassenFma,
    &kPmaddUbsw,
    &kAmxBf16,
    &kAmxBf16Pairs,
    &kAmxInt8Terms,
    &kAmxInt8,
    // Dot products of i8, by the number of products that an instruction sums.
    &kVnni,
    &kPmaddWd,
    &kPmaddWdPanel,
    &kInt8Mul,
    &kVnniGroups,
    &kVnniI16Groups,
    &kDequantizeFma,
    &kDequantizePanel,
    &kI16Dot,
    &kBf16Pairs,
    &kFmaColumnwise,
    &kFma,
};

ArrayRef<const MicroKernelEntry *> tenon::getMicroKernels() { return kMicroKernels; }

const MicroKernelEntry *tenon::findMicroKernel(kernel::MicroKernel name) {
  const auto *entry = llvm::find_if(kMicroKernels, [&](const MicroKernelEntry *entry) { return entry->name == name; });
  return entry == std::end(kMicroKernels) ? nullptr : *entry;
}

const MicroKernelEntry *tenon::findMicroKernelOfPath(StringRef path, const Contraction &contraction) {
  const auto *entry = llvm::find_if(kMicroKernels, [&](const MicroKernelEntry *entry) {
    return entry->implements && entry->implements(path, contraction);
  });
  return entry == std::end(kMicroKernels) ? nullptr : *entry;
}

SmallVector<const MicroKernelEntry *> tenon::selectMicroKernels(const ContractionProblem &problem) {
  SmallVector<const MicroKernelEntry *> order, selected;
  if (const MicroKernelEntry *named = findMicroKernel(problem.schedule.getMicroKernel()))
    order.push_back(named);
  llvm::append_range(order, kMicroKernels);
  for (const MicroKernelEntry *entry : order) {
    if (!entry->fits(problem) || llvm::is_contained(selected, entry))
      continue;
    std::optional<int64_t> maxRows = entry->getMaxRows ? entry->getMaxRows(problem) : std::nullopt;
    if (maxRows == 0)
      continue;
    selected.push_back(entry);
    if (!maxRows)
      break;
  }
  return selected;
}
