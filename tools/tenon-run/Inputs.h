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

/// Makes or reads all inputs as the options say, one value for each input of the model.
Status makeInputs(const Options &options, const Model &model, std::vector<HostValue> *values);

/// Binds the shapes of all inputs, of those alone that come from files also the values.
Status bindShapes(const Options &options, Model &model);

/// Fills a tensor with numbers that depend on `seed` alone, the same on every machine: floating point from
/// -1 to 1, integers and booleans 0 and 1, which are valid as masks, and as indices into almost anything.
void fillRandom(HostTensor &tensor, uint64_t seed);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_INPUTS_H
