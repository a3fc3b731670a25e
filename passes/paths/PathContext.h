//===- PathContext.h - what a choice of paths goes by ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHCONTEXT_H
#define TENON_PASSES_PATHS_PATHCONTEXT_H

#include "passes/paths/Sensitivity.h"
#include <memory>

namespace tenon {

class PathErrors;
class PathPins;
class PathSelection;
class PathSpace;
class PathTimes;

/// The inputs of `tenon-choose-forms` and `tenon-choose-paths` besides the IR, and the reports that they write. Each
/// may be null.
struct PathContext {
  std::shared_ptr<PathErrors> errors;                 ///< that were measured before
  std::shared_ptr<PathTimes> times;                   ///< of real runs
  std::shared_ptr<PathPins> pins;                     ///< what a user demands or rules out
  std::shared_ptr<const Sensitivities> sensitivities; ///< what regions' errors do to outputs
  std::shared_ptr<PathSelection> selection;           ///< gets the paths that are chosen
  std::shared_ptr<PathSpace> space;                   ///< gets all that may be chosen
  std::shared_ptr<PathSpace> forms;                   ///< gets all forms that may be chosen before
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHCONTEXT_H
