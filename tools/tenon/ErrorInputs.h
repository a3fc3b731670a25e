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

/// Reads the input sets of a folder for an artifact: of each input its file, as `tenon-run --output-dir` names it and
/// `--input` takes it (NAME.npy, or NAME.pb). Each folder in it that has files of its own is a set; where there is
/// none, the folder is the only one. An error of category `invalid` says which file is at fault.
llvm::Expected<std::vector<InputSet>> readErrorInputs(const std::string &folder, const tenon_artifact *artifact);

} // namespace tenon

#endif // TENON_TOOLS_TENON_ERRORINPUTS_H
