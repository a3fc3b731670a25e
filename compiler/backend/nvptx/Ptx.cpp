//===- Ptx.cpp - kernels on buffers to PTX --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/nvptx/Libdevice.h"
#include "compiler/pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Kernel.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace mlir;
using namespace tenon;

void tenon::registerPtxTranslations(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// The PTX version to write. LLVM's own choice is too old for most chips, and it then ends the process.
static StringRef getPtxFeature(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  return number > 90 ? "+ptx90" : "+ptx80";
}

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(StringRef chip, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  // Asked of a subtarget without a chip: one with an unknown chip writes to standard error.
  std::unique_ptr<llvm::MCSubtargetInfo> chips(backend->createMCSubtargetInfo(triple, "", ""));
  if (!chips->isCPUStringValid(chip)) {
    error = "no CUDA chip '" + chip.str() + "'; give one as sm_80 or sm_90a";
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, chip, getPtxFeature(chip), options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// A copy of every kernel, in the NVVM dialect.
static OwningOpRef<ModuleOp> lowerKernels(ModuleOp kernels, std::string &error) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(kernels.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(copy->getBody());
  kernels.walk([&](func::FuncOp kernel) {
    if (kernel->hasAttr(kKernelAttr))
      builder.clone(*kernel);
  });
  PassManager pm(kernels.getContext());
  buildNvvmPipeline(pm);
  if (succeeded(pm.run(*copy)))
    return copy;
  if (error.empty())
    error = "kernels cannot be lowered to the NVVM dialect";
  return nullptr;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  // The target adds what resolves libdevice's questions about its environment.
  llvm::PassBuilder builder(&machine);
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// PTX would declare what is left undefined, and only the driver would notice.
static bool checkSelfContained(const llvm::Module &module, std::string &error) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) {
      error = "kernels call '" + function.getName().str() + "', which neither Tenon nor libdevice defines";
      return false;
    }
  return true;
}

FailureOr<std::string> tenon::emitPtx(ModuleOp kernels, StringRef chip, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(chip, error);
  if (!machine)
    return failure();
  ScopedDiagnosticHandler handler(kernels.getContext(), [&](Diagnostic &diagnostic) {
    if (error.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      error = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> lowered = lowerKernels(kernels, error);
  if (!lowered)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*lowered, context, "kernels");
  if (!module) {
    if (error.empty())
      error = "kernels do not translate to LLVM IR";
    return failure();
  }
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (!linkLibdevice(*module, error))
    return failure();
  llvm::internalizeModule(*module, [](const llvm::GlobalValue &value) {
    auto *function = dyn_cast<llvm::Function>(&value);
    return function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  for (llvm::Function &function : *module)
    if (!function.isDeclaration() && function.hasLocalLinkage() && !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  optimize(*module, *machine);
  if (!checkSelfContained(*module, error))
    return failure();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM's NVPTX code generator cannot write PTX";
    return failure();
  }
  passes.run(*module);
  return std::string(text);
}
