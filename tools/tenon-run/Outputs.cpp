//===- Outputs.cpp - what becomes of a model's outputs -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Outputs.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace tenon::run {

std::string fileName(const std::string &name) {
  // Neither hidden nor a way out of the folder.
  std::string result(name.empty() || name[0] == '.' ? 1 : 0, '_');
  result.append(name, 0, 200);
  for (char &c : result)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
          c == '_' || c == '-'))
      c = '_';
  return result;
}

Status planOutputs(const Options &options, const Model &model, OutputPlan *plan) {
  plan->files.assign(model.outputs.size(), "");
  for (const std::string &argument : options.outputs) {
    size_t index;
    std::string file;
    if (!splitNamed(argument, namesOf(model.outputs), &index, &file) || file.empty())
      return Status::make(TENON_MISUSE, "--output '%s': NAME=FILE.npy is wanted; the outputs are %s",
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
    std::string base = options.outputDir + "/" + fileName(model.outputs[i].name), file = base + ".npy";
    for (int n = 1; std::find(plan->files.begin(), plan->files.end(), file) != plan->files.end(); ++n)
      file = base + "_" + std::to_string(n) + ".npy";
    plan->files[i] = file;
  }
  return {};
}

namespace {
struct Summary {
  double min = INFINITY, max = -INFINITY, mean = 0;
  uint64_t count = 0, nans = 0;
};
} // namespace

static Summary summarise(const tenon_tensor &tensor) {
  Summary summary;
  summary.count = tenon_tensor_bytes(TENON_U8, tensor.rank, tensor.dims) * partsOf(tensor.dtype);
  double sum = 0;
  for (uint64_t i = 0; i < summary.count; ++i) {
    double value = elementAt(tensor.dtype, tensor.data, i);
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    summary.min = std::min(summary.min, value);
    summary.max = std::max(summary.max, value);
    sum += value;
  }
  summary.mean = sum / double(summary.count - summary.nans);
  return summary;
}

static constexpr uint64_t kShownElements = 6;

static void printSummary(const Model::Port &output, const tenon_tensor &tensor) {
  Summary summary = summarise(tensor);
  std::string line = output.name + "  " + typeText(tensor.dtype, tensor.dims, tensor.rank);
  if (summary.count > summary.nans)
    line += format("  min %.6g  max %.6g  mean %.6g", summary.min, summary.max, summary.mean);
  if (summary.nans)
    line += format("  nan %llu", (unsigned long long)summary.nans);
  line += "  [";
  for (uint64_t i = 0; i < std::min(summary.count, kShownElements); ++i)
    line += format(i ? ", %.6g" : "%.6g", elementAt(tensor.dtype, tensor.data, i));
  line += summary.count > kShownElements ? ", ...]" : "]";
  printf("%s\n", line.c_str());
}

static std::string summaryJson(const Model::Port &output, const tenon_tensor &tensor) {
  Summary summary = summarise(tensor);
  std::string text =
      "{\"name\":" + jsonString(output.name) + ",\"dtype\":" + jsonString(tenon_dtype_name(tensor.dtype)) +
      ",\"shape\":" + indexText(UINT64_MAX, tensor.dims, tensor.rank) +
      ",\"min\":" + jsonNumber(summary.min) + ",\"max\":" + jsonNumber(summary.max) +
      ",\"mean\":" + jsonNumber(summary.mean) + ",\"nan\":" + std::to_string(summary.nans) + ",\"first\":[";
  for (uint64_t i = 0; i < std::min(summary.count, kShownElements); ++i)
    text.append(i ? "," : "").append(jsonNumber(elementAt(tensor.dtype, tensor.data, i)));
  return text.append("]}");
}

Status writeOutputs(const Options &options, Model &model, const OutputPlan &plan) {
  std::string json;
  for (uint32_t i = 0; i < model.outputs.size(); ++i) {
    tenon_tensor tensor;
    TENON_TRY(model.output(i, &tensor));
    if (!plan.files[i].empty())
      TENON_TRY(writeNpy(plan.files[i].c_str(), tensor));
    else if (options.json)
      json.append(json.empty() ? "" : ",").append(summaryJson(model.outputs[i], tensor));
    else
      printSummary(model.outputs[i], tensor);
  }
  if (options.json)
    printf("[%s]\n", json.c_str());
  return {};
}

} // namespace tenon::run
