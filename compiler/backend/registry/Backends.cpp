//===- Backends.cpp - every backend of the compiler ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/backend/llvm/LlvmBackend.h"
#include "compiler/backend/nvptx/NvptxBackend.h"
#include "compiler/backend/spirv/SpirvBackend.h"

using namespace tenon;

std::pair<const Backend *, const CodeFormat *> BackendRegistry::findFormat(llvm::StringRef name) const {
  for (const std::unique_ptr<Backend> &backend : backends)
    for (const CodeFormat &format : backend->getFormats())
      if (format.name == name)
        return {backend.get(), &format};
  return {nullptr, nullptr};
}

std::optional<Target> BackendRegistry::getTarget(llvm::StringRef name) const {
  for (const std::unique_ptr<Backend> &backend : backends)
    if (std::optional<Target> target = backend->getTarget(name))
      return target;
  return std::nullopt;
}

std::vector<std::string> BackendRegistry::getTargetNames() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Backend> &backend : backends)
    for (std::string &name : backend->getTargetNames())
      names.push_back(std::move(name));
  return names;
}

BackendSettings BackendRegistry::getDefaultSettings() const {
  BackendSettings settings;
  for (const std::unique_ptr<Backend> &backend : backends)
    for (const BackendOption &option : backend->getOptions())
      settings[option.name] = option.value;
  return settings;
}

void BackendRegistry::registerDialects(mlir::DialectRegistry &registry) const {
  for (const std::unique_ptr<Backend> &backend : backends)
    backend->registerDialects(registry);
}

const BackendRegistry &tenon::getBackendRegistry() {
  static const BackendRegistry registry = [] {
    std::vector<std::unique_ptr<Backend>> backends;
    backends.push_back(createLlvmBackend());
    backends.push_back(createNvptxBackend());
    backends.push_back(createSpirvBackend());
    return BackendRegistry(std::move(backends));
  }();
  return registry;
}
