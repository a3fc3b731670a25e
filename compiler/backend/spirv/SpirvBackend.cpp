//===- SpirvBackend.cpp - SPIR-V for Vulkan ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/spirv/SpirvBackend.h"
#include "compiler/backend/Backend.h"
#include "compiler/backend/spirv/Spirv.h"
#include "compiler/backend/spirv/SpirvPipeline.h"

using namespace mlir;
using namespace tenon;

namespace {
class SpirvBackend : public Backend {
public:
  StringRef getName() const override { return "spirv"; }
  const Capabilities &getCapabilities() const override { return capabilities; }
  ArrayRef<CodeFormat> getFormats() const override { return formats; }
  /// The GPU that executes a Vulkan module is unknown.
  std::optional<Target> getFormatTarget(const BackendSettings &settings) const override {
    return Target{this, "vulkan"};
  }
  void registerDialects(DialectRegistry &registry) const override { registerSpirvDialects(registry); }
  void buildPipeline(OpPassManager &kernel, const Target &target) const override { buildSpirvPipeline(kernel); }

  llvm::Expected<std::vector<CodeFile>> emit(ModuleOp kernels, const CodeRequest &request) const override {
    if (llvm::Error error = checkNoLibraryKernels(kernels, request.entries))
      return error;
    llvm::Expected<std::vector<SpirvKernel>> modules = emitSpirv(kernels);
    if (!modules)
      return modules.takeError();
    std::vector<CodeFile> files;
    for (const SpirvKernel &kernel : *modules)
      files.push_back({kernel.name + ".spv", std::string(reinterpret_cast<const char *>(kernel.words.data()),
                                                         kernel.words.size() * sizeof(uint32_t))});
    return files;
  }

private:
  Capabilities capabilities;
  std::vector<CodeFormat> formats = {{"spirv", ".spirv", /*isFolder=*/true}};
};
} // namespace

std::unique_ptr<Backend> tenon::createSpirvBackend() { return std::make_unique<SpirvBackend>(); }
