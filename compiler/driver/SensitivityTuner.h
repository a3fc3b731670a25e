//===- SensitivityTuner.h - measure what regions' errors do to outputs --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With --tune a tolerance that not all operations can spend is distributed by what outputs feel of each region. Of that
// there are records of the whole model, too, so that other compilations of it go by the same.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_SENSITIVITYTUNER_H
#define TENON_COMPILER_DRIVER_SENSITIVITYTUNER_H

#include "compiler/driver/PathExplorer.h"

namespace tenon {

/// Measures the sensitivity of outputs to each region that may take an inexact path, and chooses paths by it. Returns
/// the new choice and keeps the records if it is faster than `choice`, which was limited by the tolerance; otherwise
/// none.
llvm::Expected<std::optional<Choice>> chooseBySensitivity(OpenedModel &model, const Choice &choice,
                                                          const phases::Setup &setup, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_SENSITIVITYTUNER_H
