//===- KernelBench.cpp - a kernel that is measured alone ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/KernelBench.h"
#include "compiler/driver/TimedRuns.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Kernel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace tenon;

namespace {
/// Selects the option with a given number, and records all options.
class OneSchedule : public ScheduleChooser {
public:
  explicit OneSchedule(size_t place) : place(place) {}
  size_t choose(const KernelRegion &, llvm::StringRef, llvm::ArrayRef<ScheduleOption> options) override {
    known = options.vec();
    return place < options.size() ? place : 0;
  }
  std::vector<ScheduleOption> known;

private:
  size_t place;
};
} // namespace

struct KernelBench::Candidate {
  explicit Candidate(std::unique_ptr<LoadedModel> model) : model(std::move(model)), clock(this->model->getSession()) {}
  std::unique_ptr<LoadedModel> model;
  LaunchClock clock;
};

/// The operands of one run, aligned like those of a model.
struct KernelBench::Buffers {
  std::vector<std::shared_ptr<char>> memory; ///< activations have the same in all sets
  InputSet shapes;                           ///< without bytes
};

static constexpr uint64_t kPageBytes = 4096; // format: of pages

/// Returns the offset of an operand in its memory: with equal page offsets, operands would map to the same sets of L1.
static uint64_t getOffset(size_t operand) {
  constexpr size_t kLine = 64, kLines = kPageBytes / kLine, kStep = 7; // math: no divisor of the lines
  return operand * kStep % kLines * kLine;
}

static SmallVector<StringRef> getSymbols(func::FuncOp kernel) {
  SmallVector<StringRef> names;
  if (auto symbols = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (Attribute symbol : symbols)
      names.push_back(cast<StringAttr>(symbol).getValue());
  return names;
}

/// Returns a module with the kernel and a function that launches it once on its arguments. For each symbol there is an
/// additional, unread argument with that symbol as its extent, because operands may only have expressions, which do not
/// determine their symbols.
static OwningOpRef<ModuleOp> makeModule(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  Dims sizes;
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  for (StringRef symbol : getSymbols(kernel)) {
    sizes.push_back(getDimSymbol(context, symbol));
    inputs.push_back(
        RankedTensorType::get({ShapedType::kDynamic}, b.getI8Type(), ShapeAttr::get(context, {sizes.back()})));
  }
  auto main = func::FuncOp::create(b, kernel.getLoc(), "main", b.getFunctionType(inputs, kernel.getResultTypes()));
  Block *body = main.addEntryBlock();
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.setArgAttr(i, kNameAttr, b.getStringAttr("x" + Twine(i)));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    main.setResultAttr(i, kNameAttr, b.getStringAttr("y" + Twine(i)));
  b.setInsertionPointToStart(body);
  ValueRange operands = body->getArguments().take_front(kernel.getNumArguments());
  auto launch = LaunchOp::create(b, kernel.getLoc(), main.getResultTypes(), kernel.getName(), operands,
                                 ShapeAttr::get(context, sizes));
  func::ReturnOp::create(b, kernel.getLoc(), launch.getResults());
  module->push_back(kernel.clone());
  return module;
}

/// The values of a kernel's symbols as ranges.
static std::vector<NamedRange> getRanges(func::FuncOp kernel, ArrayRef<int64_t> sizes) {
  std::string text;
  for (auto [symbol, size] : llvm::zip_equal(getSymbols(kernel), sizes))
    text += (text.empty() ? "" : ";") + symbol.str() + "=" + std::to_string(size);
  return llvm::expectedToOptional(parseRanges(text)).value_or(std::vector<NamedRange>());
}

KernelBench::KernelBench(func::FuncOp kernel, const KernelUse &use, const Target &target, uint64_t coldBytes)
    : module(makeModule(kernel)), ranges(getRanges(kernel, use.sizes)), target(target) {
  auto chooser = std::make_shared<OneSchedule>(0);
  llvm::Expected<std::unique_ptr<LoadedModel>> own = compile(chooser);
  if (!own) {
    llvm::consumeError(own.takeError());
    return;
  }
  if (chooser->known.size() > 1 && makeBuffers(use, coldBytes, **own)) {
    options = std::move(chooser->known);
    candidates[0] = std::make_unique<Candidate>(std::move(*own));
  }
}

KernelBench::~KernelBench() = default;

llvm::Expected<std::unique_ptr<LoadedModel>> KernelBench::compile(std::shared_ptr<ScheduleChooser> chooser) const {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module.get()->clone()));
  PlanOptions how;
  how.orderingSteps = 0;
  how.schedules = std::move(chooser);
  auto build = [&](OpPassManager &pm) {
    buildProgramPipeline(pm, how);
    buildPlacePipeline(pm, how);
  };
  return compileInMemory(*copy, build, target, CodeEffort::most, /*borrowsWeights=*/false);
}

