//===- PlanRecords.h - records of whole models ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model, too, is a region that has records. Its schedule says which paths its operations take.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_PLANRECORDS_H
#define TENON_COMPILER_DRIVER_PLANRECORDS_H

#include "compiler/driver/Phases.h"

namespace tenon {

/// The relative variation of runs of the same plan.
inline constexpr double kPlanNoise = 0.02;

/// The model for a target.
PathRegion getPlanRegion(const phases::Graph &graph, const Target &target, uint64_t sourceHash);

/// Returns the schedule name for paths that were chosen within a tolerance: "plan within 1e-05 0123456789abcdef".
std::string nameChosenPlan(const PathSelection &selection, const Target &target, double tolerance);
/// Returns the tolerance of such a record; none for any other record.
std::optional<double> getPlanTolerance(const ProfileRecord &record);

/// What chooses the paths of a plan.
enum class PlanSource { estimates, records };
/// Returns the schedule name for paths that estimates alone, or records of single operations, choose within a
/// tolerance: "plan by estimates within 1e-05 0123456789abcdef". A model was run with both in turn, so these times can
/// be compared.
std::string nameSourcedPlan(PlanSource source, const PathSelection &selection, const Target &target, double tolerance);
/// Returns the tolerance of such a record; none for any other record.
std::optional<double> getSourcedPlanTolerance(PlanSource source, const ProfileRecord &record);

/// Returns the schedule name for paths that are given for each region: "plan of 0123456789abcdef=winograd-4 ...". The
/// pins name regions.
std::string namePinnedPlan(llvm::ArrayRef<PathPin> pins);
/// Parses its pins; none if the schedule is of another kind, or names a path that does not exist.
std::optional<std::vector<PathPin>> parsePinnedPlan(llvm::StringRef schedule);

/// Returns the schedule name for a model in which one region takes a path and all others are as exact as possible:
/// "sensitivity to 0123456789abcdef=bf16_rounded". Its record has the error of this plan.
std::string nameSensitivity(const PathPin &pin);
/// Returns the recorded sensitivities of a model; null if there are none. Marks the records as used.
std::shared_ptr<const Sensitivities> findSensitivities(const PathRegion &model, RecordedTimes &times);

/// Whether a schedule or a record is that of a plan.
bool isPlanSchedule(llvm::StringRef schedule);
bool isPlanRecord(const ProfileRecord &record);

/// A plan that records of whole models prefer to that of the records of single operations.
struct RecordedPlan {
  std::string schedule;
  std::vector<PathPin> pins; ///< none for the plan of the estimates
};

/// Returns the fastest plan whose records say that it is exact enough, and faster than the plan chosen by the records
/// of single operations; none if there is no such record. The plan of the estimates need not be faster: the other one
/// has to be, or tuning would make some models slower.
std::optional<RecordedPlan> findFasterPlan(const phases::Graph &graph, const phases::Setup &setup, RecordedTimes &times,
                                           uint64_t sourceHash);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_PLANRECORDS_H
