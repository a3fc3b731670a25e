//===- Calibration.cpp - weights quantized for the inputs of a model ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Calibration.h"
#include "compiler/driver/Evaluate.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/precision/CalibratedQuantizer.h"
#include "passes/precision/CalibrationGraph.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::phases;

namespace {
/// Sums of the outputs of a calibration graph over all inputs.
using Moments = std::vector<std::vector<double>>;

class Calibrator {
public:
  Calibrator(OwningOpRef<ModuleOp> model, const Setup &setup, PhaseRunner &runner)
      : options(setup.options), setup(setup), runner(runner), current(std::move(model)) {}

  llvm::Expected<CalibratedWeights> run();

private:
  llvm::Error prepare();
  llvm::Error storeOthers();
  std::vector<std::vector<size_t>> listLevels() const;
  llvm::Error quantizeLevel(ArrayRef<size_t> level);
  llvm::Error quantize(size_t i, const CalibratedQuantizer *calibrated);
  llvm::Expected<Moments> measure(CalibrationGraph &graph);
  llvm::Error readInputs(const LoadedModel &model);
  llvm::Error add(const LoadedModel &model, Moments &moments);
  std::vector<WeightPrecision::CalibrationData> describeData() const;
  void tellUnreached() const;
  llvm::Error refuse(const Twine &message) const {
    return makeError(CompileStatus::invalid, "--calibrate " + llvm::join(options.calibration, ", ") + ": " + message);
  }

  const CompileOptions &options;
  const Setup &setup;
  PhaseRunner &runner;
  OwningOpRef<ModuleOp> current, original;
  SmallVector<ConstantMatrix> matrices, originals; ///< of both, in the same order
  std::vector<std::optional<WeightFormat>> formats;
  SmallVector<bool> isChosen; ///< is calibrated
  bool isOriginal = true;     ///< `current` has the model's own weights
  std::vector<InputSet> inputs;
  std::vector<std::string> unreached; ///< names of matrices that are quantized without data
  StoredMatrices stored;
};
} // namespace

/// Finds the matrices and their formats.
llvm::Error Calibrator::prepare() {
  PassManager pm(current->getContext());
  pm.nest<func::FuncOp>().addPass(createInferShapes());
  if (failed(pm.run(*current)))
    return makeReportedError(CompileStatus::invalid);
  original = current->clone();
  matrices = listMatrices(*current);
  originals = listMatrices(*original);
  assert(matrices.size() == originals.size() && "a copy has the same matrices");
  auto chosen = chooseFormats(matrices, options.weights);
  if (!chosen)
    return makeError(CompileStatus::invalid, options.input + ": " + llvm::toString(chosen.takeError()));
  formats = std::move(*chosen);
  std::map<std::string, unsigned> counts;
  for (const ConstantMatrix &matrix : matrices)
    ++counts[matrix.getName()];
  for (auto [matrix, format] : llvm::zip(matrices, formats)) {
    std::string name = matrix.getName();
    // The name is how the model that is compiled finds its matrix.
    bool isNamed = !name.empty() && counts[name] == 1;
    isChosen.push_back(format && format->isInteger() && isNamed && !matrix.uses.products.empty());
    if (format && format->isInteger() && !isNamed)
      unreached.push_back(name);
  }
  if (!llvm::is_contained(isChosen, true) && unreached.empty())
    return makeError(CompileStatus::misuse,
                     "--calibrate: --weights asks for integers in no matrix that products multiply by");
  return llvm::Error::success();
}

llvm::Error Calibrator::quantize(size_t i, const CalibratedQuantizer *calibrated) {
  llvm::Expected<StoredMatrix> made = storeMatrix(matrices[i], *formats[i], calibrated);
  if (!made)
    return makeError(CompileStatus::invalid, options.input + ": " + llvm::toString(made.takeError()));
  std::string name = matrices[i].getName();
  if (!options.calibratesAtOnce)
    replaceMatrix(matrices[i], *formats[i], *made);
  isOriginal = isOriginal && options.calibratesAtOnce;
  if (isChosen[i])
    stored[name] = std::move(*made);
  return llvm::Error::success();
}

/// What has its format without data is there before all that is calibrated.
llvm::Error Calibrator::storeOthers() {
  for (size_t i = 0; i < matrices.size(); ++i)
    if (formats[i] && !isChosen[i] && !isStoredSo(matrices[i], *formats[i]))
      if (llvm::Error error = quantize(i, nullptr))
        return error;
  return llvm::Error::success();
}

