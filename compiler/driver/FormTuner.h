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

#include "compiler/driver/OpenedModel.h"

namespace tenon {

/// Runs the model with the other forms of each region in turn with what a compilation chooses, and keeps the records.
/// Region after region the best form stays, where it is faster by more than runs of the same plan differ. All runs
/// together take as many seconds as the options say, or one for each plan. Fails where the model cannot be run.
llvm::Error tuneForms(OpenedModel &model, const phases::Setup &setup, PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_FORMTUNER_H
