//===- ErrorMeter.cpp - how far a compiled model is off -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ErrorMeter.h"
#include "compiler/driver/FloatChoices.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/NamedValues.h"
#include "compiler/driver/Reference.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>

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

/// Returns max abs(got - want) / max abs(want), where infinities of the same sign, or two NaN, count as equal.
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

static int64_t getInteger(tenon_dtype dtype, const char *data, uint64_t i) {
  if (dtype == TENON_I64) {
    int64_t element;
    std::memcpy(&element, data + i * sizeof element, sizeof element);
    return element;
  }
  int32_t element;
  assert(dtype == TENON_I32 && "places are of these types");
  std::memcpy(&element, data + i * sizeof element, sizeof element);
  return element;
}

/// Returns max abs(scores[got] - scores[want]) / 2 / max abs(scores) over places along a dimension of the scores.
/// Infinite where there is no such place. Scores that are equal, or both NaN, have no distance.
static double getScoreError(ArrayRef<int64_t> dims, int64_t axis, ArrayRef<double> scores, uint64_t count,
                            llvm::function_ref<int64_t(uint64_t)> got, llvm::function_ref<int64_t(uint64_t)> want) {
  assert(axis >= 0 && axis < static_cast<int64_t>(dims.size()) && "places are along a dimension of the scores");
  uint64_t size = dims[axis], inner = 1, outer = 1;
  for (auto [i, dim] : llvm::enumerate(dims))
    (static_cast<int64_t>(i) < axis ? outer : inner) *= static_cast<int64_t>(i) == axis ? 1 : dim;
  uint64_t places = outer * inner ? count / (outer * inner) : 0;
  double difference = 0, largest = 0;
  for (double score : scores)
    if (std::isfinite(score))
      largest = std::max(largest, std::abs(score));
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t line = i / (places * inner), column = i % inner;
    uint64_t mine = got(i), theirs = want(i);
    if (mine == theirs)
      continue;
    if (mine >= size || theirs >= size)
      return INFINITY;
    double x = scores[(line * size + mine) * inner + column], y = scores[(line * size + theirs) * inner + column];
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double distance = std::abs(x - y);
    difference = std::isnan(distance) ? INFINITY : std::max(difference, distance);
  }
  return difference == 0 ? 0 : largest == 0 ? INFINITY : difference / 2 / largest;
}

