//===- Ptx.cpp - kernels on buffers to PTX --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/OptimizeModule.h"
#include "compiler/backend/nvptx/Libdevice.h"
#include "compiler/backend/nvptx/NvptxPipeline.h"
#include "compiler/errors/CompileError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Kernel.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace mlir;
using namespace tenon;

void tenon::registerPtxTranslations(DialectRegistry &registry) {
  registerNvptxDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// Returns the PTX version for a chip. LLVM's default is too old for most chips, and LLVM then aborts.
static StringRef getPtxFeature(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  return number > 90 ? "+ptx90" : "+ptx80";
}

static llvm::Error refuse(const Twine &message) { return makeError(CompileStatus::unsupported, message); }

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(StringRef chip) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return refuse(error);
  // The subtarget is created without a chip: with an unknown chip, LLVM writes to standard error.
  std::unique_ptr<llvm::MCSubtargetInfo> chips(backend->createMCSubtargetInfo(triple, "", ""));
  if (!chips->isCPUStringValid(chip))
    return refuse("no CUDA chip '" + chip + "'; give one as sm_80 or sm_90a");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, chip, getPtxFeature(chip), options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Returns a copy of every kernel in the NVVM dialect; null if a pass fails.
static OwningOpRef<ModuleOp> lowerKernels(ModuleOp kernels) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(kernels.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  kernels.walk([&](func::FuncOp kernel) {
    if (kernel->hasAttr(kKernelAttr))
      builder.clone(*kernel);
  });
  PassManager pm(kernels.getContext());
  buildNvvmPipeline(pm);
  return succeeded(pm.run(*copy)) ? std::move(copy) : nullptr;
}

/// Fails on undefined symbols, which PTX would declare, so that only the driver would report them.
static llvm::Error checkSelfContained(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return refuse("kernels call '" + function.getName() + "', which neither Tenon nor libdevice defines");
  return llvm::Error::success();
}

/// Makes everything but the kernels internal, so that it is inlined.
static void internalize(llvm::Module &module) {
  llvm::internalizeModule(module, [](const llvm::GlobalValue &value) {
    auto *function = dyn_cast<llvm::Function>(&value);
    return function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() && !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
}

llvm::Expected<std::string> tenon::emitPtx(ModuleOp kernels, StringRef chip) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(chip);
  if (!machine)
    return machine.takeError();
  std::string reason; // the first diagnostic
  ScopedDiagnosticHandler handler(kernels.getContext(), [&](Diagnostic &diagnostic) {
    if (reason.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reason = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> lowered = lowerKernels(kernels);
  if (!lowered)
    return refuse(reason.empty() ? "kernels cannot be lowered to the NVVM dialect" : reason);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*lowered, context, "kernels");
  if (!module)
    return refuse(reason.empty() ? "kernels do not translate to LLVM IR" : reason);
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  if (llvm::Error error = linkLibdevice(*module))
    return error;
  internalize(*module);
  optimizeModule(*module, **machine, llvm::OptimizationLevel::O3);
  if (llvm::Error error = checkSelfContained(*module))
    return error;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return refuse("LLVM's NVPTX code generator cannot write PTX");
  passes.run(*module);
  return std::string(text);
}
