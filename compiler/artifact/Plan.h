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

/// A plan as bytes, and the kernels that it launches, in the order of its kernel table.
struct SerializedPlan {
  std::string bytes;
  std::vector<std::string> kernels;
};

/// Writes a program whose activations have their places as FlatBuffers, and adds its weights to `weights`.
/// Fails with a diagnostic where a type has no place in the format.
llvm::FailureOr<SerializedPlan> serializePlan(plan::ProgramOp program, llvm::StringRef modelName,
                                              WeightSection &weights);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_PLAN_H
