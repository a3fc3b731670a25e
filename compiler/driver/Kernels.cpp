//===- Kernels.cpp - kernels to code sections -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Kernels.h"
#include "compiler/backend/llvm/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Threading.h"
#include "passes/Kernel.h"
#include "passes/Unsupported.h"

using namespace mlir;
using namespace tenon;

OwningOpRef<ModuleOp> tenon::isolateKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels(ModuleOp::create(module.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!kernel->hasAttr(kKernelAttr))
      continue;
    auto own = ModuleOp::create(builder, kernel.getLoc(), kernel.getName());
    kernel->moveBefore(own.getBody(), own.getBody()->end());
  }
  return kernels;
}

FailureOr<std::vector<std::string>> tenon::compileEach(ModuleOp kernels, const CpuTarget &target, CodeKind kind,
                                                       CodeEffort effort) {
  std::vector<ModuleOp> modules(kernels.getOps<ModuleOp>().begin(), kernels.getOps<ModuleOp>().end());
  std::vector<std::string> code(modules.size());
  setCodegenOptions();
  LogicalResult result =
      failableParallelForEachN(kernels.getContext(), 0, modules.size(), [&](size_t i) -> LogicalResult {
        FailureOr<std::string> bytes = compileKernels(modules[i], target, kind, effort);
        if (failed(bytes))
          return failure();
        code[i] = std::move(*bytes);
        return success();
      });
  if (failed(result))
    return failure();
  return code;
}

FailureOr<std::string> tenon::buildObject(ModuleOp kernels, const CpuTarget &target,
                                          const std::vector<std::string> &names, LinkKind kind, CodeEffort effort) {
  FailureOr<std::vector<std::string>> objects = compileEach(kernels, target, CodeKind::object, effort);
  if (failed(objects))
    return failure();
  // A model of nothing but views has no kernel, and lld wants an object.
  if (objects->empty()) {
    FailureOr<std::string> empty = compileKernels(kernels, target, CodeKind::object);
    if (failed(empty))
      return failure();
    objects->push_back(std::move(*empty));
  }
  std::string error;
  // What the plan names and no module is, is of the library.
  std::vector<std::string> library;
  for (const std::string &name : names)
    if (!kernels.lookupSymbol(name))
      library.push_back(name);
  if (!library.empty()) {
    FailureOr<std::string> object = compileLibrary(library, target, error);
    if (failed(object))
      return kernels.emitError() << error;
    objects->push_back(std::move(*object));
  }
  FailureOr<std::string> support = compileSupport(*objects, target, error);
  if (failed(support))
    return kernels.emitError() << error;
  if (!support->empty())
    objects->push_back(std::move(*support));
  LinkError linkError;
  FailureOr<std::string> linked = linkKernels(*objects, names, kind, linkError);
  if (succeeded(linked))
    return linked;
  if (linkError.isOfResources)
    return emitExhausted(kernels, linkError.text);
  return kernels.emitError("kernels do not link: ") << linkError.text;
}
