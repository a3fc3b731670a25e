//===- TestData.h - an ONNX test_data_set folder -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_TESTDATA_H
#define TENON_TOOLS_TENON_RUN_TESTDATA_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Reads the files input_0.pb, input_1.pb... of a folder, or those of another kind: one for each of `wanted`. `match`
/// maps each of `wanted` to a value.
Status readTestData(const std::string &folder, const char *kind, const std::vector<Model::Value> &wanted,
                    std::vector<HostValue> *values, std::vector<size_t> *match);

/// Runs the folder's input_0.pb, input_1.pb... and compares the results with output_0.pb... Values are matched by name
/// if each names a different input or output, otherwise by number.
Status runTestData(const Options &options, Model &model);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_TESTDATA_H
