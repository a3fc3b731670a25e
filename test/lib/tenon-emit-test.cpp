//===- tenon-emit-test.cpp - prints the GPU code of a model's kernels -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// usage: tenon-emit-test --ptx=CHIP FILE.mlir
//        tenon-emit-test --spirv=FOLDER FILE.mlir
//
// FILE holds a main function in tenon operations. The first form prints PTX; the second writes a .spv file
// for each kernel into FOLDER and prints the kernels' names. An error is one line, and exit code 1.

#include "compiler/backend/registry/Backends.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

/// Writes the files of a folder and prints their names without the suffix; prints what is no folder.
static int write(llvm::ArrayRef<CodeFile> files, StringRef folder) {
  if (folder.empty()) {
    for (const CodeFile &file : files)
      llvm::outs() << file.bytes;
    return 0;
  }
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return fail(folder + ": " + code.message());
  for (const CodeFile &file : files) {
    std::error_code code;
    llvm::raw_fd_ostream os((folder + "/" + file.name).str(), code);
    if (code)
      return fail(folder + ": " + code.message());
    os << file.bytes;
    llvm::outs() << StringRef(file.name).rsplit('.').first << '\n';
  }
  return 0;
}

int main(int argc, char **argv) {
  StringRef chip, folder, input;
  for (StringRef argument : llvm::ArrayRef(argv + 1, argc - 1))
    if (!argument.consume_front("--ptx=") ? false : (chip = argument, true))
      continue;
    else if (argument.consume_front("--spirv="))
      folder = argument;
    else
      input = argument;
  if (input.empty() || chip.empty() == folder.empty())
    return fail("usage: tenon-emit-test --ptx=CHIP|--spirv=FOLDER FILE.mlir");
  DialectRegistry registry;
  registerDialects(registry);
  getBackendRegistry().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  PassManager pm(&context);
  GraphOptions options;
  options.hasPaths = false;
  buildGraphPipeline(pm, /*evaluate=*/nullptr, options);
  buildBufferPipeline(pm);
  if (failed(pm.run(*module)))
    return 1;
  StringRef format = folder.empty() ? "ptx" : "spirv";
  BackendSettings settings = getBackendRegistry().getDefaultSettings();
  if (!chip.empty())
    settings["--chip"] = chip.str();
  auto runNothing = [](StringRef, ModuleOp, llvm::function_ref<void(OpPassManager &)>) {
    return llvm::Error::success();
  };
  llvm::Expected<std::vector<CodeFile>> files =
      getBackendRegistry().findFormat(format).first->emit(*module, {Target(), format, {}, settings, runNothing});
  if (!files)
    return fail(llvm::toString(files.takeError()));
  return write(*files, folder);
}
