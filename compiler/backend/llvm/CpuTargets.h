//===- CpuTargets.h - processors that kernels are compiled for ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_CPUTARGETS_H
#define TENON_COMPILER_BACKEND_LLVM_CPUTARGETS_H

#include "compiler/backend/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// Returns the target of that name; none if there is none.
std::optional<Target> getCpuTarget(llvm::StringRef name);

/// Gives the targets of an artifact, which share its weights, the same panel width: the largest that one of them
/// requests.
void sharePanels(llvm::MutableArrayRef<Target> targets);

/// The names that getCpuTarget takes.
std::vector<std::string> getCpuTargetNames();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_CPUTARGETS_H
