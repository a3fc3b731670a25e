//===- LoadedModel.cpp - a compiled model, ready to run in this process ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/LoadedModel.h"
#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/driver/BorrowWeights.h"
#include "compiler/driver/Phases.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/format/Layout.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace tenon;

namespace {
/// A stream to preallocated memory, so that weights never exist twice.
class MemoryStream : public llvm::raw_pwrite_stream {
public:
  explicit MemoryStream(char *memory) : raw_pwrite_stream(/*Unbuffered=*/true), memory(memory) {}

private:
  void write_impl(const char *data, size_t size) override {
    std::memcpy(memory + position, data, size);
    position += size;
  }
  void pwrite_impl(const char *data, size_t size, uint64_t offset) override {
    std::memcpy(memory + offset, data, size);
  }
  uint64_t current_pos() const override { return position; }

  char *memory;
  uint64_t position = 0;
};
} // namespace

/// No fewer bytes than the artifact has.
static size_t getCapacity(const ArtifactParts &parts) {
  size_t bytes =
      parts.meta.size() + parts.weights->getSize() + parts.weights->getSize() / fmt::kHashBlock * sizeof(uint64_t);
  size_t sections = 4; // weights, their hashes, text, header
  for (const ArtifactParts::Variant &variant : parts.variants) {
    bytes += variant.code.size();
    for (const std::string &plan : variant.plans)
      bytes += plan.size();
    sections += 1 + variant.plans.size();
  }
  return llvm::alignTo(bytes + sections * (fmt::kPageSize + sizeof(fmt::Section)), fmt::kPageSize);
}

/// Returns of how many sequences a run is at most.
static uint32_t getMostSequences(const tenon_artifact *artifact) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < tenon_artifact_program_count(artifact); ++i)
    if (tenon_program_info program; tenon_artifact_program(artifact, i, &program, nullptr) == TENON_OK)
      most = std::max(most, program.sequences);
  return most;
}

llvm::Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(const ArtifactParts &parts, bool mayBeAlone) {
  auto model = std::make_unique<LoadedModel>();
  model->bytes.reset(static_cast<char *>(std::aligned_alloc(fmt::kPageSize, getCapacity(parts))));
  if (!model->bytes)
    return makeError(CompileStatus::resources, "there is no memory for the compiled model");
  MemoryStream os(model->bytes.get());
  writeArtifact(parts, os);
  tenon_error why;
  tenon_artifact *artifact = nullptr;
  tenon_session *session = nullptr;
  // The weights have just been written.
  tenon_load_options options{};
  options.verify = TENON_VERIFY_NONE;
  if (tenon_status status = tenon_artifact_load_memory(model->bytes.get(), os.tell(), &options, &artifact, &why))
    return makeError(static_cast<CompileStatus>(status), why.message);
  model->artifact.reset(artifact);
  tenon_session_options sessionOptions{};
  sessionOptions.slots = model->numSlots = getMostSequences(artifact);
  tenon_status created = tenon_session_create(artifact, &sessionOptions, &session, &why);
  if (created == TENON_RESOURCES && mayBeAlone) {
    sessionOptions.threads = 1;
    created = tenon_session_create(artifact, &sessionOptions, &session, &why);
  }
  if (created)
    return makeError(static_cast<CompileStatus>(created), why.message);
  model->session.reset(session);
  tenon_artifact_describe(artifact, &model->info);
  return model;
}

llvm::Error LoadedModel::bindLast(ArrayRef<ArrayRef<char>> tensors) {
  uint32_t input = info.input_count - tensors.size();
  for (ArrayRef<char> bytes : tensors) {
    int64_t size = bytes.size();
    // Inputs are never written.
    tenon_tensor tensor{TENON_U8, 1, &size, const_cast<char *>(bytes.data())};
    tenon_error why;
    if (tenon_status status = tenon_session_bind_input(session.get(), input++, &tensor, &why))
      return makeError(static_cast<CompileStatus>(status), why.message);
  }
  return llvm::Error::success();
}

std::string LoadedModel::getText(const tenon_error &error) {
  llvm::StringRef text = error.message;
  text.consume_front("artifact: ");
  return text.str();
}

/// Resets all slots to the states of a new session.
tenon_status LoadedModel::resetStates(tenon_error *error) const {
  tenon_status status = TENON_OK;
  for (uint32_t i = 0; i < numSlots && status == TENON_OK; ++i)
    status = tenon_session_reset_slot(session.get(), i, error);
  return status;
}

llvm::Error LoadedModel::bind(InputSet &set, bool withData, uint32_t firstSlot) const {
  tenon_error error;
  std::vector<uint32_t> slots(set.sequences);
  std::iota(slots.begin(), slots.end(), firstSlot);
  if (tenon_status status = tenon_session_use_slots(session.get(), slots.data(), slots.size(), &error))
    return makeError(static_cast<CompileStatus>(status), getText(error));
  for (auto [i, tensor] : llvm::enumerate(set)) {
    tenon_tensor view = tensor.view();
    if (!withData)
      view.data = nullptr;
    if (tenon_status status = tenon_session_bind_input(session.get(), i, &view, &error))
      return makeError(static_cast<CompileStatus>(status), getText(error));
  }
  return llvm::Error::success();
}

bool LoadedModel::canRun(InputSet &set) const {
  return !llvm::errorToBool(bind(set, /*withData=*/true)) && run(nullptr) == TENON_OK;
}

