//===- FormTuner.h - measure the forms of a model's graph -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What forms of a graph differ by is in their neighbours as much as in themselves: a slice is free or a copy, an
// epilogue is lost. So the whole model is measured with each of them, and the records are those of plans.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_FORMTUNER_H
#define TENON_COMPILER_DRIVER_FORMTUNER_H

#include "compiler/driver/PathExplorer.h"

namespace tenon {

/// Runs the model with alternative forms of each region in turn, those that cost least by estimate first, and records
/// the times. For each region, the fastest form is kept if it is faster by more than the variation of repeated runs.
/// Takes about the seconds in the options, compilations included, or as long as one form takes. Fails if the model
/// cannot be run.
llvm::Error tuneForms(PathExplorer &explorer, const phases::Setup &setup, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_FORMTUNER_H
