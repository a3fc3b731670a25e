//===- Outputs.h - what becomes of a model's outputs ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_OUTPUTS_H
#define TENON_TOOLS_TENON_RUN_OUTPUTS_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// The destination of each output, determined before the run so that an invalid name is reported early.
struct OutputPlan {
  std::vector<std::string> files; // one an output; empty: print a summary
};

Status planOutputs(const Options &options, const Model &model, OutputPlan *plan);

/// Writes files and prints summaries of the outputs of the last run.
Status writeOutputs(const Options &options, Model &model, const OutputPlan &plan);

/// Converts a name to a file name: letters, digits, '.', '_' and '-' are kept, all else becomes '_'.
std::string fileName(const std::string &name);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_OUTPUTS_H
