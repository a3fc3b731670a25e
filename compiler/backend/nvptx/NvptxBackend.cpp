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

/// Describes a multiprocessor of a chip by its compute capability (CUDA C++ Programming Guide, technical
/// specifications): one thread computes a tile, with 16-byte loads and 255 registers of 4 bytes.
static Machine getMachine(StringRef chip) {
  Machine machine;
  machine.vectorBytes = 16;
  machine.vectorRegisters = 63;
  // l1Bytes is the L1 and shared memory of one multiprocessor, and l2Bytes the L2 of the largest chip of that
  // generation.
  bool isHopper = chip.starts_with("sm_9") || chip.starts_with("sm_10");
  bool isAmpere = chip == "sm_80" || chip == "sm_87";
  machine.l2Bytes = (isHopper ? 256 : isAmpere ? 192 : 128) << 10;
  machine.llcBytes = (isHopper ? 50 : isAmpere ? 40 : 6) << 20;
  return machine;
}

namespace {
class NvptxBackend : public Backend {
public:
  StringRef getName() const override { return "nvptx"; }
  const Capabilities &getCapabilities() const override { return capabilities; }
  ArrayRef<CodeFormat> getFormats() const override { return formats; }
  ArrayRef<BackendOption> getOptions() const override { return options; }
  std::optional<Target> getFormatTarget(const BackendSettings &settings) const override {
    Target target{this, settings.at(options.front().name)};
    target.machine = getMachine(target.name);
    return target;
  }
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
