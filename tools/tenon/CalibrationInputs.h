//===- CalibrationInputs.h - what weights are calibrated with -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_CALIBRATIONINPUTS_H
#define TENON_TOOLS_TENON_CALIBRATIONINPUTS_H

#include "compiler/driver/InputSets.h"

namespace tenon {

/// The inputs of --calibrate for an artifact: those of folders, as ErrorInputs.h reads them, and texts, which the
/// tokenizer of `modelFolder` makes tokens of, in windows of 512 tokens or as many as the model takes. An error of
/// category `invalid` says what is wrong with the data, one of `unsupported` that the model takes no text.
llvm::Expected<std::vector<InputSet>> readCalibration(llvm::ArrayRef<std::string> paths, const std::string &modelFolder,
                                                      const tenon_artifact *artifact);

} // namespace tenon

#endif // TENON_TOOLS_TENON_CALIBRATIONINPUTS_H
