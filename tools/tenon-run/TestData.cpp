//===- TestData.cpp - an ONNX test_data_set folder -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/TestData.h"

#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/JsonReader.h"
#include "tools/tenon-run/ValueFiles.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace tenon::run {

static std::string numbered(const std::string &folder, const char *kind, size_t number) {
  return folder + "/" + kind + "_" + std::to_string(number) + ".pb";
}

/// Reads input_0.pb, input_1.pb... until there is no further file.
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
    // Only the model determines which message a file contains, so the numbers must match if kinds differ.
    values->emplace_back();
    TENON_TRY(readProto(path.c_str(), wanted[i], &values->back()));
  }
}

/// Returns, for each of the model's values, the index of the matching value of a folder.
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

Status readTestData(const std::string &folder, const char *kind, const std::vector<Model::Value> &wanted,
                    std::vector<HostValue> *values, std::vector<size_t> *match) {
  TENON_TRY(readAll(folder, kind, wanted, values));
  *match = matchByName(*values, wanted);
  return {};
}

/// Reads a small file; returns an empty text if there is none.
static std::string readText(const std::string &path) {
  constexpr size_t kMaxBytes = 1 << 20;
  std::string text;
  if (FILE *file = fopen(path.c_str(), "rb")) {
    char block[4096];
    while (size_t count = fread(block, 1, sizeof block, file)) {
      text.append(block, count);
      if (text.size() > kMaxBytes)
        break;
    }
    fclose(file);
  }
  return text;
}

/// Returns the user's tolerance; otherwise that of data.json in the folder or beside it; otherwise the tolerance that
/// the artifact was compiled with.
static Tolerance chooseTolerance(const Options &options, const Model &model) {
  Tolerance tolerance = options.tolerance;
  if (tolerance.rule == Tolerance::byElement)
    return tolerance;
  for (const char *name : {"/data.json", "/../data.json"}) {
    std::string text = readText(options.testData + name);
    std::optional<double> relative = findJsonNumber(text, "rtol"), absolute = findJsonNumber(text, "atol");
    if (!relative && !absolute)
      continue;
    tolerance.rule = Tolerance::byElement;
    tolerance.relative = std::max(0.0, relative.value_or(tolerance.relative));
    tolerance.absolute = std::max(0.0, absolute.value_or(tolerance.absolute));
    return tolerance;
  }
  size_t size = 0;
  const char *metadata = tenon_artifact_metadata(model.artifact, &size);
  if (std::optional<double> compiled = findJsonNumber({metadata, size}, "tolerance"); compiled && *compiled >= 0)
    tolerance.ofLargest = *compiled;
  return tolerance;
}

namespace {
/// What came of one output.
struct Outcome {
  std::string name;
  bool matches;
  Difference difference;
};
} // namespace

static void printOutcomes(const Options &options, const std::vector<Outcome> &outcomes) {
  size_t matching = 0;
  for (const Outcome &outcome : outcomes)
    matching += outcome.matches;
  if (!options.json) {
    for (const Outcome &outcome : outcomes)
      if (outcome.difference.isMeasured)
        printf("  %s: largest error %.2g of the largest element\n", outcome.name.c_str(), outcome.difference.error);
    printf("%s: %zu of %zu outputs match\n", options.testData.c_str(), matching, outcomes.size());
    return;
  }
  printf("{\"outputs\":%zu,\"equal\":%s,\"results\":[", outcomes.size(),
         matching == outcomes.size() ? "true" : "false");
  for (const Outcome &outcome : outcomes) {
    printf("%s{\"name\":%s,\"matches\":%s", &outcome == outcomes.data() ? "" : ",", jsonString(outcome.name).c_str(),
           outcome.matches ? "true" : "false");
    if (outcome.difference.isMeasured)
      printf(",\"error\":%s,\"wrong\":%llu,\"elements\":%llu", jsonNumber(outcome.difference.error).c_str(),
             (unsigned long long)outcome.difference.wrong, (unsigned long long)outcome.difference.count);
    printf("}");
  }
  printf("]}\n");
}

Status runTestData(const Options &options, Model &model) {
  const std::string &folder = options.testData;
  if (access(folder.c_str(), R_OK | X_OK) != 0)
    return Status::make(TENON_INVALID, "%s: no folder that can be read", folder.c_str());
  std::vector<HostValue> inputs, wanted;
  std::vector<size_t> match, wantedMatch;
  TENON_TRY(readTestData(folder, "input", model.inputs, &inputs, &match));
  TENON_TRY(readTestData(folder, "output", model.outputs, &wanted, &wantedMatch));
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    TENON_TRY(model.bind(i, std::move(inputs[match[i]])));
  TENON_TRY(model.run());

  Tolerance tolerance = chooseTolerance(options, model);
  // Every output is compared, so that one run shows all mismatches.
  Status first;
  std::vector<Outcome> outcomes;
  for (uint32_t i = 0; i < model.outputs.size(); ++i) {
    ValueView got;
    TENON_TRY(model.output(i, &got));
    Difference difference;
    Status status = compareValues(model.outputs[i].name, got, wanted[wantedMatch[i]].view(), tolerance, &difference);
    outcomes.push_back({model.outputs[i].name, !status.failed(), difference});
    if (!status.failed())
      continue;
    std::string message = numbered(folder, "output", wantedMatch[i]) + ": " + status.message();
    if (first.failed())
      printError(message.c_str());
    else
      first = Status::make(status.code(), "%s", message.c_str());
  }
  printOutcomes(options, outcomes);
  return first;
}

} // namespace tenon::run
