//===- Target.h - processors that kernels are compiled for ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_TARGET_H
#define TENON_COMPILER_BACKEND_LLVM_TARGET_H

#include "passes/cost/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A processor, in the words of LLVM and of the artifact format.
struct CpuTarget {
  std::string name;      ///< as the user says it: "host", "x86-64-v3", "aarch64"
  std::string triple;    ///< "x86_64-unknown-linux-gnu"
  std::string arch;      ///< "x86_64", "aarch64"
  std::string cpu;       ///< LLVM's -mcpu
  std::string features;  ///< LLVM's -mattr
  std::string needed;    ///< what code for it needs, as runtime/format/Target.h says it
  Machine machine = {};  ///< what choices know of it: of the host what it says, of others what is usual
  bool runsHere = false; ///< whether this machine can execute code for it

  /// Name and needs, as fmt::Section::target has them.
  std::string getSectionTarget() const { return name + "=" + needed; }
};

/// The target of that name, or nothing for a name that is none.
std::optional<CpuTarget> getCpuTarget(llvm::StringRef name);

/// Gives targets of one artifact, which share its weights, panels of the same width: the widest that one of them wants.
void sharePanels(llvm::MutableArrayRef<CpuTarget> targets);

/// The names that getCpuTarget takes.
std::vector<std::string> getCpuTargetNames();

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_TARGET_H
