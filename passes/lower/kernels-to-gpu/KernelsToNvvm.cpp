//===- KernelsToNvvm.cpp - entry points of kernels on NVIDIA GPUs ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/lower/kernels-to-llvm/KernelBody.h"

namespace tenon {
#define GEN_PASS_DEF_KERNELSTONVVM
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Emits the number of this thread in the grid. Grids have one dimension, which allows 2^31 - 1 blocks.
static Value emitThreadNumber(OpBuilder &b, Location loc) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto widen = [&](Value value) -> Value { return LLVM::ZExtOp::create(b, loc, i64, value); };
  Value block = widen(NVVM::BlockIdXOp::create(b, loc, i32));
  Value blockSize = widen(NVVM::BlockDimXOp::create(b, loc, i32));
  Value thread = widen(NVVM::ThreadIdXOp::create(b, loc, i32));
  return LLVM::AddOp::create(b, loc, LLVM::MulOp::create(b, loc, block, blockSize), thread);
}

/// Builds the entry point that the driver launches: each thread whose number is that of a tile calls the body for this
/// tile.
static void buildEntry(func::FuncOp body, StringRef name, ArrayRef<bool> isBuffer) {
  OpBuilder b(body);
  b.setInsertionPointAfter(body);
  Location loc = body.getLoc();
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types;
  for (bool buffer : isBuffer)
    types.push_back(buffer ? pointer : i64);
  types.push_back(i64);
  auto entry = LLVM::LLVMFuncOp::create(b, loc, name,
                                        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types));
  entry->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  for (unsigned i = 0; i < isBuffer.size(); ++i)
    if (DictionaryAttr attrs = body.getArgAttrDict(i))
      entry.setArgAttrs(i, attrs);

  Block *first = entry.addEntryBlock(b), *work = b.createBlock(&entry.getBody()),
        *exit = b.createBlock(&entry.getBody());
  b.setInsertionPointToStart(first);
  Value tile = emitThreadNumber(b, loc), tiles = first->getArguments().back();
  Value inRange = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, tile, tiles);
  LLVM::CondBrOp::create(b, loc, inRange, work, exit);

  b.setInsertionPointToStart(work);
  SmallVector<Value> operands(first->args_begin(), first->args_end() - 1);
  Value one = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
  operands.append({tile, LLVM::AddOp::create(b, loc, tile, one)});
  operands.push_back(LLVM::ZeroOp::create(b, loc, pointer)); // no kernel takes scratch memory on a GPU
  operands.push_back(LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(-1)));
  func::CallOp::create(b, loc, body, operands);
  LLVM::BrOp::create(b, loc, exit);
  b.setInsertionPointToStart(exit);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Rejects 8-bit floats: LLVM IR has no arithmetic for them, and the lowering would leave casts behind.
static LogicalResult checkTypes(func::FuncOp kernel) {
  auto check = [&](Type type) -> LogicalResult {
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)); element && element.getWidth() < 16)
      return kernel.emitError("kernel '") << kernel.getName() << "' works on elements of type " << element
                                          << ", which have no form in PTX yet: convert them to f16 or f32";
    return success();
  };
  for (Type type : kernel.getArgumentTypes())
    if (failed(check(type)))
      return failure();
  WalkResult result = kernel.walk([&](Operation *op) {
    return WalkResult(failure(llvm::any_of(op->getResultTypes(), [&](Type type) { return failed(check(type)); })));
  });
  return failure(result.wasInterrupted());
}

namespace {
struct KernelsToNvvm : public tenon::impl::KernelsToNvvmBase<KernelsToNvvm> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      if (failed(checkTypes(kernel)))
        return signalPassFailure();
      SmallVector<bool> isBuffer;
      for (Type type : kernel.getArgumentTypes().drop_back(2))
        isBuffer.push_back(isa<MemRefType>(type));
      std::string name = kernel.getName().str();
      lowerKernelArguments(kernel);
      kernel.setName(name + "_body");
      kernel.setPrivate();
      for (StringRef attr : {kKernelAttr, kSymbolsAttr, kTilesAttr})
        kernel->removeAttr(attr);
      kernel->setAttr("llvm.linkage", LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      buildEntry(kernel, name, isBuffer);
    }
  }
};
} // namespace
