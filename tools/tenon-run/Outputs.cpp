//===- Outputs.cpp - what becomes of a model's outputs -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Outputs.h"

#include "tools/tenon-run/Summary.h"
#include "tools/tenon-run/ValueFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace tenon::run {

std::string fileName(const std::string &name) {
  // Neither hidden nor a way out of the folder.
  std::string result(name.empty() || name[0] == '.' ? 1 : 0, '_');
  result.append(name, 0, 200);
  for (char &c : result)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
          c == '-'))
      c = '_';
  return result;
}

Status planOutputs(const Options &options, const Model &model, OutputPlan *plan) {
  plan->files.assign(model.outputs.size(), "");
  for (const std::string &argument : options.outputs) {
    size_t index;
    std::string file;
    if (!splitNamed(argument, namesOf(model.outputs), &index, &file) || file.empty())
      return Status::make(TENON_MISUSE, "--output: expected NAME=FILE.npy, got '%s'; the outputs are %s",
                          argument.c_str(), listNames(model.outputs).c_str());
    plan->files[index] = file;
  }
  if (options.outputDir.empty())
    return {};
  if (mkdir(options.outputDir.c_str(), 0777) != 0 && errno != EEXIST)
    return Status::make(TENON_INVALID, "%s: cannot be made: %s", options.outputDir.c_str(), strerror(errno));
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    if (!plan->files[i].empty())
      continue;
    std::string base = options.outputDir + "/" + fileName(model.outputs[i].name);
    const char *end = model.outputs[i].isSequence() ? "" : ".npy";
    std::string file = base + end;
    for (int n = 1; std::find(plan->files.begin(), plan->files.end(), file) != plan->files.end(); ++n)
      file = base + "_" + std::to_string(n) + end;
    plan->files[i] = file;
  }
  return {};
}

/// Writes the value of an output to its file, adds its summary to `json`, or prints it.
static Status writeOutput(const Options &options, const std::string &name, const std::string &file,
                          const ValueView &value, std::string &json) {
  // A file cannot say that there is nothing.
  if (!file.empty() && value.has)
    return writeValue(file, value);
  if (options.json)
    json.append(json.empty() ? "" : ",").append(summaryJson(name, value));
  else
    fputs(summaryText(name, value).c_str(), stdout);
  return {};
}

Status writeOutputs(const Options &options, Model &model, const OutputPlan &plan) {
  std::string json;
  for (uint32_t i = 0; i < model.outputs.size(); ++i) {
    ValueView value;
    TENON_TRY(model.output(i, &value));
    TENON_TRY(writeOutput(options, model.outputs[i].name, plan.files[i], value, json));
  }
  if (options.json)
    printf("[%s]\n", json.c_str());
  return {};
}

} // namespace tenon::run
