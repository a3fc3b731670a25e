//===- Evaluate.cpp - compute constants by compiling and running them -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "compiler/pipeline/Evaluate.h"
#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/Plan.h"
#include "compiler/artifact/Weights.h"
#include "compiler/backend/llvm/Target.h"
#include "compiler/pipeline/Kernels.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "tenon/runtime.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace mlir;
using namespace tenon;

/// Weights of at most this many elements are attributes that folders can look into.
static constexpr int64_t kSmall = 1024;

namespace {
template <auto release>
struct Release {
  template <typename T>
  void operator()(T *handle) const {
    release(handle);
  }
};
using Artifact = std::unique_ptr<tenon_artifact, Release<tenon_artifact_release>>;
using Session = std::unique_ptr<tenon_session, Release<tenon_session_release>>;
using Bytes = std::unique_ptr<void, Release<std::free>>;
} // namespace

/// What constants are computed with: not with all that this machine can do, but with what most machines can,
/// since the bytes that come out must not depend on where a model is compiled.
static CpuTarget getEvaluationTarget() {
  for (const char *name : {"x86-64-v3", "x86-64-v2", "aarch64"})
    if (std::optional<CpuTarget> target = getCpuTarget(name); target->runsHere)
      return *target;
  return *getCpuTarget("host");
}

/// The artifact in memory, aligned as the runtime wants it.
static FailureOr<std::pair<Bytes, size_t>> compileToMemory(ModuleOp module) {
  CpuTarget target = getEvaluationTarget();
  setMachine(module, target.machine);
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  buildGraphPipeline(pm, {});
  if (failed(pm.run(module)))
    return failure();
  OwningOpRef<ModuleOp> kernels = isolateKernels(module);
  PassManager kernelPasses(module.getContext());
  kernelPasses.enableVerifier(false);
  OpPassManager &nested = kernelPasses.nest<ModuleOp>();
  buildBufferPipeline(nested);
  buildLoopPipeline(nested, target.machine);
  buildLLVMPipeline(nested);
  if (failed(kernelPasses.run(*kernels)))
    return failure();
  WeightSection weights;
  FailureOr<SerializedPlan> plan = serializePlan(*module.getOps<plan::ProgramOp>().begin(), "constants", weights);
  if (failed(plan))
    return failure();
  FailureOr<std::string> code = buildObject(*kernels, target, plan->kernels, LinkKind::shared);
  if (failed(code))
    return failure();
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream os(buffer);
  ArtifactParts::Variant variant{target.getSectionTarget(), {std::move(plan->bytes)}, std::move(*code)};
  writeArtifact({{std::move(variant)}, &weights, "", 0}, os);
  size_t size = llvm::alignTo(buffer.size(), 64);
  Bytes bytes(std::aligned_alloc(64, size));
  std::memcpy(bytes.get(), buffer.data(), buffer.size());
  return std::pair(std::move(bytes), buffer.size());
}

/// A result as an attribute of `type`.
static ElementsAttr toAttribute(const void *data, RankedTensorType type) {
  Type element = type.getElementType();
  size_t bytes = type.getNumElements() * ((element.getIntOrFloatBitWidth() + 7) / 8);
  ArrayRef<char> raw(static_cast<const char *>(data), bytes);
  if (element.isInteger(1)) {
    SmallVector<bool> values(raw.begin(), raw.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  if (type.getNumElements() <= kSmall)
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  return DenseResourceElementsAttr::get(type, "folded", HeapAsmResourceBlob::allocateAndCopyWithAlign(raw, 64));
}

SmallVector<ElementsAttr> tenon::evaluateConstants(ModuleOp module) {
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic &) { return success(); });
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SmallVector<RankedTensorType> types;
  for (Type type : main.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  FailureOr<std::pair<Bytes, size_t>> memory = compileToMemory(module);
  if (failed(memory))
    return {};
  tenon_artifact *artifactHandle = nullptr;
  if (tenon_artifact_load_memory(memory->first.get(), memory->second, nullptr, &artifactHandle, nullptr) != TENON_OK)
    return {};
  Artifact artifact(artifactHandle);
  tenon_session *sessionHandle = nullptr;
  if (tenon_session_create(artifact.get(), nullptr, &sessionHandle, nullptr) != TENON_OK)
    return {};
  Session session(sessionHandle);
  if (tenon_session_run(session.get(), nullptr) != TENON_OK)
    return {};
  SmallVector<ElementsAttr> results;
  for (auto [i, type] : llvm::enumerate(types)) {
    tenon_tensor tensor;
    if (tenon_session_output(session.get(), i, &tensor, nullptr) != TENON_OK)
      return {};
    results.push_back(toAttribute(tensor.data, type));
  }
  return results;
}
