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

#include "compiler/backend/nvptx/Ptx.h"
#include "compiler/backend/spirv/Spirv.h"
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

static int writeSpirv(ModuleOp module, StringRef folder) {
  std::string error;
  FailureOr<std::vector<SpirvKernel>> kernels = emitSpirv(module, error);
  if (failed(kernels))
    return fail(error);
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return fail(folder + ": " + code.message());
  for (const SpirvKernel &kernel : *kernels) {
    std::error_code code;
    llvm::raw_fd_ostream file((folder + "/" + kernel.name + ".spv").str(), code);
    if (code)
      return fail(folder + ": " + code.message());
    file.write(reinterpret_cast<const char *>(kernel.words.data()), kernel.words.size() * sizeof(uint32_t));
    llvm::outs() << kernel.name << '\n';
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
  registerPtxTranslations(registry);
  registerSpirvDialects(registry);
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
  if (!folder.empty())
    return writeSpirv(*module, folder);
  std::string error;
  FailureOr<std::string> ptx = emitPtx(*module, chip, error);
  if (failed(ptx))
    return fail(error);
  llvm::outs() << *ptx;
  return 0;
}
