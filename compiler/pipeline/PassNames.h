//===- PassNames.h - the passes of a compilation, by name ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_PASSNAMES_H
#define TENON_COMPILER_PIPELINE_PASSNAMES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace tenon {

/// Lists the passes of a compilation without duplicates, in the order in which they first run. `buildBackend` adds
/// those of the backend.
std::vector<std::string> getPassNames(llvm::function_ref<void(mlir::OpPassManager &)> buildBackend);

/// Returns the few of `names` that are most similar to `name`, best first.
std::vector<std::string> getClosest(llvm::StringRef name, std::vector<std::string> names);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PASSNAMES_H
