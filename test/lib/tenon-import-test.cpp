//===- tenon-import-test.cpp - prints an imported model -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// usage: tenon-import-test [--shape NAME=1x3xHxW] [--range H=32..640] [--constant NAME=1,2] [--full] [--time]
// [--quiet] FILE...
//
// FILE is an ONNX model; one that ends in .onnxtxt is written in ONNX's textual syntax (onnx/docs/Syntax.md),
// external data lying beside it. Prints the module, with its resources left out unless --full is given, or
// the errors; exits with the code that the compiler would exit with.

#include "compiler/import/onnx/ImportOnnx.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <cstring>
#include <iostream>
#include <onnx/defs/parser.h>

using namespace mlir;
using namespace tenon;

static ImportedModel importText(StringRef path, const ImportOptions &options, MLIRContext *context) {
  auto text = llvm::MemoryBuffer::getFile(path);
  auto model = std::make_unique<onnx::ModelProto>();
  if (!text) {
    llvm::errs() << path << ": " << text.getError().message() << "\n";
    return {{}, ImportFault::invalidModel};
  }
  std::string source;
  // Lines of // are for lit.
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n');
  for (StringRef line : lines)
    if (!line.ltrim().starts_with("//"))
      source += line.str() + "\n";
  onnx::Common::Status status = onnx::OnnxParser::Parse(*model, source.c_str());
  if (!status.IsOK()) {
    llvm::errs() << path << ": " << status.ErrorMessage() << "\n";
    return {{}, ImportFault::invalidModel};
  }
  return importOnnxModel(std::move(model), path.substr(path.find_last_of('/') + 1), path, options, context);
}

static int importOne(StringRef path, const ImportOptions &options, bool quiet, bool timed, bool full) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    llvm::errs() << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic.str()
                 << "\n";
    return success();
  });
  auto start = std::chrono::steady_clock::now();
  ImportedModel model =
      path.ends_with(".onnxtxt") ? importText(path, options, &context) : importOnnxFile(path, options, &context);
  if (timed)
    llvm::errs() << std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()
                 << " ms\n";
  if (!model) {
    int code = model.fault == ImportFault::unsupported ? 3 : model.fault == ImportFault::limit ? 4 : 1;
    llvm::errs() << "exit " << code << "\n";
    return code;
  }
  if (failed(verify(*model.module)))
    return 70;
  if (!quiet) {
    OpPrintingFlags flags;
    if (!full) {
      flags.elideLargeResourceString(0);
      flags.elideLargeElementsAttrs(16);
    }
    model.module->print(llvm::outs(), flags);
  }
  return 0;
}

int main(int argc, char **argv) {
  ImportOptions options;
  bool quiet = false, timed = false, full = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if (arg == "--quiet")
      quiet = true;
    else if (arg == "--full")
      full = true;
    else if (arg == "--time")
      timed = true;
    else if (auto *parse = arg == "--shape"      ? ImportOptions::parseShape
                           : arg == "--constant" ? ImportOptions::parseConstant
                           : arg == "--range"    ? ImportOptions::parseRange
                                                 : nullptr;
             parse && i + 1 < argc) {
      if (llvm::Error error = parse(argv[++i], options)) {
        llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
        return 2;
      }
    } else if (!arg.starts_with("--"))
      files.push_back(arg.str());
  }
  int worst = 0;
  for (const std::string &file : files) {
    int code = importOne(file, options, quiet, timed, full);
    if (files.size() > 1)
      llvm::outs() << code << " " << file << "\n";
    worst = std::max(worst, code);
  }
  return worst;
}
