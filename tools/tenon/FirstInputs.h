//===- FirstInputs.h - what a text begins with beside its tokens ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_FIRSTINPUTS_H
#define TENON_TOOLS_TENON_FIRSTINPUTS_H

#include "tools/tenon/Generator.h"

namespace tenon {

/// Checks arguments NAME=FILE, whose files are read when the model is known.
Status checkInputArguments(const std::vector<std::string> &arguments);

/// Sets the input `input_features` of a generator to the spectrogram of a WAV file, of which `secondsLeft` do not fit.
/// Fails if the model has no such input, or if it cannot hear the file.
Status readRecording(const std::string &path, Generator &generator, double &secondsLeft);

/// Sets the other inputs of a generator from files, NAME=FILE each. Fails if an input is unknown or has no file.
Status readInputs(const std::vector<std::string> &arguments, Generator &generator);

} // namespace tenon

#endif // TENON_TOOLS_TENON_FIRSTINPUTS_H
