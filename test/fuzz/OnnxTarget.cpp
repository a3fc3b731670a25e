//===- OnnxTarget.cpp - models in the ONNX format ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ImportOnnx.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <onnx/onnx_pb.h>
#include <unistd.h>

using namespace mlir;
using namespace tenon;

/// A folder with a file that external tensors may name.
static const std::string &folder() {
  static const std::string path = [] {
    char name[] = "/tmp/tenon-fuzz-XXXXXX";
    if (!mkdtemp(name))
      abort();
    std::ofstream(std::string(name) + "/data") << std::string(256, 'x');
    return std::string(name);
  }();
  return path;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto model = std::make_unique<onnx::ModelProto>();
  if (!model->ParseFromArray(data, int(size)))
    return 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  ImportOptions options;
  options.maxExpandedNodes = 1000;
  ImportedModel imported = importOnnxModel(std::move(model), "model.onnx", folder() + "/model.onnx", options, &context);
  // A refusal says why, and what is accepted is sound.
  if (imported ? failed(verify(*imported.module)) : errors == 0) {
    fprintf(stderr, imported ? "the imported module is not valid\n" : "refused without an error\n");
    abort();
  }
  return 0;
}
