//===- RegexTarget.cpp - regular expressions, and options with shapes ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ImportModel.h"
#include "compiler/import/onnx/Regex.h"

#include <cstdlib>

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (llvm::Expected<onnx_import::Automaton> automaton = onnx_import::compileRegex(text)) {
    // Every step stays within the automaton.
    int64_t states = int64_t(automaton->accepts.size()), classes = int64_t(automaton->next.size()) / states;
    for (int64_t value : automaton->classes)
      if (value < 0 || value >= classes)
        abort();
    for (int64_t value : automaton->next)
      if (value < 0 || value >= states)
        abort();
  } else if (llvm::toString(automaton.takeError()).empty()) {
    abort();
  }
  ImportOptions options;
  for (auto *parse : {ImportOptions::parseShape, ImportOptions::parseRange, ImportOptions::parseConstant})
    if (llvm::Error error = parse(text, options); error && llvm::toString(std::move(error)).empty())
      abort();
  return 0;
}
