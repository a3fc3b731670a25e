//===- NvptxBackend.cpp - PTX for NVIDIA GPUs ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/nvptx/NvptxBackend.h"
#include "compiler/backend/Backend.h"
#include "compiler/backend/nvptx/NvptxPipeline.h"
#include "compiler/backend/nvptx/Ptx.h"

using namespace mlir;
using namespace tenon;

namespace {
class NvptxBackend : public Backend {
public:
  StringRef getName() const override { return "nvptx"; }
  const Capabilities &getCapabilities() const override { return capabilities; }
  ArrayRef<CodeFormat> getFormats() const override { return formats; }
  ArrayRef<BackendOption> getOptions() const override { return options; }
  void registerDialects(DialectRegistry &registry) const override { registerPtxTranslations(registry); }
  void buildPipeline(OpPassManager &kernel, const Target &target) const override { buildNvvmPipeline(kernel); }

  llvm::Expected<std::vector<CodeFile>> emit(ModuleOp kernels, const CodeRequest &request) const override {
    if (llvm::Error error = checkNoLibraryKernels(kernels, request.entries))
      return error;
    llvm::Expected<std::string> ptx = emitPtx(kernels, request.settings.at(options.front().name));
    if (!ptx)
      return ptx.takeError();
    return std::vector<CodeFile>{{"", std::move(*ptx)}};
  }

private:
  Capabilities capabilities;
  std::vector<CodeFormat> formats = {{"ptx", ""}};
  std::vector<BackendOption> options = {{"--chip", "GPU that --emit ptx is for: sm_80, sm_90a...", "sm_80"}};
};
} // namespace

std::unique_ptr<Backend> tenon::createNvptxBackend() { return std::make_unique<NvptxBackend>(); }
