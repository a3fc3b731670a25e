//===- ErrorMeter.cpp - how far a compiled model is off -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ErrorMeter.h"
#include "compiler/artifact/ArtifactFile.h"
#include "compiler/driver/FloatChoices.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/Reference.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tenon;

/// Of all that is random, in both runs.
static constexpr uint64_t kSeed = 1;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isFloat(tenon_dtype dtype) {
  return dtype == TENON_F32 || dtype == TENON_F64 || dtype == TENON_F16 || dtype == TENON_BF16;
}

static double getElement(tenon_dtype dtype, const char *data, uint64_t i) {
  auto read = [&](auto element) {
    std::memcpy(&element, data + i * sizeof(element), sizeof(element));
    return element;
  };
  auto readHalf = [&](const llvm::fltSemantics &semantics) {
    return llvm::APFloat(semantics, llvm::APInt(16, read(uint16_t()))).convertToDouble();
  };
  switch (dtype) {
  case TENON_F32:
    return read(float());
  case TENON_F16:
    return readHalf(llvm::APFloat::IEEEhalf());
  case TENON_BF16:
    return readHalf(llvm::APFloat::BFloat());
  default:
    return read(double());
  }
}

/// max abs(got - want) / max abs(want), where two infinities of one sign, or two NaN, do not differ.
static double getError(tenon_dtype gotType, const char *got, tenon_dtype wantType, const char *want, uint64_t count) {
  double difference = 0, largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double x = getElement(gotType, got, i), y = getElement(wantType, want, i);
    if (std::isfinite(y))
      largest = std::max(largest, std::abs(y));
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double distance = std::abs(x - y);
    difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
  }
  return difference == 0 ? 0 : largest == 0 ? INFINITY : difference / largest;
}

static uint64_t countDiffering(const char *got, const char *want, uint64_t count, uint64_t size) {
  uint64_t differing = 0;
  for (uint64_t i = 0; i < count; ++i)
    differing += std::memcmp(got + i * size, want + i * size, size) != 0;
  return differing;
}

