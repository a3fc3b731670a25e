//===- PlanRecords.cpp - records of whole models ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/PlanRecords.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;

static constexpr llvm::StringRef kChosen = "plan within ", kByEstimates = "plan by estimates within ",
                                 kByRecords = "plan by records within ", kPinned = "plan of ",
                                 kSensitivity = "sensitivity to ";

PathRegion tenon::getPlanRegion(const phases::Graph &graph, const Target &target, uint64_t sourceHash) {
  PathRegion region;
  region.target = target.name;
  llvm::raw_string_ostream os(region.text);
  os << "model " << llvm::utohexstr(sourceHash, /*LowerCase=*/true, 16);
  for (func::FuncOp function : getProgramFunctions(const_cast<phases::Graph &>(graph).module.get()))
    os << ' ' << function.getName() << function.getFunctionType();
  return region;
}

/// A name with the tolerance and what identifies the paths.
static std::string namePlan(llvm::StringRef kind, const PathSelection &selection, const Target &target,
                            double tolerance) {
  std::string paths = selection.describe(target.name);
  uint64_t hash = XXH3_64bits(paths.data(), paths.size());
  return llvm::formatv("{0}{1:e} {2}", kind, tolerance, llvm::utohexstr(hash, /*LowerCase=*/true, 16)).str();
}

/// The tolerance in such a name.
static std::optional<double> parseTolerance(llvm::StringRef schedule, llvm::StringRef kind) {
  double tolerance = 0;
  bool isOfKind = schedule.consume_front(kind) && llvm::to_float(schedule.split(' ').first, tolerance);
  return isOfKind ? std::optional(tolerance) : std::nullopt;
}

std::string tenon::nameChosenPlan(const PathSelection &selection, const Target &target, double tolerance) {
  return namePlan(kChosen, selection, target, tolerance);
}

std::optional<double> tenon::getPlanTolerance(const ProfileRecord &record) {
  return parseTolerance(record.kernel.schedule, kChosen);
}

static llvm::StringRef getKind(PlanSource source) {
  return source == PlanSource::estimates ? kByEstimates : kByRecords;
}

std::string tenon::nameSourcedPlan(PlanSource source, const PathSelection &selection, const Target &target,
                                   double tolerance) {
  return namePlan(getKind(source), selection, target, tolerance);
}

std::optional<double> tenon::getSourcedPlanTolerance(PlanSource source, const ProfileRecord &record) {
  return parseTolerance(record.kernel.schedule, getKind(source));
}

std::string tenon::namePinnedPlan(llvm::ArrayRef<PathPin> pins) {
  std::string text = kPinned.str();
  for (auto [i, pin] : llvm::enumerate(pins))
    text += (i ? " " : "") + std::string(pin.isForced ? "" : "-") + pin.where + "=" + pin.path;
  return text;
}

std::optional<std::vector<PathPin>> tenon::parsePinnedPlan(llvm::StringRef schedule) {
  if (!schedule.consume_front(kPinned))
    return std::nullopt;
  std::vector<PathPin> pins;
  for (llvm::StringRef text : llvm::split(schedule, ' ')) {
    bool isExcluded = text.consume_front("-");
    llvm::Expected<PathPin> pin = PathPin::parse(text, !isExcluded);
    if (!pin) {
      llvm::consumeError(pin.takeError());
      return std::nullopt;
    }
    pins.push_back(std::move(*pin));
  }
  return pins;
}

std::string tenon::nameSensitivity(const PathPin &pin) { return kSensitivity.str() + pin.where + "=" + pin.path; }

std::shared_ptr<const Sensitivities> tenon::findSensitivities(const PathRegion &model, RecordedTimes &times) {
  auto found = std::make_shared<Sensitivities>();
  for (const ProfileRecord &record : times.list(model))
    if (llvm::StringRef text = record.kernel.schedule; text.consume_front(kSensitivity) && record.error) {
      auto [where, path] = text.rsplit('=');
      times.find(model, record.kernel.schedule);
      (*found)[where] = {path.str(), *record.error};
    }
  return found->empty() ? nullptr : found;
}

bool tenon::isPlanSchedule(llvm::StringRef schedule) {
  return llvm::any_of(llvm::ArrayRef({kChosen, kByEstimates, kByRecords, kPinned, kSensitivity}),
                      [&](llvm::StringRef kind) { return schedule.starts_with(kind); });
}

bool tenon::isPlanRecord(const ProfileRecord &record) { return isPlanSchedule(record.kernel.schedule); }

std::optional<RecordedPlan> tenon::findFasterPlan(const phases::Graph &graph, const phases::Setup &setup,
                                                  RecordedTimes &times, uint64_t sourceHash) {
  // Pins apply to all targets of a compilation, but records to one.
  if (setup.targets.size() != 1)
    return std::nullopt;
  PathRegion region = getPlanRegion(graph, setup.targets.front(), sourceHash);
  std::vector<ProfileRecord> records = times.list(region);
  double tolerance = setup.options.tolerance;
  const ProfileRecord *chosen = nullptr, *byEstimates = nullptr, *byRecords = nullptr, *pinned = nullptr,
                      *sensitivity = nullptr;
  auto keepFaster = [](const ProfileRecord *&best, const ProfileRecord &record) {
    if (!best || record.min < best->min)
      best = &record;
  };
  // Other records may have changed what is chosen since an earlier measurement.
  auto keepLater = [](const ProfileRecord *&last, const ProfileRecord &record) {
    if (!last || std::pair(record.time, -record.min) > std::pair(last->time, -last->min))
      last = &record;
  };
  for (const ProfileRecord &record : records) {
    if (getPlanTolerance(record) == tolerance)
      keepLater(chosen, record);
    else if (getSourcedPlanTolerance(PlanSource::estimates, record) == tolerance)
      keepLater(byEstimates, record);
    else if (getSourcedPlanTolerance(PlanSource::records, record) == tolerance)
      keepLater(byRecords, record);
    else if (record.error && *record.error <= tolerance && parsePinnedPlan(record.kernel.schedule))
      keepFaster(pinned, record);
    else if (llvm::StringRef(record.kernel.schedule).starts_with(kSensitivity))
      keepLater(sensitivity, record);
  }
  // Sensitivities that are measured afterwards make a plan that is faster than both.
  if (byEstimates && sensitivity && sensitivity->time >= byEstimates->time)
    byEstimates = nullptr;
  auto isFaster = [](const ProfileRecord &record, const ProfileRecord &than) {
    return record.min < (1 - kPlanNoise) * than.min && record.median < (1 - kPlanNoise) * than.median;
  };
  const ProfileRecord *best = nullptr, *own = chosen;
  if (byEstimates && byRecords) {
    if (!isFaster(*byRecords, *byEstimates))
      own = best = byEstimates;
    for (const ProfileRecord *record : {byEstimates, byRecords})
      times.find(region, record->kernel.schedule);
  }
  if (own && pinned && isFaster(*pinned, *own)) {
    for (const ProfileRecord *record : {own, pinned})
      times.find(region, record->kernel.schedule);
    best = pinned;
  }
  if (!best)
    return std::nullopt;
  return RecordedPlan{best->kernel.schedule, parsePinnedPlan(best->kernel.schedule).value_or(std::vector<PathPin>())};
}
