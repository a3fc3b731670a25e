//===- Codegen.cpp - kernels in the LLVM dialect to machine code ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/Codegen.h"
#include "compiler/backend/OptimizeModule.h"
#include "compiler/backend/llvm/LoopHints.h"
#include "compiler/backend/llvm/WorkaroundShiftIsel.h"
#include "compiler/backend/llvm/library/KernelLibrary.h"
#include "compiler/backend/llvm/math/MathLibrary.h"
#include "compiler/errors/CompileError.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime/format/Kernel.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <cassert>
#include <mutex>

using namespace mlir;
using namespace tenon;

void tenon::registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void tenon::setCodegenOptions() {
  // Register blocks are scheduled already, and fill all registers. The scheduler before register allocation only causes
  // copies and spills. The machine combiner does so, too: it adds products of integers to each other before it adds
  // them to the sums. LLVM has no other way to disable these.
  const char *arguments[] = {"tenon", "-enable-misched=false", "-x86-machine-combiner=false"};
  llvm::cl::ResetAllOptionOccurrences();
  llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments, "", &llvm::nulls());
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target,
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
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return makeError(CompileStatus::fault, "no code generator for " + target.name + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = target.roundsEachStep ? llvm::FPOpFusion::Strict : llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      effort == CodeEffort::most ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::Less));
}

//===----------------------------------------------------------------------===//
// Steps on LLVM IR
//===----------------------------------------------------------------------===//

/// Links the functions of a library that `module` calls into it, with internal linkage.
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

static llvm::Error linkMathLibrary(llvm::Module &module, const Target &target) {
  return linkLibrary(module, getMathLibraryBitcode(target.arch), "math library");
}

/// Sets the attributes that every function of a kernel module has: the processor, and vectors of full width.
static void setFunctionAttributes(llvm::Module &module, const Target &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.tuneCpu.empty())
      function.addFnAttr("tune-cpu", target.tuneCpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    if (llvm::StringRef(target.needed).contains("avx512f"))
      function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (function.hasLocalLinkage() && !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

/// Disables optimizations that make results depend on the processor: reassociated sums, and contraction to fused
/// multiply-adds.
static void roundEachStep(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (llvm::isa<llvm::FPMathOperator>(instruction)) {
        instruction.setHasAllowReassoc(false);
        instruction.setHasAllowContract(false);
      }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine, CodeEffort effort = CodeEffort::most) {
  bool isMost = effort == CodeEffort::most;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = isMost;
  tuning.LoopUnrolling = isMost;
  optimizeModule(module, machine, isMost ? llvm::OptimizationLevel::O3 : llvm::OptimizationLevel::O1, tuning,
                 [&machine](llvm::PassBuilder &builder) {
                   bool hasBf16 = machine.getTargetTriple().isX86() &&
                                  machine.getMCSubtargetInfo()->checkFeatures("+avx512bf16,+avx512vl");
                   addLoopHints(builder, hasBf16);
                   addWorkaroundShiftIsel(builder);
                 });
}

static std::string emit(llvm::Module &module, llvm::TargetMachine &machine, CodeKind kind) {
  assert(module.getTargetTriple() == machine.getTargetTriple() && "code is emitted for the module's target");
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
  [[maybe_unused]] bool isRefused = machine.addPassesToEmitFile(
      passes, os, nullptr,
      kind == CodeKind::assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
  assert(!isRefused && "the processors that Tenon compiles for have objects and assembly");
  passes.run(module);
  return std::string(bytes);
}

static std::vector<llvm::Function *> listEntries(llvm::Module &module) {
  std::vector<llvm::Function *> entries;
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      entries.push_back(&function);
  return entries;
}

/// Renames the entry point to kObjectEntry if there is only one.
static void renameEntry(llvm::Module &module) {
  std::vector<llvm::Function *> entries = listEntries(module);
  if (entries.size() != 1)
    return;
  std::string name = entries.front()->getName().str();
  entries.front()->setName(kObjectEntry);
  if (llvm::GlobalVariable *facts = module.getNamedGlobal(name + TENON_FACTS_SUFFIX))
    facts->setName(llvm::Twine(kObjectEntry) + TENON_FACTS_SUFFIX);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> tenon::compileKernels(ModuleOp op, const Target &target, CodeKind kind, CodeEffort effort) {
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(target, effort);
  if (!machine)
    return machine.takeError();
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(op, context, "kernels");
  if (!module)
    return makeError(CompileStatus::fault, "kernels do not translate to LLVM IR");
  module->setTargetTriple(llvm::Triple(target.triple));
  module->setDataLayout((*machine)->createDataLayout());

  if (kind == CodeKind::object)
    renameEntry(*module);
  llvm::StringSet<> entries;
  for (llvm::Function *function : listEntries(*module)) {
    entries.insert(function->getName());
    entries.insert((function->getName() + TENON_FACTS_SUFFIX).str());
  }
  if (llvm::Error failure = linkMathLibrary(*module, target))
    return makeError(CompileStatus::fault, "math library: " + llvm::toString(std::move(failure)));
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return entries.contains(value.getName()); });
  setFunctionAttributes(*module, target);
  if (target.roundsEachStep)
    roundEachStep(*module);
  optimize(*module, **machine, effort);
  return emit(*module, **machine, kind);
}

llvm::Expected<std::string> tenon::nameEntry(llvm::StringRef object, llvm::StringRef name) {
  auto binary = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!binary)
    return makeError(CompileStatus::fault, "the object of " + name + ": " + llvm::toString(binary.takeError()));
  std::string facts = (name + TENON_FACTS_SUFFIX).str();
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename[kObjectEntry] = name;
  config.Common.SymbolsToRename[(llvm::Twine(kObjectEntry) + TENON_FACTS_SUFFIX).str()] = facts;
  llvm::SmallString<0> renamed;
  llvm::raw_svector_ostream os(renamed);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **binary, os))
    return makeError(CompileStatus::fault, "the object of " + name + ": " + llvm::toString(std::move(error)));
  return std::string(renamed);
}

