//===- TestData.cpp - an ONNX test_data_set folder -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/TestData.h"

#include "tools/tenon-run/ValueFiles.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace tenon::run {

static std::string numbered(const std::string &folder, const char *kind, size_t number) {
  return folder + "/" + kind + "_" + std::to_string(number) + ".pb";
}

/// Reads input_0.pb, input_1.pb... until there is none.
static Status readAll(const std::string &folder, const char *kind, const std::vector<Model::Value> &wanted,
                      std::vector<HostValue> *values) {
  for (size_t i = 0;; ++i) {
    std::string path = numbered(folder, kind, i);
    if (access(path.c_str(), F_OK) != 0) {
      if (i != wanted.size())
        return Status::make(TENON_INVALID, "%s: is missing; the model has %zu %ss", path.c_str(), wanted.size(), kind);
      return {};
    }
    if (i == wanted.size())
      return Status::make(TENON_INVALID, "%s: the model has only %zu %ss", path.c_str(), wanted.size(), kind);
    // Which message a file holds is told by the model alone, so the numbers have to fit where kinds differ.
    values->emplace_back();
    TENON_TRY(readProto(path.c_str(), wanted[i], &values->back()));
  }
}

/// For each of the model's values, which one of a folder belongs to it.
static std::vector<size_t> matchByName(const std::vector<HostValue> &values, const std::vector<Model::Value> &wanted) {
  std::vector<size_t> match;
  for (const Model::Value &value : wanted)
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i].name == value.name && std::find(match.begin(), match.end(), i) == match.end()) {
        match.push_back(i);
        break;
      }
  if (match.size() != wanted.size()) {
    match.resize(wanted.size());
    for (size_t i = 0; i < match.size(); ++i)
      match[i] = i;
  }
  return match;
}

Status runTestData(const Options &options, Model &model) {
  const std::string &folder = options.testData;
  if (access(folder.c_str(), R_OK | X_OK) != 0)
    return Status::make(TENON_INVALID, "%s: no folder that can be read", folder.c_str());
  std::vector<HostValue> inputs, wanted;
  TENON_TRY(readAll(folder, "input", model.inputs, &inputs));
  TENON_TRY(readAll(folder, "output", model.outputs, &wanted));

  std::vector<size_t> match = matchByName(inputs, model.inputs);
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    TENON_TRY(model.bind(i, std::move(inputs[match[i]])));
  TENON_TRY(model.run());

  match = matchByName(wanted, model.outputs);
  // Every output is compared, so that one run shows all that is wrong.
  Status first;
  for (uint32_t i = 0; i < model.outputs.size(); ++i) {
    ValueView got;
    TENON_TRY(model.output(i, &got));
    Status status = compareValues(model.outputs[i].name, got, wanted[match[i]].view(), options.tolerance);
    if (!status.failed())
      continue;
    if (!first.failed())
      first = Status::make(status.code(), "%s: %s", numbered(folder, "output", match[i]).c_str(), status.message());
    else
      fprintf(stderr, "error: %s: %s\n", numbered(folder, "output", match[i]).c_str(), status.message());
  }
  TENON_TRY(std::move(first));
  if (options.json)
    printf("{\"outputs\":%zu,\"equal\":true}\n", model.outputs.size());
  else
    printf("%s: %zu of %zu outputs as wanted\n", folder.c_str(), model.outputs.size(), model.outputs.size());
  return {};
}

} // namespace tenon::run
