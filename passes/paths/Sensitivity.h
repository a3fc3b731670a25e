//===- Sensitivity.h - what outputs feel of a region's errors ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_SENSITIVITY_H
#define TENON_PASSES_PATHS_SENSITIVITY_H

#include "llvm/ADT/StringMap.h"
#include <string>

namespace tenon {

/// The largest error of an output if all operations of a region take a path and all others are as exact as possible.
struct Sensitivity {
  std::string path;
  double outputError = 0;
};

/// Sensitivities by region fingerprint. To first order, errors of outputs are linear in those of operations: the error
/// of an operation reaches an output multiplied by outputError divided by the root of the sum of squared errors that
/// all operations of the region have with the path.
using Sensitivities = llvm::StringMap<Sensitivity>;

} // namespace tenon

#endif // TENON_PASSES_PATHS_SENSITIVITY_H