/// Returns a module with the named functions and constants of a library. Fails if the library lacks one.
static llvm::Expected<std::unique_ptr<llvm::Module>> takeSymbols(ArrayRef<std::string> names,
                                                                 llvm::LLVMContext &context,
                                                                 const llvm::TargetMachine &machine,
                                                                 std::string_view bitcode, llvm::StringRef library) {
  auto module = std::make_unique<llvm::Module>(library, context);
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  // The types are irrelevant: a declaration only tells the linker which symbols to import.
  auto *anything = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  for (const std::string &name : names)
    if (llvm::StringRef(name).ends_with(TENON_FACTS_SUFFIX))
      module->getOrInsertGlobal(name, llvm::Type::getInt8Ty(context));
    else
      module->getOrInsertFunction(name, anything);
  if (llvm::Error error = linkLibrary(*module, bitcode, library))
    return makeError(CompileStatus::fault, llvm::toString(std::move(error)));
  for (const std::string &name : names)
    if (llvm::GlobalValue *value = module->getNamedValue(name); !value || value->isDeclaration())
      return makeError(CompileStatus::fault, "kernels call '" + name + "', which the " + library + " lacks");
  return module;
}

llvm::Expected<std::string> tenon::compileLibrary(ArrayRef<std::string> kernels, const Target &target) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::vector<std::string> entries(kernels);
  for (const std::string &kernel : kernels)
    entries.push_back(kernel + TENON_FACTS_SUFFIX);
  llvm::Expected<std::unique_ptr<llvm::Module>> taken =
      takeSymbols(entries, context, **machine, getKernelLibraryBitcode(target.arch), "kernel library");
  if (!taken)
    return taken.takeError();
  std::unique_ptr<llvm::Module> module = std::move(*taken);
  llvm::internalizeModule(*module,
                          [&](const llvm::GlobalValue &value) { return llvm::is_contained(entries, value.getName()); });
  setFunctionAttributes(*module, target);
  optimize(*module, **machine);
  return emit(*module, **machine, CodeKind::object);
}

llvm::Expected<std::string> tenon::compileSupport(ArrayRef<std::string> objects, const Target &target) {
  llvm::StringSet<> undefined;
  for (const std::string &bytes : objects) {
    auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernels"));
    if (!object)
      return makeError(CompileStatus::fault, llvm::toString(object.takeError()));
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
  // A plan without kernels still has a code section, which names its target.
  if (undefined.empty() && !objects.empty())
    return std::string();
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::vector<std::string> names;
  for (auto &symbol : undefined)
    names.push_back(symbol.getKey().str());
  llvm::Expected<std::unique_ptr<llvm::Module>> taken =
      takeSymbols(names, context, **machine, getMathLibraryBitcode(target.arch), "math library");
  if (!taken)
    return taken.takeError();
  std::unique_ptr<llvm::Module> module = std::move(*taken);
  llvm::internalizeModule(*module, [&](const llvm::GlobalValue &value) { return undefined.contains(value.getName()); });
  for (llvm::Function &function : *module) {
    function.addFnAttr("target-cpu", target.cpu);
    // Otherwise the loop in memcpy would be replaced by a call of memcpy.
    function.addFnAttr("no-builtins");
  }
  return emit(*module, **machine, CodeKind::object);
}
