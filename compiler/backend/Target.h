//===- Target.h - machines that kernels are compiled for -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_TARGET_H
#define TENON_COMPILER_BACKEND_TARGET_H

#include "passes/cost/Machine.h"
#include <string>

namespace tenon {

class Backend;

/// A machine that kernels are compiled for, described in the terms of LLVM and of the artifact format.
struct Target {
  const Backend *backend = nullptr; ///< that knows the target and generates its code
  std::string name;                 ///< the value of --target: "host", "x86-64-v3"
  std::string triple;               ///< "x86_64-unknown-linux-gnu"
  std::string arch;                 ///< "x86_64", "aarch64"
  std::string cpu;                  ///< LLVM's -mcpu
  std::string features;             ///< LLVM's -mattr
  std::string needed;               ///< the features that its code requires, as runtime/format/Target.h writes them
  Machine machine = {};             ///< the cost model: measured on the host, typical of other targets
  std::string tuneCpu = {};         ///< LLVM's -mtune, where it is another processor than cpu
  bool runsHere = false;            ///< true if the machine that compiles can execute the code
  bool roundsEachStep = false;      ///< sums are added in their order, and products are rounded before they are added:
                                    ///< results are bitwise equal, whatever instructions `features` has

  /// Returns the name and the required features in the form of fmt::Section::target.
  std::string getSectionTarget() const { return name + "=" + needed; }
};

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_TARGET_H