KernelBench::Candidate *KernelBench::getCandidate(size_t place) {
  auto [it, isNew] = candidates.try_emplace(place);
  if (!isNew)
    return it->second.get();
  llvm::Expected<std::unique_ptr<LoadedModel>> model = compile(std::make_shared<OneSchedule>(place));
  if (model)
    it->second = std::make_unique<Candidate>(std::move(*model));
  else
    llvm::consumeError(model.takeError());
  return it->second.get();
}

bool KernelBench::makeBuffers(const KernelUse &use, uint64_t coldBytes, const LoadedModel &model) {
  constexpr size_t kMaxSets = 32;
  auto main = module->lookupSymbol<func::FuncOp>("main");
  llvm::Expected<InputSet> inputs =
      generateInputs(main, ranges, [&](InputSet &shapes) { return model.measureActivations(shapes); });
  if (!inputs) {
    llvm::consumeError(inputs.takeError());
    return false;
  }
  auto isWeight = [&](size_t operand) { return operand < use.isWeight.size() && use.isWeight[operand]; };
  uint64_t weightBytes = 0;
  for (auto [i, tensor] : llvm::enumerate(*inputs))
    weightBytes += isWeight(i) ? tensor.bytes.size() : 0;
  size_t count =
      weightBytes ? std::clamp<size_t>(llvm::divideCeil(coldBytes, weightBytes) + 1, 2, kMaxSets) : size_t(1);
  for (size_t i = 0; i < count; ++i) {
    auto &set = sets.emplace_back(std::make_unique<Buffers>());
    for (auto [operand, tensor] : llvm::enumerate(*inputs)) {
      set->shapes.push_back({tensor.dtype, tensor.dims, {}});
      if (i > 0 && !isWeight(operand)) {
        set->memory.push_back(sets.front()->memory[operand]);
        continue;
      }
      uint64_t offset = getOffset(operand), bytes = llvm::alignTo(offset + tensor.bytes.size() + 1, kPageBytes);
      std::shared_ptr<char> memory(static_cast<char *>(std::aligned_alloc(kPageBytes, bytes)), std::free);
      if (!memory)
        return false;
      std::memcpy(memory.get() + offset, tensor.bytes.data(), tensor.bytes.size());
      set->memory.push_back(std::move(memory));
    }
  }
  return true;
}

/// Returns the nanoseconds of a launch on the next buffers; none if it fails.
std::optional<double> KernelBench::run(Candidate &candidate) {
  Buffers &set = *sets[next++ % sets.size()];
  tenon_session *session = candidate.model->getSession();
  for (auto [i, memory] : llvm::enumerate(set.memory)) {
    tenon_tensor tensor = set.shapes[i].view();
    tensor.data = memory.get() + getOffset(i);
    if (tenon_session_bind_input(session, i, &tensor, nullptr) != TENON_OK)
      return std::nullopt;
  }
  candidate.clock.reset();
  if (tenon_session_run(session, nullptr) != TENON_OK)
    return std::nullopt;
  double time = 0;
  for (auto [instruction, span] : candidate.clock.list()) {
    tenon_instruction_info info;
    if (tenon_artifact_instruction(candidate.model->getArtifact(), instruction, &info, nullptr) == TENON_OK &&
        *info.kernel)
      time += span;
  }
  return time > 0 ? std::optional(time) : std::nullopt;
}

int64_t KernelBench::getThreads() const {
  assert(!options.empty() && "a kernel without a choice is not measured");
  return tenon_session_threads(candidates.find(0)->second->model->getSession());
}

std::vector<std::optional<ScheduleTime>> KernelBench::measure(llvm::ArrayRef<size_t> places, double seconds) {
  std::vector<Candidate *> compiled;
  for (size_t place : places) {
    compiled.push_back(getCandidate(place));
    samples[place].clear();
  }
  auto runAll = [&](bool counts) -> llvm::Error {
    for (auto [place, candidate] : llvm::zip(places, compiled)) {
      std::optional<double> time = candidate ? run(*candidate) : std::nullopt;
      if (!time)
        candidate = nullptr;
      else if (counts)
        samples[place].push_back(*time);
    }
    return llvm::Error::success();
  };
  llvm::cantFail(runRounds(seconds, runAll));
  std::vector<std::optional<ScheduleTime>> times;
  for (auto [place, candidate] : llvm::zip(places, compiled)) {
    std::vector<double> &own = samples[place];
    times.emplace_back();
    if (!candidate || own.empty())
      continue;
    llvm::sort(own);
    times.back() = ScheduleTime{own.front(), own[own.size() / 2]};
  }
  return times;
}