/// Two digits: what lies behind them may depend on the machine that measures.
static std::string getFigure(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

static nlohmann::json toJson(double error) {
  return std::isfinite(error) ? nlohmann::json(std::strtod(getFigure(error).c_str(), nullptr)) : nlohmann::json();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static const OutputError *findLargest(const ErrorReport &report) {
  const OutputError *largest = nullptr;
  for (const OutputError &output : report.outputs)
    if (output.isFloat && output.note.empty() && (!largest || output.error > largest->error))
      largest = &output;
  return largest;
}

double ErrorReport::getLargest() const {
  const OutputError *largest = findLargest(*this);
  return largest ? largest->error : 0;
}

std::string ErrorReport::describeLargest() const {
  const OutputError *largest = findLargest(*this);
  if (!largest)
    return "";
  return getFigure(largest->error) + " of the largest element of output '" + largest->name + "', with " +
         std::to_string(numSets) + (areInputsGiven ? " given" : " generated") +
         (numSets == 1 ? " input set" : " input sets");
}

std::string ErrorReport::toJson() const {
  if (!reason.empty())
    return nlohmann::json({{"not_measured", reason}}).dump();
  nlohmann::json json;
  json["input_sets"] = numSets;
  json["inputs"] = areInputsGiven ? "given" : "generated";
  json["largest"] = ::toJson(getLargest());
  for (const OutputError &output : outputs) {
    nlohmann::json entry = {{"name", output.name}};
    if (output.isFloat)
      entry["error"] = ::toJson(output.error);
    else
      entry.update({{"differing", output.differing}, {"elements", output.count}});
    if (!output.note.empty())
      entry["note"] = output.note;
    json["outputs"].push_back(std::move(entry));
  }
  return json.dump();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::string run(const LoadedModel &model, InputSet &set, tenon_status *status = nullptr) {
  tenon_status code = TENON_INVALID;
  std::string message = model.bind(set, /*withData=*/true);
  if (message.empty()) {
    tenon_error error;
    tenon_session_set_seed(model.getSession(), kSeed);
    code = tenon_session_run(model.getSession(), &error);
    message = code == TENON_OK ? "" : LoadedModel::getText(error);
  }
  if (status)
    *status = code;
  return message;
}

std::string ErrorMeter::makeInputs(ModuleOp simplified, ArrayRef<std::string> programs, const LoadedModel &model,
                                   LoadedModel &reference) {
  if (reader) {
    llvm::Expected<std::vector<InputSet>> given = reader(model.getArtifact());
    isInputAtFault = !given;
    if (!given)
      return llvm::toString(given.takeError());
    sets = std::move(*given);
    return "";
  }
  auto meter = [&](InputSet &shapes) { return reference.measureMemory(shapes); };
  llvm::Expected<std::vector<InputSet>> made = generateInputSets(simplified, programs, meter);
  if (!made)
    return llvm::toString(made.takeError());
  sets = std::move(*made);
  return "";
}

std::string ErrorMeter::runReference(LoadedModel &reference) {
  constexpr uint64_t kMaxBytes = uint64_t(4) << 30;
  for (InputSet &set : sets) {
    if (reference.measureMemory(set).value_or(0) > kMaxBytes)
      return "the model in f64 needs more than 4 GB";
    tenon_status status;
    if (std::string error = run(reference, set, &status); !error.empty()) {
      isInputAtFault = reader && status == TENON_INVALID;
      return error;
    }
    std::vector<Result> &results = wanted.emplace_back();
    for (uint32_t i = 0; i < reference.getInfo().output_count; ++i) {
      tenon_tensor tensor;
      if (tenon_session_output(reference.getSession(), i, &tensor, nullptr) != TENON_OK)
        return "an output of the reference cannot be read";
      const char *data = static_cast<const char *>(tensor.data);
      uint64_t bytes = tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims);
      results.push_back({{tensor.dims, tensor.dims + tensor.rank}, tensor.dtype, {data, data + bytes}});
    }
  }
  return "";
}

std::string ErrorMeter::prepare(ModuleOp simplified, ArrayRef<std::string> programs, const LoadedModel &model) {
  size_t numSeeds = 0;
  simplified.walk([&](RunSeedOp) { ++numSeeds; });
  if (numSeeds > getProgramFunctions(simplified).size())
    return "the model draws random numbers several times, in an order that may differ";
  llvm::Expected<std::unique_ptr<LoadedModel>> reference = loadReference(*imported);
  imported = nullptr;
  if (!reference)
    return llvm::toString(reference.takeError());
  if (std::string error = makeInputs(simplified, programs, model, **reference); !error.empty())
    return error;
  choices = findFloatChoices(getProgramFunctions(simplified).back());
  return runReference(**reference);
}

void ErrorMeter::compare(const Result &want, const tenon_tensor &got, OutputError &output) const {
  output.isFloat = isFloat(got.dtype);
  if (ArrayRef(got.dims, got.rank) != ArrayRef(want.dims)) {
    output.note = "data decides its size, which differs";
    return;
  }
  uint64_t count = tenon_tensor_bytes(TENON_U8, got.rank, got.dims);
  const char *data = static_cast<const char *>(got.data);
  if (output.isFloat) {
    output.error = std::max(output.error, getError(got.dtype, data, want.dtype, want.bytes.data(), count));
    return;
  }
  output.count += count;
  output.differing += countDiffering(data, want.bytes.data(), count, count ? want.bytes.size() / count : 0);
}

ErrorReport ErrorMeter::measure(const ArtifactParts &parts, ModuleOp simplified, ArrayRef<std::string> programs) {
  ErrorReport report;
  report.areInputsGiven = reader != nullptr;
  auto giveUp = [&](std::string reason) {
    report.reason = std::move(reason);
    report.isInputAtFault = isInputAtFault;
    report.outputs.clear();
    return report;
  };
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(parts);
  if (!loaded)
    return giveUp(llvm::toString(loaded.takeError()));
  std::unique_ptr<LoadedModel> &model = *loaded;
  if (imported)
    whyNot = prepare(simplified, programs, *model);
  if (!whyNot.empty())
    return giveUp(whyNot);
  report.numSets = sets.size();
  // Results of launches that were kept come after the model's own outputs, and the reference has none.
  report.outputs.resize(wanted.empty() ? 0 : wanted.front().size());
  for (auto [set, results] : llvm::zip(sets, wanted)) {
    if (std::string error = run(*model, set); !error.empty())
      return giveUp(error);
    for (auto [i, output] : llvm::enumerate(report.outputs)) {
      tenon_tensor_info info;
      tenon_tensor tensor;
      if (tenon_artifact_output(model->getArtifact(), i, &info, nullptr) != TENON_OK ||
          tenon_session_output(model->getSession(), i, &tensor, nullptr) != TENON_OK)
        return giveUp("an output cannot be read");
      output.name = info.name;
      if (!choices[i].empty())
        output.note = "follows what " + choices[i] + " makes of floats, which may fall otherwise";
      compare(results[i], tensor, output);
    }
  }
  return report;
}
