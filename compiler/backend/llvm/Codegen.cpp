//===- Codegen.cpp - kernels in the LLVM dialect to machine code ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/Codegen.h"
#include "compiler/backend/llvm/LoopHints.h"
#include "compiler/backend/llvm/ShiftTwins.h"
#include "compiler/backend/llvm/Target.h"
#include "compiler/backend/llvm/library/KernelLibrary.h"
#include "compiler/backend/llvm/math/MathLibrary.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime/format/Kernel.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

using namespace mlir;
using namespace tenon;

void tenon::registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void tenon::setCodegenOptions() {
  // Register blocks are in the best order already, and fill all registers: what the scheduler before register
  // allocation moves costs copies and spills; so does what is combined before it, which sums products of integers
  // before they are added to the sums of a block. There is no other way to turn these off.
  const char *arguments[] = {"tenon", "-enable-misched=false", "-x86-machine-combiner=false"};
  llvm::cl::ResetAllOptionOccurrences();
  llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments, "", &llvm::nulls());
}

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(const CpuTarget &target, std::string &error,
                                                                CodeEffort effort = CodeEffort::most) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  llvm::Triple triple(target.triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      effort == CodeEffort::most ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::Less));
}

//===----------------------------------------------------------------------===//
// Steps on LLVM IR
//===----------------------------------------------------------------------===//

/// Adds the functions of a library that `module` calls, as its own.
static llvm::Error linkLibrary(llvm::Module &module, std::string_view bitcode, llvm::StringRef name) {
  llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode.data(), bitcode.size()), name);
  llvm::Expected<std::unique_ptr<llvm::Module>> library = llvm::getLazyBitcodeModule(buffer, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("cannot link the " + name);
  return llvm::Error::success();
}

static llvm::Error linkMathLibrary(llvm::Module &module, const CpuTarget &target) {
  return linkLibrary(module, getMathLibraryBitcode(target.arch), "math library");
}

/// Sets what every function of a kernel module has: the processor, and vectors of full width.
static void setFunctionAttributes(llvm::Module &module, const CpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    if (llvm::StringRef(target.needed).contains("avx512f"))
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (function.hasLocalLinkage())
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, CodeEffort effort = CodeEffort::most) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = effort == CodeEffort::most;
  tuning.LoopUnrolling = effort == CodeEffort::most;
  llvm::PassBuilder builder(&machine, tuning);
  addLoopHints(builder);
  addShiftTwins(builder);
  // No function of the C library exists for a kernel: none may be made up, and ours are no special ones.
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  bool isMost = effort == CodeEffort::most;
  builder.buildPerModuleDefaultPipeline(isMost ? llvm::OptimizationLevel::O3 : llvm::OptimizationLevel::O1)
      .run(module, modules);
}

static std::string emit(llvm::Module &module, llvm::TargetMachine &machine, CodeKind kind) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (kind == CodeKind::llvm) {
    module.print(os, nullptr);
    return std::string(bytes);
  }
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  machine.addPassesToEmitFile(passes, os, nullptr,
                              kind == CodeKind::assembly ? llvm::CodeGenFileType::AssemblyFile
                                                         : llvm::CodeGenFileType::ObjectFile);
  passes.run(module);
  return std::string(bytes);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

FailureOr<std::string> tenon::compileKernels(ModuleOp op, const CpuTarget &target, CodeKind kind, CodeEffort effort) {
  llvm::LLVMContext context;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target, error, effort);
  if (!machine)
    return op.emitError("no code generator for ") << target.name << ": " << error;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(op, context, "kernels");
  if (!module)
    return op.emitError("kernels do not translate to LLVM IR");
  module->setTargetTriple(llvm::Triple(target.triple));
  module->setDataLayout(machine->createDataLayout());

  llvm::StringSet<> entries;
  for (llvm::Function &function : *module)
    if (!function.isDeclaration() && !function.hasLocalLinkage()) {
      entries.insert(function.getName());
      entries.insert((function.getName() + TENON_FACTS_SUFFIX).str());
    }
  if (llvm::Error failure = linkMathLibrary(*module, target))
    return op.emitError("math library: ") << llvm::toString(std::move(failure));
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return entries.contains(value.getName()); });
  setFunctionAttributes(*module, target);
  optimize(*module, *machine, effort);
  return emit(*module, *machine, kind);
}

/// A module of the functions and constants of a library that are named; null where one is not there.
static std::unique_ptr<llvm::Module> takeSymbols(ArrayRef<std::string> names, llvm::LLVMContext &context,
                                                 const llvm::TargetMachine &machine, std::string_view bitcode,
                                                 llvm::StringRef library, std::string &error) {
  auto module = std::make_unique<llvm::Module>(library, context);
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  // Their types do not matter: a declaration only says what to take out of the library.
  auto *anything = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  for (const std::string &name : names)
    if (llvm::StringRef(name).ends_with(TENON_FACTS_SUFFIX))
      module->getOrInsertGlobal(name, llvm::Type::getInt8Ty(context));
    else
      module->getOrInsertFunction(name, anything);
  if (llvm::Error failed = linkLibrary(*module, bitcode, library)) {
    error = llvm::toString(std::move(failed));
    return nullptr;
  }
  for (const std::string &name : names)
    if (llvm::GlobalValue *value = module->getNamedValue(name); !value || value->isDeclaration()) {
      error = "kernels call '" + name + "', which the " + library.str() + " lacks";
      return nullptr;
    }
  return module;
}

FailureOr<std::string> tenon::compileLibrary(ArrayRef<std::string> kernels, const CpuTarget &target,
                                             std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target, error);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::vector<std::string> entries(kernels);
  for (const std::string &kernel : kernels)
    entries.push_back(kernel + TENON_FACTS_SUFFIX);
  std::unique_ptr<llvm::Module> module =
      takeSymbols(entries, context, *machine, getKernelLibraryBitcode(target.arch), "kernel library", error);
  if (!module)
    return failure();
  llvm::internalizeModule(*module,
                          [&](const llvm::GlobalValue &value) { return llvm::is_contained(entries, value.getName()); });
  setFunctionAttributes(*module, target);
  optimize(*module, *machine);
  return emit(*module, *machine, CodeKind::object);
}

FailureOr<std::string> tenon::compileSupport(ArrayRef<std::string> objects, const CpuTarget &target,
                                             std::string &error) {
  llvm::StringSet<> undefined;
  for (const std::string &bytes : objects) {
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernels"));
    if (!object) {
      error = llvm::toString(object.takeError());
      return failure();
    }
    for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
      auto flags = symbol.getFlags();
      auto name = symbol.getName();
      if (!flags || !name) {
        llvm::consumeError(flags.takeError());
        llvm::consumeError(name.takeError());
        continue;
      }
      if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
        undefined.insert(*name);
    }
  }
  // A plan without kernels still has a code section, which says what it was compiled for.
  if (undefined.empty() && !objects.empty())
    return std::string();
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target, error);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::vector<std::string> names;
  for (auto &symbol : undefined)
    names.push_back(symbol.getKey().str());
  std::unique_ptr<llvm::Module> module =
      takeSymbols(names, context, *machine, getMathLibraryBitcode(target.arch), "math library", error);
  if (!module)
    return failure();
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return undefined.contains(value.getName()); });
  for (llvm::Function &function : *module) {
    function.addFnAttr("target-cpu", target.cpu);
    // Or a loop that copies would become a call of memcpy, in memcpy itself.
    function.addFnAttr("no-builtins");
  }
  return emit(*module, *machine, CodeKind::object);
}