/// Matrices that are quantized together.
std::vector<std::vector<size_t>> Calibrator::listLevels() const {
  constexpr int64_t kMaxElements = int64_t(1) << 27; // limit: of moments in memory, 1 GB
  std::vector<unsigned> depths(matrices.size());
  if (!options.calibratesAtOnce)
    depths = findDepths(*current, matrices, isChosen);
  std::map<unsigned, std::vector<std::vector<size_t>>> levels;
  std::map<unsigned, int64_t> elements; // in the last part of a level
  for (size_t i = 0; i < matrices.size(); ++i) {
    if (!isChosen[i])
      continue;
    int64_t depth = WeightOp(matrices[i].weight).getType().getDimSize(*matrices[i].uses.depthAxis);
    auto &parts = levels[depths[i]];
    int64_t &sum = elements[depths[i]];
    if (parts.empty() || sum + depth * depth > kMaxElements) {
      parts.emplace_back();
      sum = 0;
    }
    sum += depth * depth;
    parts.back().push_back(i);
  }
  std::vector<std::vector<size_t>> list;
  for (auto &[depth, parts] : levels)
    llvm::append_range(list, parts);
  return list;
}

llvm::Error Calibrator::readInputs(const LoadedModel &model) {
  llvm::Expected<std::vector<InputSet>> read = options.readCalibration(model.getArtifact());
  if (!read) {
    std::string message;
    CompileStatus category = takeError(read.takeError(), message);
    return makeError(category == CompileStatus::done ? CompileStatus::invalid : category, "--calibrate: " + message);
  }
  inputs = std::move(*read);
  return inputs.empty() ? refuse("has no inputs") : llvm::Error::success();
}