tenon_status LoadedModel::run(tenon_error *error) const {
  if (tenon_status status = resetStates(error))
    return status;
  return goOn(error);
}

std::optional<tenon_memory> LoadedModel::measureMemory(InputSet &shapes) const {
  tenon_memory memory;
  if (llvm::errorToBool(bind(shapes, /*withData=*/false)) || resetStates(nullptr) != TENON_OK ||
      tenon_session_measure(session.get(), &memory, nullptr) != TENON_OK)
    return std::nullopt;
  return memory;
}

std::optional<uint64_t> LoadedModel::measureActivations(InputSet &shapes) const {
  std::optional<tenon_memory> memory = measureMemory(shapes);
  return memory ? std::optional(memory->total - memory->weights) : std::nullopt;
}

/// Runs passes without instrumentation or verification; the readers of their IR verify it.
static llvm::Error runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  build(pm);
  return succeeded(pm.run(module)) ? llvm::Error::success() : makeReportedError(CompileStatus::fault);
}

namespace {
/// A module's plans, and what they refer to.
struct Programs {
  std::vector<std::string> plans, kernels;
  WeightSection weights;
  std::vector<ArrayRef<char>> borrowed; ///< bytes of the last inputs
};
} // namespace

/// Serializes the plans of a function's programs, the last of which is for all sizes.
static llvm::Expected<Programs> serialize(ModuleOp module, bool borrowsWeights) {
  Programs made;
  if (borrowsWeights)
    made.borrowed = borrowWeights(module);
  llvm::StringSet<> known;
  for (plan::ProgramOp program : module.getOps<plan::ProgramOp>()) {
    FailureOr<SerializedPlan> plan = serializePlan(program, "constants", made.weights);
    if (failed(plan))
      return makeReportedError(CompileStatus::fault);
    llvm::copy_if(plan->kernels, std::back_inserter(made.kernels),
                  [&](const std::string &name) { return known.insert(name).second; });
    made.plans.push_back(std::move(plan->bytes));
    if (!program.getSizes())
      break;
  }
  if (made.plans.empty())
    return makeReportedError(CompileStatus::invalid);
  return made;
}

static llvm::Expected<std::unique_ptr<LoadedModel>> loadPrograms(Programs programs, const Target &target,
                                                                 std::string code, bool mayBeAlone) {
  ArtifactParts::Variant variant{target.getSectionTarget(), std::move(programs.plans), std::move(code)};
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      LoadedModel::load({{std::move(variant)}, &programs.weights, "", 0}, mayBeAlone);
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->bindLast(programs.borrowed))
    return error;
  return model;
}

llvm::Expected<std::unique_ptr<LoadedModel>> tenon::loadBorrowing(ModuleOp module, const Target &target,
                                                                  std::string code) {
  llvm::Expected<Programs> programs = serialize(module, /*borrowsWeights=*/true);
  if (!programs)
    return programs.takeError();
  return loadPrograms(std::move(*programs), target, std::move(code), /*mayBeAlone=*/false);
}

/// Like compileInMemory, except that some failures are only reported by diagnostics.
static llvm::Expected<std::unique_ptr<LoadedModel>> compileAndLoad(ModuleOp module,
                                                                   llvm::function_ref<void(OpPassManager &)> build,
                                                                   const Target &target, CodeEffort effort,
                                                                   bool borrowsWeights, KernelCache *cache) {
  setMachine(module, target.machine);
  if (llvm::Error error = runPasses(module, build))
    return error;
  OwningOpRef<ModuleOp> kernels = phases::isolateKernels(module);
  KernelObjects objects;
  if (cache)
    objects = cache->take(*kernels, target, effort, listNodes(module), /*isCounted=*/false);
  if (llvm::Error error = runPasses(*kernels, [](OpPassManager &pm) { buildBufferPipeline(pm.nest<ModuleOp>()); }))
    return error;
  llvm::Expected<Programs> programs = serialize(module, borrowsWeights);
  if (!programs)
    return programs.takeError();
  const BackendSettings settings;
  auto runBackend = [](StringRef, ModuleOp own, llvm::function_ref<void(OpPassManager &)> passes) {
    return runPasses(own, passes);
  };
  llvm::Expected<std::vector<CodeFile>> code =
      target.backend->emit(*kernels, {target, target.backend->getCapabilities().artifactFormat, programs->kernels,
                                      settings, runBackend, effort, cache ? &objects : nullptr});
  if (!code)
    return code.takeError();
  if (cache)
    cache->commit();
  return loadPrograms(std::move(*programs), target, std::move(code->front().bytes),
                      /*mayBeAlone=*/effort == CodeEffort::little);
}

llvm::Expected<std::unique_ptr<LoadedModel>> tenon::compileInMemory(ModuleOp module,
                                                                    llvm::function_ref<void(OpPassManager &)> build,
                                                                    const Target &target, CodeEffort effort,
                                                                    bool borrowsWeights, KernelCache *kernels) {
  std::string reason; // the first diagnostic
  ScopedDiagnosticHandler keepFirst(module.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return success();
  });
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      compileAndLoad(module, build, target, effort, borrowsWeights, kernels);
  if (model)
    return model;
  std::string message;
  CompileStatus category = takeError(model.takeError(), message);
  return makeError(category, reason.empty() ? message : reason);
}
