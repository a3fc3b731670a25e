//===- KernelRegion.cpp - what a kernel computes, as text -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/KernelRegion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"

using namespace mlir;
using namespace tenon;

static std::string print(func::FuncOp kernel) {
  OwningOpRef<func::FuncOp> copy = kernel.clone();
  copy->setName("kernel");
  copy->walk([](Operation *op) {
    for (StringRef name : {kFlopsAttr, kBytesAttr, kPathsAttr, kPathTimesAttr, kRegionAttr, kServedRegionAttr})
      op->removeAttr(name);
  });
  constexpr int64_t kMaxElements = 4; // format: of the text
  std::string text;
  llvm::raw_string_ostream os(text);
  (*copy)->print(os, OpPrintingFlags()
                         .printGenericOpForm()
                         .useLocalScope()
                         .enableDebugInfo(false)
                         .elideLargeElementsAttrs(kMaxElements)
                         .elideLargeResourceString(0));
  return text;
}

void tenon::markKernelRegions(ModuleOp target) {
  for (auto kernel : target.getOps<func::FuncOp>())
    if (kernel->hasAttr(kKernelAttr) && !kernel->hasAttr(kKernelRegionAttr))
      kernel->setAttr(kKernelRegionAttr, StringAttr::get(kernel.getContext(), print(kernel)));
}
