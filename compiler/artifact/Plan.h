//===- Plan.h - the plan section ------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_PLAN_H
#define TENON_COMPILER_ARTIFACT_PLAN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace tenon {

namespace plan {
class ProgramOp;
}
class WeightSection;

/// A serialized plan, and the kernels that it launches, in the order of its kernel table.
struct SerializedPlan {
  std::string bytes;
  std::vector<std::string> kernels;
};

/// Serializes a program with offsets as FlatBuffers, and adds its weights to `weights`. Fails with a diagnostic if the
/// format lacks a type.
llvm::FailureOr<SerializedPlan> serializePlan(plan::ProgramOp program, llvm::StringRef modelName,
                                              WeightSection &weights);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_PLAN_H