/// Adds what the last run had to the sums.
llvm::Error Calibrator::add(const LoadedModel &model, Moments &moments) {
  for (auto [i, sums] : llvm::enumerate(moments)) {
    tenon_tensor tensor;
    if (tenon_session_output(model.getSession(), i, &tensor, nullptr) != TENON_OK)
      return makeError(CompileStatus::fault, "moments of a calibration cannot be read");
    assert(tensor.dtype == TENON_F32 && "moments are f32");
    size_t count = tenon_tensor_bytes(TENON_U8, tensor.rank, tensor.dims);
    sums.resize(count);
    const char *data = static_cast<const char *>(tensor.data);
    for (size_t k = 0; k < count; ++k) {
      float value;
      std::memcpy(&value, data + k * sizeof value, sizeof value);
      if (!std::isfinite(value))
        return refuse("the model computes what is infinite or no number with it");
      sums[k] += value;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<Moments> Calibrator::measure(CalibrationGraph &graph) {
  auto build = [&](OpPassManager &pm) {
    GraphOptions how;
    how.promotesToF32 = true;
    how.budget.each = 0;
    buildGraphPipeline(pm, [&](ModuleOp module) { return evaluateConstants(module, setup.kernels.get()); }, how);
  };
  size_t count = graph.module->lookupSymbol<func::FuncOp>("main").getNumResults();
  // What every machine of its kind has makes the same sums on all of them. Who reads inputs looks at those of the
  // artifact, which borrowed weights would be among.
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      compileInMemory(*graph.module, build, getEvaluationTarget(), CodeEffort::little,
                      /*borrowsWeights=*/!inputs.empty(), setup.kernels.get());
  if (!model)
    return prefixError(model.takeError(), "--calibrate: ");
  if (inputs.empty())
    if (llvm::Error error = readInputs(**model))
      return error;
  Moments moments(count);
  for (InputSet &set : inputs) {
    if (llvm::Error fault = (*model)->bind(set, /*withData=*/true))
      return refuse(llvm::toString(std::move(fault)));
    tenon_error error;
    if (tenon_status status = (*model)->run(&error))
      return makeError(static_cast<CompileStatus>(status), "--calibrate: " + LoadedModel::getText(error));
    if (llvm::Error fault = add(**model, moments))
      return fault;
  }
  return moments;
}

llvm::Error Calibrator::quantizeLevel(ArrayRef<size_t> level) {
  std::vector<CalibratedProducts> products;
  for (size_t i : level)
    products.push_back({matrices[i].uses.products, originals[i].uses.products});
  CalibrationGraph graph = buildCalibrationGraph(*current, isOriginal ? ModuleOp() : *original, products);
  Moments moments;
  if (llvm::any_of(graph.outputs, [](const CalibrationGraph::Outputs &outputs) { return !outputs.own.empty(); })) {
    llvm::Expected<Moments> measured = measure(graph);
    if (!measured)
      return measured.takeError();
    moments = std::move(*measured);
  }
  auto addUp = [&](ArrayRef<unsigned> outputs) {
    std::vector<double> sum;
    for (unsigned output : outputs) {
      sum.resize(moments[output].size());
      for (auto [to, from] : llvm::zip(sum, moments[output]))
        to += from;
    }
    return sum;
  };
  // Several matrices may sum with the same vectors.
  std::map<std::tuple<std::vector<unsigned>, std::vector<unsigned>, bool>, std::unique_ptr<CalibratedQuantizer>> known;
  for (auto [i, outputs] : llvm::zip(level, graph.outputs)) {
    ConstantMatrix &matrix = matrices[i];
    bool isLookedUp = !matrix.uses.lookups.empty();
    std::unique_ptr<CalibratedQuantizer> &calibrated =
        known[{{outputs.own.begin(), outputs.own.end()}, {outputs.cross.begin(), outputs.cross.end()}, isLookedUp}];
    if (!calibrated && !outputs.own.empty()) {
      int64_t depth = WeightOp(matrix.weight).getType().getDimSize(*matrix.uses.depthAxis);
      calibrated = CalibratedQuantizer::create(addUp(outputs.own), depth, addUp(outputs.cross), isLookedUp ? 1 : 0);
    }
    if (!calibrated)
      unreached.push_back(matrix.getName());
    if (llvm::Error error = quantize(i, calibrated.get()))
      return error;
  }
  return llvm::Error::success();
}

std::vector<WeightPrecision::CalibrationData> Calibrator::describeData() const {
  std::vector<WeightPrecision::CalibrationData> data;
  for (const std::string &path : options.calibration) {
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    if (llvm::sys::fs::is_directory(path)) {
      for (const InputSet &set : inputs)
        for (const InputTensor &tensor : set) {
          XXH3_64bits_update(state, &tensor.dtype, sizeof tensor.dtype);
          XXH3_64bits_update(state, tensor.dims.data(), tensor.dims.size() * sizeof(int64_t));
          XXH3_64bits_update(state, tensor.bytes.data(), tensor.bytes.size());
        }
    } else if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false)) {
      XXH3_64bits_update(state, (*file)->getBufferStart(), (*file)->getBufferSize());
      if (options.import.onInputFile)
        options.import.onInputFile(path, 0);
    }
    data.push_back({llvm::sys::path::filename(path).str(), XXH3_64bits_digest(state)});
    XXH3_freeState(state);
  }
  return data;
}

void Calibrator::tellUnreached() const {
  constexpr size_t kMaxListed = 3; // limit: a line for people
  if (unreached.empty())
    return;
  size_t shown = std::min(unreached.size(), kMaxListed);
  std::string names = llvm::join(ArrayRef(unreached).take_front(shown), "', '");
  runner.getDiagnostics().warn(
      "--calibrate: " + Twine(unreached.size()) + (unreached.size() == 1 ? " matrix is" : " matrices are") +
      " quantized without data, which does not reach " + (unreached.size() == 1 ? "it" : "them") + ": '" + names + "'" +
      (unreached.size() > shown ? ", ..." : ""));
}

llvm::Expected<CalibratedWeights> Calibrator::run() {
  if (llvm::Error error = prepare())
    return error;
  runner.announce("calibration");
  if (llvm::Error error = storeOthers())
    return error;
  for (const std::vector<size_t> &level : listLevels())
    if (llvm::Error error = quantizeLevel(level))
      return error;
  tellUnreached();
  return CalibratedWeights{std::make_shared<StoredMatrices>(std::move(stored)), describeData(), inputs.size()};
}

llvm::Expected<CalibratedWeights> tenon::calibrateWeights(OwningOpRef<ModuleOp> model, const Setup &setup,
                                                          PhaseRunner &runner) {
  return Calibrator(std::move(model), setup, runner).run();
}
