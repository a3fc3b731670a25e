//===- KernelResults.h - what kernels of the compiled model make ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_KERNELRESULTS_H
#define TENON_TOOLS_TENON_DEBUG_KERNELRESULTS_H

#include "tools/tenon/debug/Comparison.h"

namespace tenon::debug {

/// The result of a launch, which is in memory however operations are fused.
struct KernelResult {
  std::string kernel; ///< "k1_contract"
  std::string nodes;  ///< "fc2 + act2"
  std::string value;  ///< the one of the reference that it is most like; empty: none has as many elements
  std::string type;
  ValueError error;
  double allowed = 0;
  bool diverges = false;
};

/// Compiles the model with the results of its kernels as outputs, and compares each with the values of the kernel's
/// nodes: it is one of them, in an unknown layout, so elements are compared regardless of their order. Empty if the
/// model has programs for several sizes or targets.
std::vector<KernelResult> compareKernels(Comparison &comparison, const Captured &want);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_KERNELRESULTS_H
