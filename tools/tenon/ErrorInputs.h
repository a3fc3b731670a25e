//===- ErrorInputs.h - inputs from a folder -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_ERRORINPUTS_H
#define TENON_TOOLS_TENON_ERRORINPUTS_H

#include "compiler/driver/InputSets.h"

namespace tenon {

/// Reads the input sets of a folder for an artifact: a file for each input, named as by `tenon-run --output-dir` and in
/// the formats of `--input` (NAME.npy or NAME.pb). Each subfolder with files is a set; if there is none, the folder
/// itself is the only set. An error of category `invalid` names the file.
llvm::Expected<std::vector<InputSet>> readErrorInputs(const std::string &folder, const tenon_artifact *artifact);

} // namespace tenon

#endif // TENON_TOOLS_TENON_ERRORINPUTS_H
