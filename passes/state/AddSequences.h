//===- AddSequences.h - programs for runs of several sequences ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tenon-add-sequences` copies main, whose batch is 1, for runs of several
// sequences. What does not depend on the past of one of them stays one operation,
// on values that have the sequences end to end along a dimension, so that weights
// are read once. Everything else is there once for each sequence, with states and
// symbols of its own. No operation is beyond that: those that are not known to
// treat each sequence alone are copied.
//
// Inputs and results get the number of sequences in place of a first dimension of 1.
// An input that grows with the past, as a mask does, has as many elements in that
// dimension as the longest sequence needs, and each reads the first ones of its own.
//
// Runs after `tenon-pair-states`, and after the facts are applied: an input's
// dimension is then an expression over the live rows wherever it has to be.
//
// ```mlir
// // counts=2
// tenon.state @past : tensor<512x8xf32> live "n"
// func.func @main(%new: tensor<1x8xf32>) -> tensor<1x8xf32>
//   %0 = tenon.contract %new, %weight
//   tenon.state.update @past at #tenon.shape<n> extends, %0
// // ==> in addition
// tenon.state @past.1 : tensor<512x8xf32> live "n.1" sequence 1 of @past
// func.func @"main.sequences=2"(%new: tensor<2x8xf32>) -> tensor<2x8xf32>
//   %0 = tenon.contract %new, %weight
//   %1 = tenon.slice %0 {starts = #tenon.shape<0, 0>}
//   tenon.state.update @past at #tenon.shape<n> extends, %1
//   %2 = tenon.slice %0 {starts = #tenon.shape<1, 0>}
//   tenon.state.update @past.1 at #tenon.shape<n.1> extends, %2
// ```
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_STATE_ADDSEQUENCES_H
#define TENON_PASSES_STATE_ADDSEQUENCES_H

#include "mlir/Pass/Pass.h"

namespace tenon {

/// Creates the pass that adds a program for runs of each number of sequences, from 2 on.
std::unique_ptr<mlir::Pass> createAddSequences(llvm::ArrayRef<int64_t> counts);
/// Registers it, with an option `counts`.
void registerAddSequences();

} // namespace tenon

#endif // TENON_PASSES_STATE_ADDSEQUENCES_H
