//===- KernelAbi.cpp - give kernels the runtime's calling convention ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/lower/kernels-to-llvm/KernelBody.h"
#include "passes/lower/kernels-to-llvm/KernelFacts.h"
#include "runtime/format/Kernel.h"

namespace tenon {
#define GEN_PASS_DEF_KERNELABI
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Builds the function that the runtime calls: it unpacks its tables and calls the kernel's body.
static void buildEntry(func::FuncOp body, StringRef name, ArrayRef<bool> isBuffer) {
  OpBuilder b(body);
  b.setInsertionPointAfter(body);
  Location loc = body.getLoc();
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto entry =
      func::FuncOp::create(b, loc, name, b.getFunctionType({pointer, pointer, i64, i64, pointer, i64}, b.getI32Type()));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  int64_t nextBuffer = 0, nextSize = 0;
  for (bool buffer : isBuffer) {
    int64_t position = buffer ? nextBuffer++ : nextSize++;
    Value slot = LLVM::GEPOp::create(b, loc, pointer, buffer ? pointer : i64, block->getArgument(buffer ? 0 : 1),
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
    operands.push_back(LLVM::LoadOp::create(b, loc, buffer ? pointer : i64, slot));
  }
  llvm::append_range(operands, block->getArguments().drop_front(2));
  auto call = func::CallOp::create(b, loc, body, operands);
  func::ReturnOp::create(b, loc, call.getResults());
}

/// Builds the constant with which the runtime checks launches.
static void buildFacts(func::FuncOp kernel) {
  SmallVector<int64_t> words = getKernelFacts(kernel);
  OpBuilder b(kernel);
  auto size = static_cast<int64_t>(words.size());
  LLVM::GlobalOp::create(
      b, kernel.getLoc(), LLVM::LLVMArrayType::get(b.getI64Type(), size), /*isConstant=*/true, LLVM::Linkage::External,
      (kernel.getName() + TENON_FACTS_SUFFIX).str(),
      DenseElementsAttr::get(RankedTensorType::get({size}, b.getI64Type()), ArrayRef<int64_t>(words)));
}

namespace {
struct KernelAbi : public tenon::impl::KernelAbiBase<KernelAbi> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      SmallVector<bool> isBuffer;
      for (Type type : kernel.getArgumentTypes().drop_back(2))
        isBuffer.push_back(isa<MemRefType>(type));
      std::string name = kernel.getName().str();
      buildFacts(kernel);
      lowerKernelArguments(kernel);
      kernel.setName(name + "_body");
      kernel.setPrivate();
      for (StringRef attr : {kKernelAttr, kSymbolsAttr, kTilesAttr, kScratchAttr})
        kernel->removeAttr(attr);
      kernel->setAttr("llvm.linkage", LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      buildEntry(kernel, name, isBuffer);
    }
  }
};
} // namespace
