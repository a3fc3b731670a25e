//===- MemoryLimit.cpp - whether a plan keeps a memory limit ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/MemoryLimit.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/MemoryFigures.h"
#include "compiler/report/Table.h"
#include "runtime/plan/Intervals.h"
#include "llvm/ADT/STLExtras.h"

using namespace tenon;
using rt::Interval;

static const MemoryFigure &getTotal(const std::vector<MemoryFigure> &figures) {
  return *llvm::find_if(figures,
                        [](const MemoryFigure &figure) { return figure.key == llvm::StringRef("total_bytes"); });
}

namespace {
class LimitCheck {
public:
  LimitCheck(const rt::Plan &plan, uint64_t weightBytes, uint64_t limit)
      : plan(plan), weightBytes(weightBytes), limit(limit) {}
  uint64_t getMost() const { return getTotal(listAt(std::nullopt)).most; }
  std::string explain(size_t numPlans) const;

private:
  std::vector<MemoryFigure> listAt(std::optional<int64_t> end) const;
  bool fits(int64_t end) const;
  std::string suggestRanges() const;

  const rt::Plan &plan;
  uint64_t weightBytes, limit;
};
} // namespace

/// Returns the memory bounds; with `end`, for dynamic input dimensions of at most that size.
std::vector<MemoryFigure> LimitCheck::listAt(std::optional<int64_t> end) const {
  std::vector<Interval> ranges = rt::rangesOf(plan);
  for (auto [symbol, range] : llvm::zip(plan.symbols, ranges))
    if (end && symbol.isEarly())
      range.max = std::max(range.min, std::min(range.max, *end));
  return listMemory(plan, weightBytes, ranges);
}

bool LimitCheck::fits(int64_t end) const { return getTotal(listAt(end)).most <= limit; }

/// Returns the largest common upper end of all ranges that keeps the limit. Memory grows monotonically with it.
std::string LimitCheck::suggestRanges() const {
  bool isOpen = llvm::any_of(plan.symbols, [](const rt::Symbol &s) { return s.isEarly() && s.min != s.max; });
  if (!isOpen)
    return "";
  if (!fits(1))
    return "; no --range keeps it";
  int64_t good = 1, bad = int64_t(1) << 40;
  while (good + 1 < bad)
    (fits(good + (bad - good) / 2) ? good : bad) = good + (bad - good) / 2;
  std::string text;
  for (const rt::Symbol &symbol : plan.symbols)
    if (symbol.isEarly() && symbol.min != symbol.max)
      text += " --range " + getPrintable(symbol.name) + "=" + std::to_string(symbol.min) + ".." +
              std::to_string(std::max(symbol.min, std::min(symbol.max, good)));
  return ";" + text + " would keep it";
}

std::string LimitCheck::explain(size_t numPlans) const {
  std::vector<MemoryFigure> figures = listAt(std::nullopt);
  const MemoryFigure &total = getTotal(figures);
  std::string text;
  if (total.most == UINT64_MAX)
    text = "cannot guarantee the memory limit of " + groupDigits(limit) +
           " bytes, because not all sizes have an upper bound";
  else
    text = "a run may need " + groupDigits(total.most) + " bytes with the best of " + std::to_string(numPlans) +
           " plans, " + groupDigits(total.most - limit) + " more than the memory limit of " + groupDigits(limit);
  std::string parts;
  for (const MemoryFigure &figure : figures)
    if (figure.most && &figure < &total)
      parts += (parts.empty() ? "" : ", ") + std::string(figure.title) + " " + getBoundText(figure.most);
  std::string sizes = *plan.madeFor ? "; the program is the one for " + getPrintable(plan.madeFor) : "";
  return text + " (" + parts + ")" + sizes + suggestRanges();
}

uint64_t tenon::boundMemory(const rt::Plan &plan, uint64_t weightBytes) {
  return LimitCheck(plan, weightBytes, UINT64_MAX).getMost();
}

std::string tenon::explainMemoryLimit(const rt::Plan &plan, uint64_t weightBytes, uint64_t limit, size_t numPlans) {
  return LimitCheck(plan, weightBytes, limit).explain(numPlans);
}
