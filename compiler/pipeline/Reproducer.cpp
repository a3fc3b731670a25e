//===- Reproducer.cpp - what a pipeline got, as a file ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Reproducer.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Characters of a resource's text, two a byte.
static constexpr int64_t kLongestResource = 1 << 20;

void tenon::printReproducer(Operation *op, StringRef title, StringRef pipeline, llvm::raw_ostream &os) {
  os << "// " << title << '\n';
  AsmState state(op, OpPrintingFlags().elideLargeResourceString(kLongestResource).enableDebugInfo());
  if (!pipeline.empty())
    state.attachResourcePrinter("mlir_reproducer", [&](Operation *, AsmResourceBuilder &builder) {
      builder.buildString("pipeline", pipeline);
      builder.buildBool("disable_threading", true);
      builder.buildBool("verify_each", true);
    });
  op->print(os, state);
  os << '\n';
}
