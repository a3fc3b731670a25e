//===- HuggingFaceTarget.cpp - config.json and model.safetensors ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/ImportHuggingFace.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace tenon;

static void writeFile(const std::string &path, const uint8_t *data, size_t size) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char *>(data), std::streamsize(size));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string folder = [] {
    char name[] = "/tmp/tenon-fuzz-XXXXXX";
    if (!mkdtemp(name))
      abort();
    return std::string(name);
  }();
  // The config ends with the first zero; the tensors follow.
  const uint8_t *end = std::find(data, data + size, 0);
  writeFile(folder + "/config.json", data, size_t(end - data));
  if (end != data + size)
    writeFile(folder + "/model.safetensors", end + 1, size_t(data + size - end - 1));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  uint64_t hash;
  ImportedModel imported = importHuggingFace(folder, {}, hash, &context);
  if (imported ? failed(verify(*imported.module)) : errors == 0) {
    fprintf(stderr, imported ? "the imported module is not valid\n" : "refused without an error\n");
    abort();
  }
  return 0;
}
