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

/// Reads input_0.pb, input_1.pb... of a folder, or of another kind: as many as `wanted`. `match` says for each of
/// `wanted` which of the values belongs to it.
Status readTestData(const std::string &folder, const char *kind, const std::vector<Model::Value> &wanted,
                    std::vector<HostValue> *values, std::vector<size_t> *match);

/// Runs input_0.pb, input_1.pb... of the folder and compares with output_0.pb... Values are matched by the
/// names in them where each names a different input or output, and otherwise by their numbers.
Status runTestData(const Options &options, Model &model);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_TESTDATA_H