static uint64_t countDiffering(const char *got, const char *want, uint64_t count, uint64_t size) {
  uint64_t differing = 0;
  for (uint64_t i = 0; i < count; ++i)
    differing += std::memcmp(got + i * size, want + i * size, size) != 0;
  return differing;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Runs the inputs that come before those of a set, in every second slot, so that sequences have texts of different
/// lengths.
static std::string runBefore(const LoadedModel &model, InputSet &set, tenon_status &code) {
  tenon_error error;
  for (uint32_t slot = 0; slot < set.sequences; slot += 2) {
    code = TENON_INVALID;
    if (std::string message = llvm::toString(model.bind(*set.before, /*withData=*/true, slot)); !message.empty())
      return message;
    code = slot == 0 ? model.run(&error) : model.goOn(&error);
    if (code != TENON_OK)
      return LoadedModel::getText(error);
  }
  return "";
}

static std::string run(const LoadedModel &model, InputSet &set, tenon_status *status = nullptr) {
  tenon_status code = TENON_INVALID;
  tenon_session_set_seed(model.getSession(), kSeed);
  std::string message = set.before ? runBefore(model, set, code) : "";
  if (message.empty())
    message = llvm::toString(model.bind(set, /*withData=*/true));
  if (message.empty()) {
    tenon_error error;
    code = set.before ? model.goOn(&error) : model.run(&error);
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
  auto meter = [&](InputSet &shapes) { return reference.measureActivations(shapes); };
  llvm::Expected<std::vector<InputSet>> made =
      generateInputSets(simplified, programs, meter, [&](InputSet &inputs) { return run(reference, inputs).empty(); });
  if (!made)
    return llvm::toString(made.takeError());
  sets = std::move(*made);
  return "";
}

std::string ErrorMeter::runReference(LoadedModel &reference, Results &all, bool mayBeginSessions) {
  constexpr uint64_t kMaxBytes = uint64_t(4) << 30;
  for (InputSet &set : sets) {
    std::optional<tenon_memory> memory = reference.measureMemory(set);
    if (memory && memory->total > kMaxBytes)
      return "the model in f64 needs more than 4 GB";
    tenon_status status;
    std::string error = run(reference, set, &status);
    // States may have no room for both runs, or inputs may have to have as many elements as there are rows.
    if (!error.empty() && mayBeginSessions && std::exchange(set.before, nullptr))
      error = run(reference, set, &status);
    if (!error.empty()) {
      isInputAtFault = reader && status == TENON_INVALID;
      return error;
    }
    std::vector<Result> &results = all.emplace_back();
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

/// Returns the largest unit roundoff of the f16 or bf16 results in the model; 0 if there are none.
static double findRoundoff(ModuleOp imported) {
  double largest = 0;
  imported.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isReducedPrecision(type) && !isa<WeightOp>(op) && !op->hasTrait<DataMovement>()) {
        auto element = cast<FloatType>(getElementTypeOrSelf(type));
        largest = std::max(largest, std::ldexp(1.0, -static_cast<int>(element.getFPMantissaWidth())));
      }
  });
  return largest;
}

/// Adds the scores of integers to the results of the model that becomes the reference.
void ErrorMeter::addScores() {
  SmallVector<func::FuncOp> functions = getProgramFunctions(*imported);
  if (functions.empty())
    return;
  func::FuncOp main = functions.back();
  for (const std::optional<ScoredPlaces> &places : findScoredPlaces(main)) {
    scores.emplace_back();
    size_t output = scores.size() - 1, added = main.getNumResults();
    Type element = getElementTypeOrSelf(main.getResultTypes()[output]);
    bool isRead = element.isSignlessInteger(64) || element.isSignlessInteger(32);
    if (places && isRead && succeeded(addOutput(main, places->scores, "scores of output " + std::to_string(output))))
      scores.back() = {added, places->axis};
  }
}

/// If the second reference fails, which it may although the first one works, only the unit roundoff of the types is
/// known.
void ErrorMeter::measureOwnErrors(OwningOpRef<ModuleOp> rounded) {
  ownErrors.assign(wanted.front().size(), 0);
  llvm::Expected<std::unique_ptr<LoadedModel>> reference =
      loadReference(*rounded, target, /*roundsReducedPrecision=*/true, kernels.get());
  if (!reference)
    return llvm::consumeError(reference.takeError());
  Results results;
  if (!runReference(**reference, results, /*mayBeginSessions=*/false).empty())
    return;
  for (auto [mine, exact] : llvm::zip(results, wanted))
    for (auto [own, x, y] : llvm::zip(ownErrors, mine, exact))
      if (isFloat(x.dtype) && x.dims == y.dims)
        own = std::max(own, getError(x.dtype, x.bytes.data(), y.dtype, y.bytes.data(),
                                     tenon_tensor_bytes(TENON_U8, x.dims.size(), x.dims.data())));
}

std::string ErrorMeter::prepare(ModuleOp simplified, ArrayRef<std::string> programs, const LoadedModel &model) {
  size_t numSeeds = 0;
  simplified.walk([&](RunSeedOp) { ++numSeeds; });
  if (numSeeds > getProgramFunctions(simplified).size())
    return "the model draws random numbers several times, in an order that may differ";
  addScores();
  roundoff = findRoundoff(*imported);
  OwningOpRef<ModuleOp> rounded = roundoff > 0 ? imported->clone() : ModuleOp();
  llvm::Expected<std::unique_ptr<LoadedModel>> reference =
      loadReference(*imported, target, /*roundsReducedPrecision=*/false, kernels.get());
  imported = nullptr;
  if (!reference)
    return llvm::toString(reference.takeError());
  if (std::string error = makeInputs(simplified, programs, model, **reference); !error.empty())
    return error;
  func::FuncOp general = getProgramFunctions(simplified).back();
  choices = findFloatChoices(general);
  scoringOutputs = findScores(general);
  std::string error = runReference(**reference, wanted, /*mayBeginSessions=*/true);
  if (error.empty() && rounded && !wanted.empty())
    measureOwnErrors(std::move(rounded));
  return error;
}

void ErrorMeter::compare(const Result &want, const Result *scores, int64_t axis, const tenon_tensor &got,
                         OutputError &output) const {
  output.isFloat = isFloat(got.dtype);
  if (ArrayRef(got.dims, got.rank) != ArrayRef(want.dims)) {
    output.note = "data decides its size, which differs";
    return;
  }
  uint64_t count = tenon_tensor_bytes(TENON_U8, got.rank, got.dims);
  const char *data = static_cast<const char *>(got.data);
  if (output.isFloat) {
    output.error = std::max(output.error, getError(got.dtype, data, want.dtype, want.bytes.data(), count));
    if (output.own > 0 || got.dtype == TENON_F16 || got.dtype == TENON_BF16)
      output.roundoff = roundoff;
    return;
  }
  output.count += count;
  output.differing += countDiffering(data, want.bytes.data(), count, count ? want.bytes.size() / count : 0);
  if (!scores)
    return;
  std::vector<double> values(tenon_tensor_bytes(TENON_U8, scores->dims.size(), scores->dims.data()));
  for (auto [i, value] : llvm::enumerate(values))
    value = getElement(scores->dtype, scores->bytes.data(), i);
  double error = getScoreError(
      scores->dims, axis, values, count, [&](uint64_t i) { return getInteger(got.dtype, data, i); },
      [&](uint64_t i) { return getInteger(want.dtype, want.bytes.data(), i); });
  output.scoreError = std::max(output.scoreError.value_or(0), error);
  output.roundoff = roundoff;
}

static std::string getOutputName(const LoadedModel &model, size_t output) {
  tenon_tensor_info info;
  return tenon_artifact_output(model.getArtifact(), output, &info, nullptr) == TENON_OK ? info.name : "";
}

ErrorReport ErrorMeter::measure(const LoadedModel &model, ModuleOp simplified, ArrayRef<std::string> programs) {
  ErrorReport report;
  report.areInputsGiven = reader != nullptr;
  auto giveUp = [&](std::string reason) {
    report.reason = std::move(reason);
    report.isInputAtFault = isInputAtFault;
    report.outputs.clear();
    return report;
  };
  if (imported)
    whyNot = prepare(simplified, programs, model);
  if (!whyNot.empty())
    return giveUp(whyNot);
  report.numSets = sets.size();
  report.goesOn = llvm::any_of(sets, [](const InputSet &set) { return set.before != nullptr; });
  // Results of launches that were kept follow the model's outputs, and the reference lacks them.
  report.outputs.resize(wanted.empty() ? 0 : scores.size());
  for (auto [output, own] : llvm::zip(report.outputs, ownErrors))
    output.own = own;
  for (auto [output, place] : llvm::zip(report.outputs, scores))
    if (place && !ownErrors.empty())
      output.own = ownErrors[place->result];
  for (auto [set, results] : llvm::zip(sets, wanted)) {
    if (std::string error = run(model, set); !error.empty())
      return giveUp(error);
    for (auto [i, output] : llvm::enumerate(report.outputs)) {
      tenon_tensor_info info;
      tenon_tensor tensor;
      if (tenon_artifact_output(model.getArtifact(), i, &info, nullptr) != TENON_OK ||
          tenon_session_output(model.getSession(), i, &tensor, nullptr) != TENON_OK)
        return giveUp("an output cannot be read");
      output.name = info.name;
      if (!scores[i] && scoringOutputs[i] && choices[*scoringOutputs[i]].empty())
        output.scores = getOutputName(model, *scoringOutputs[i]);
      else if (!scores[i] && !choices[i].empty())
        output.note = "follows what " + choices[i] + " makes of floats, which may fall otherwise";
      compare(results[i], scores[i] ? &results[scores[i]->result] : nullptr, scores[i] ? scores[i]->axis : 0, tensor,
              output);
    }
  }
  return report;
}
