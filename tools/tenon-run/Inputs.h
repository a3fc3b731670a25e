//===- Inputs.h - values for a model's inputs ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_INPUTS_H
#define TENON_TOOLS_TENON_RUN_INPUTS_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Generates or reads all inputs as the options specify, one value for each input of the model.
Status makeInputs(const Options &options, const Model &model, std::vector<HostValue> *values);

/// Binds the shapes of all inputs; for those that are read from files also the values.
Status bindShapes(const Options &options, Model &model);

/// Fills a tensor with numbers that depend only on `seed`, and are equal on every machine: floating-point numbers in
/// [-1, 1], integers and booleans 0 and 1, which are valid as masks and as most indices.
void fillRandom(HostTensor &tensor, uint64_t seed);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_INPUTS_H
