//===- tenon-opt.cpp - runs passes on .mlir files -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Pipelines.h"
#include "compiler/import/WeightReferences.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"

#ifndef NDEBUG
/// As LLVM's --debug-only, which libraries that were built without assertions do not have.
static void printDebugOutputOf(const std::string &pass) {
  static std::vector<std::string> passes;
  passes.push_back(pass);
  std::vector<const char *> names;
  for (const std::string &known : passes)
    names.push_back(known.c_str());
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(names.data(), names.size());
}

static llvm::cl::list<std::string> debugPasses("tenon-debug", llvm::cl::CommaSeparated, llvm::cl::value_desc("passes"),
                                               llvm::cl::desc("Print what these passes decide, and why"),
                                               llvm::cl::cb<void, std::string>(printDebugOutputOf));
#endif

/// LLVM's libraries add about four hundred options of their own, which --help-hidden shows. MLIR's options are
/// registered later, together with the passes.
static void hideOptionsOfLLVM() {
  for (auto [name, option] : llvm::cl::getRegisteredOptions())
    if (!name.starts_with("tenon-") && !name.starts_with("help") && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  hideOptionsOfLLVM();
  mlir::DialectRegistry registry;
  tenon::registerDialects(registry);
  tenon::registerBackendDialects(registry);
  tenon::registerWeightReferences(registry);
  tenon::registerPasses();
  tenon::registerBackendPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tenon optimizer driver\n", registry));
}
