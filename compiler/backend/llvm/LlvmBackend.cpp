//===- LlvmBackend.cpp - machine code for CPUs ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/LlvmBackend.h"
#include "compiler/backend/Backend.h"
#include "compiler/backend/llvm/Codegen.h"
#include "compiler/backend/llvm/CpuTargets.h"
#include "compiler/backend/llvm/LlvmPipeline.h"
#include "compiler/pipeline/OptBisect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

/// How much a kernel is optimized: less than asked for where whoever traces the compilation says so.
static CodeEffort chooseEffort(ModuleOp kernel, CodeEffort asked) {
  if (asked == CodeEffort::little)
    return asked;
  CodeEffort effort = CodeEffort::little;
  kernel.getContext()->executeAction<OptimizeCodeAction>([&] { effort = asked; }, {},
                                                         kernel.getName().value_or("kernels"));
  return effort;
}

/// Compiles the kernels of several modules on all threads of the context; returns one string per kernel, in order.
static llvm::Expected<std::vector<std::string>> compileEach(ModuleOp kernels, ArrayRef<ModuleOp> modules,
                                                            const CodeRequest &request, CodeKind kind) {
  std::vector<std::string> code(modules.size());
  std::vector<std::optional<llvm::Error>> errors(modules.size());
  setCodegenOptions();
  parallelFor(kernels.getContext(), 0, modules.size(), [&](size_t i) {
    llvm::Expected<std::string> bytes =
        compileKernels(modules[i], request.target, kind, chooseEffort(modules[i], request.effort));
    if (bytes)
      code[i] = std::move(*bytes);
    else
      errors[i].emplace(bytes.takeError());
  });
  llvm::Error all = llvm::Error::success();
  for (std::optional<llvm::Error> &error : errors)
    if (error && all)
      llvm::consumeError(std::move(*error));
    else if (error)
      all = std::move(*error);
  if (all)
    return all;
  return code;
}

static std::vector<ModuleOp> listModules(ModuleOp kernels) {
  return {kernels.getOps<ModuleOp>().begin(), kernels.getOps<ModuleOp>().end()};
}

/// Returns an object for each kernel, known or new, whose entry point has the name of the kernel.
static llvm::Expected<std::vector<std::string>> makeObjects(ModuleOp kernels, const CodeRequest &request) {
  std::vector<ModuleOp> modules = listModules(kernels), unknown;
  auto isKnown = [&](ModuleOp module) {
    return request.objects && request.objects->known.count(module.getName().value_or(""));
  };
  llvm::copy_if(modules, std::back_inserter(unknown), [&](ModuleOp module) { return !isKnown(module); });
  llvm::Expected<std::vector<std::string>> made = compileEach(kernels, unknown, request, CodeKind::object);
  if (!made)
    return made.takeError();
  std::vector<std::string> objects;
  auto next = made->begin();
  for (ModuleOp module : modules) {
    StringRef name = module.getName().value_or("");
    bool isNew = !isKnown(module);
    StringRef object = isNew ? *next++ : request.objects->known.find(name)->second;
    if (isNew && request.objects && request.objects->onObject)
      request.objects->onObject(name, object);
    llvm::Expected<std::string> named = nameEntry(object, name);
    if (!named)
      return named.takeError();
    objects.push_back(std::move(*named));
  }
  return objects;
}

/// Adds an object to `objects`, unless it is empty.
static llvm::Error addObject(std::vector<std::string> &objects, llvm::Expected<std::string> object) {
  if (!object)
    return object.takeError();
  if (!object->empty())
    objects.push_back(std::move(*object));
  return llvm::Error::success();
}

/// Returns one object of all kernels, with the entry points of the request.
static llvm::Expected<std::string> buildObject(ModuleOp kernels, const CodeRequest &request, LinkKind kind) {
  llvm::Expected<std::vector<std::string>> objects = makeObjects(kernels, request);
  if (!objects)
    return objects.takeError();
  // A model with only views has no kernel, but lld needs an object.
  if (objects->empty())
    if (llvm::Error error = addObject(*objects, compileKernels(kernels, request.target, CodeKind::object)))
      return error;
  // A kernel that the plan launches and that has no module is one of the library.
  std::vector<std::string> library;
  for (const std::string &name : request.entries)
    if (!kernels.lookupSymbol(name))
      library.push_back(name);
  if (!library.empty())
    if (llvm::Error error = addObject(*objects, compileLibrary(library, request.target)))
      return error;
  if (llvm::Error error = addObject(*objects, compileSupport(*objects, request.target)))
    return error;
  return linkKernels(*objects, request.entries, kind);
}

namespace {
class LlvmBackend : public Backend {
public:
  LlvmBackend() {
    capabilities.hasPaths = true;
    capabilities.hasKernelLibrary = true;
    capabilities.hasKernelObjects = true;
    capabilities.hasMergedKernels = true;
    capabilities.artifactFormat = "so";
  }

  StringRef getName() const override { return "llvm"; }
  const Capabilities &getCapabilities() const override { return capabilities; }
  ArrayRef<CodeFormat> getFormats() const override { return formats; }

  std::optional<Target> getTarget(StringRef name) const override {
    std::optional<Target> target = getCpuTarget(name);
    if (target)
      target->backend = this;
    return target;
  }
  std::vector<std::string> getTargetNames() const override { return getCpuTargetNames(); }
  void unifyLayouts(llvm::MutableArrayRef<Target> targets) const override { sharePanels(targets); }

  void registerDialects(DialectRegistry &registry) const override { registerTranslations(registry); }
  void buildPipeline(OpPassManager &kernel, const Target &target) const override {
    buildLoopPipeline(kernel, target.machine);
    buildLLVMPipeline(kernel);
  }

  llvm::Expected<std::vector<CodeFile>> emit(ModuleOp kernels, const CodeRequest &request) const override {
    if (llvm::Error error = request.runPasses("code for " + request.target.name, kernels, [&](OpPassManager &pm) {
          buildPipeline(pm.nest<ModuleOp>(), request.target);
        }))
      return error;
    llvm::Expected<std::string> bytes = emitFile(kernels, request);
    if (!bytes)
      return bytes.takeError();
    return std::vector<CodeFile>{{"", std::move(*bytes)}};
  }

private:
  static llvm::Expected<std::string> emitFile(ModuleOp kernels, const CodeRequest &request) {
    if (request.format == "so")
      return buildObject(kernels, request, LinkKind::shared);
    if (request.format == "obj")
      return buildObject(kernels, request, LinkKind::relocatable);
    llvm::Expected<std::vector<std::string>> texts = compileEach(
        kernels, listModules(kernels), request, request.format == "llvm" ? CodeKind::llvm : CodeKind::assembly);
    if (!texts)
      return texts.takeError();
    std::string all;
    for (const std::string &text : *texts)
      all += text + '\n';
    return all;
  }

  Capabilities capabilities;
  std::vector<CodeFormat> formats = {{"llvm", ""}, {"asm", ""}, {"obj", ".o"}, {"so", ".so"}};
};
} // namespace

std::unique_ptr<Backend> tenon::createLlvmBackend() { return std::make_unique<LlvmBackend>(); }
