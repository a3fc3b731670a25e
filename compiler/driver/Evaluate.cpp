//===- Evaluate.cpp - compute constants by compiling and running them -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Evaluate.h"
#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;
using namespace tenon;

/// Weights of at most this many elements are dense attributes, which folders can read.
static constexpr int64_t kSmall = 1024;

Target tenon::getEvaluationTarget() {
  for (const char *name : {"x86-64-v2", "aarch64"})
    if (std::optional<Target> target = getBackendRegistry().getTarget(name); target && target->runsHere)
      return *target;
  return *getBackendRegistry().getTarget(kHostTarget);
}

Target tenon::getReferenceTarget() {
  Target target = getEvaluationTarget();
  target.roundsEachStep = true;
  // AVX-512 is excluded, because its conversions of out-of-range and denormal numbers differ from those of earlier
  // instruction sets.
  std::optional<Target> wider = getBackendRegistry().getTarget(target.name + "+avx2");
  if (!wider)
    return target;
  target.machine = wider->machine;
  // Without AVX2 the code generator splits vectors, but not the intrinsics of int8 dot products.
  target.machine.int8Dot = Int8Dot::scalar;
  if (wider->runsHere) {
    target.features = wider->features;
    target.needed = wider->needed;
  }
  return target;
}

/// A result as an attribute of `type`.
static ElementsAttr toAttribute(const void *data, RankedTensorType type) {
  Type element = type.getElementType();
  assert(type.hasStaticShape() && "constants have constant extents");
  size_t bytes = type.getNumElements() * ((element.getIntOrFloatBitWidth() + 7) / 8);
  ArrayRef<char> raw(static_cast<const char *>(data), bytes);
  if (element.isInteger(1)) {
    SmallVector<bool> values(raw.begin(), raw.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  if (type.getNumElements() <= kSmall)
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  return createElements(type, "folded", HeapAsmResourceBlob::allocateAndCopyWithAlign(raw, 64));
}

SmallVector<ElementsAttr> tenon::evaluateConstants(ModuleOp module, KernelCache *kernels) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  SmallVector<RankedTensorType> types;
  for (Type type : main.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  // What cannot be computed here is left to run time; if it cannot be compiled at all, that is reported later.
  auto build = [](OpPassManager &pm) { buildGraphPipeline(pm, {}); };
  // The code runs once, so optimizing it takes longer than it saves.
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      compileInMemory(module, build, getEvaluationTarget(), CodeEffort::little, /*borrowsWeights=*/true, kernels);
  if (!model) {
    llvm::consumeError(model.takeError());
    return {};
  }
  tenon_session *session = (*model)->getSession();
  if (tenon_session_run(session, nullptr) != TENON_OK)
    return {};
  SmallVector<ElementsAttr> results;
  assert(!types.empty() && "something is to be computed");
  for (auto [i, type] : llvm::enumerate(types)) {
    tenon_tensor tensor;
    if (tenon_session_output(session, i, &tensor, nullptr) != TENON_OK)
      return {};
    results.push_back(toAttribute(tensor.data, type));
  }
  return results;
}
