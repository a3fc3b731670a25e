//===- KernelBody.cpp - kernels on pointers and sizes ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/kernels-to-llvm/KernelBody.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/EmitDim.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Kernel.h"
#include "runtime/format/Kernel.h"

using namespace mlir;
using namespace tenon;

Value tenon::emitSize(OpBuilder &b, Location loc, AffineExpr dim, const llvm::DenseMap<unsigned, Value> &symbols) {
  return emitDim(b, loc, dim, b.getI64Type(), Dividends::any,
                 [&](AffineExpr leaf) { return symbols.lookup(cast<AffineSymbolExpr>(leaf).getPosition()); });
}

/// Builds the row-major memref for `pointer`.
static Value buildMemref(OpBuilder &b, Location loc, Value pointer, MemRefType type, ArrayRef<AffineExpr> dims,
                         const llvm::DenseMap<unsigned, Value> &symbols) {
  assert(static_cast<int64_t>(dims.size()) == type.getRank() && "a buffer says its dimensions");
  Type i64 = b.getI64Type(), pointerType = pointer.getType();
  SmallVector<Type> fields{pointerType, pointerType, i64};
  if (type.getRank() > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, type.getRank()));
  Value descriptor = LLVM::PoisonOp::create(b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor = LLVM::InsertValueOp::create(b, loc, descriptor, value, position);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), 2);
  AffineExpr stride = getDimConstant(b.getContext(), 1);
  for (int64_t i = type.getRank(); i-- > 0;) {
    insert(emitSize(b, loc, dims[i], symbols), {3, i});
    insert(emitSize(b, loc, stride, symbols), {4, i});
    stride = mulDims(stride, dims[i]);
  }
  return UnrealizedConversionCastOp::create(b, loc, type, descriptor).getResult(0);
}

/// Splits the steps of each kernel.share evenly over the tiles; the last tiles may have none.
static void lowerShares(func::FuncOp kernel, Value begin, Value end, const llvm::DenseMap<unsigned, Value> &symbols) {
  kernel.walk([&](kernel::ShareOp share) {
    OpBuilder b(share);
    Location loc = share.getLoc();
    auto tiles = kernel->getAttrOfType<ShapeAttr>(kTilesAttr);
    assert(tiles && "a kernel that shares steps says how many tiles it has");
    Type i64 = b.getI64Type();
    Value count = arith::IndexCastOp::create(b, loc, i64, share.getCount());
    // A kernel with zero tiles is not called, but LLVM must not treat the division by the number of tiles as undefined.
    AffineExpr number = tiles.getDims().front();
    if (getConstant(number) == 0)
      number = getDimConstant(b.getContext(), 1);
    Value perTile = arith::CeilDivUIOp::create(b, loc, count, emitSize(b, loc, number, symbols));
    auto getStep = [&](Value tile) -> Value {
      Value step = arith::MinSIOp::create(b, loc, arith::MulIOp::create(b, loc, tile, perTile), count);
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), step);
    };
    Value first = getStep(begin), last = getStep(end);
    share.replaceAllUsesWith(ValueRange{first, last});
    share.erase();
  });
}

/// Makes the kernel return early if a kernel.check_indices fails. One block reports all failures.
static void lowerIndexChecks(func::FuncOp kernel, Value scratch) {
  Region &body = kernel.getBody();
  SmallVector<kernel::CheckIndicesOp> checks(body.front().getOps<kernel::CheckIndicesOp>());
  if (checks.empty())
    return;
  Location loc = kernel.getLoc();
  OpBuilder b(kernel.getContext());
  Type i64 = b.getI64Type();
  Block *outOfRange = b.createBlock(&body, body.end(), {i64, i64, i64}, {loc, loc, loc});
  for (auto [i, value] : llvm::enumerate(outOfRange->getArguments())) {
    Value place =
        LLVM::GEPOp::create(b, loc, scratch.getType(), i64, scratch, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(b, loc, value, place);
  }
  Value code = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(TENON_KERNEL_INDEX_OUT_OF_RANGE));
  func::ReturnOp::create(b, loc, code);
  for (kernel::CheckIndicesOp check : checks) {
    Block *rest = check->getBlock()->splitBlock(std::next(check->getIterator()));
    b.setInsertionPoint(check);
    auto toI64 = [&](Value value) -> Value { return arith::IndexCastOp::create(b, loc, i64, value); };
    Value smallest = toI64(check.getSmallest()), largest = toI64(check.getLargest()), first = toI64(check.getFirst()),
          last = toI64(check.getLast());
    Value isAbove = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, largest, last);
    Value isBelow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, smallest, first);
    Value fails = arith::OrIOp::create(b, loc, isAbove, isBelow);
    Value index = arith::SelectOp::create(b, loc, isAbove, largest, smallest);
    cf::CondBranchOp::create(b, loc, fails, outOfRange, ValueRange{index, first, last}, rest, ValueRange{});
    check.erase();
  }
}

void tenon::lowerKernelArguments(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  Type i64 = IntegerType::get(context, 64), pointer = LLVM::LLVMPointerType::get(context);
  Block &body = kernel.getBody().front();
  OpBuilder b(&body, body.begin());

  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getArguments())
    types.push_back(isa<MemRefType>(argument.getType()) ? pointer : i64);
  types.append({pointer, i64}); // scratch, last end
  SmallVector<Value> lowered;
  unsigned numOld = kernel.getNumArguments();
  for (Type type : types)
    lowered.push_back(body.addArgument(type, loc));
  Value scratchMemory = lowered[numOld], lastEnd = lowered[numOld + 1];

  llvm::DenseMap<unsigned, Value> symbols;
  auto *dialect = context->getOrLoadDialect<TenonDialect>();
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr)) {
    assert(names.size() + 2 <= numOld && "sizes and the range of tiles are the last arguments of a kernel");
    unsigned first = numOld - 2 - names.size();
    for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
      symbols[dialect->internSymbol(name)] = lowered[first + i];
  }
  SmallVector<DictionaryAttr> attrs;
  for (unsigned i = 0; i < numOld; ++i) {
    BlockArgument argument = body.getArgument(i);
    NamedAttrList argumentAttrs;
    Value replacement;
    if (auto type = dyn_cast<MemRefType>(argument.getType())) {
      auto dims = kernel.getArgAttrOfType<ShapeAttr>(i, kDimsAttr);
      assert(dims && "a buffer of a kernel says its dimensions");
      replacement = buildMemref(b, loc, lowered[i], type, dims.getDims(), symbols);
      argumentAttrs.set(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
      if (!kernel.getArgAttr(i, kOutputAttr) && !kernel.getArgAttr(i, kReusedAttr))
        argumentAttrs.set(LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
    } else {
      replacement = arith::IndexCastOp::create(b, loc, b.getIndexType(), lowered[i]);
    }
    argument.replaceAllUsesWith(replacement);
    attrs.push_back(argumentAttrs.getDictionary(context));
  }
  NamedAttrList scratchAttrs;
  scratchAttrs.set(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  attrs.append({scratchAttrs.getDictionary(context), DictionaryAttr::get(context)});
  kernel.walk([&](kernel::ScratchOp scratch) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(scratch);
    Value place = LLVM::GEPOp::create(b, scratch.getLoc(), pointer, b.getI8Type(), scratchMemory,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(scratch.getOffset())});
    MemRefType type = scratch.getType();
    Dims dims;
    for (int64_t extent : type.getShape())
      dims.push_back(getDimConstant(context, extent));
    scratch.replaceAllUsesWith(buildMemref(b, scratch.getLoc(), place, type, dims, symbols));
    scratch.erase();
  });
  kernel.walk([&](kernel::LastEndOp op) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    op.replaceAllUsesWith(arith::IndexCastOp::create(b, op.getLoc(), b.getIndexType(), lastEnd).getResult());
    op.erase();
  });
  assert(numOld >= 2 && "a kernel takes a range of tiles");
  lowerShares(kernel, lowered[numOld - 2], lowered[numOld - 1], symbols);
  body.eraseArguments(0, numOld);
  kernel.setFunctionType(FunctionType::get(context, types, b.getI32Type()));
  kernel.setAllArgAttrs(attrs);
  auto terminator = cast<func::ReturnOp>(kernel.getBody().back().getTerminator());
  b.setInsertionPoint(terminator);
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(TENON_KERNEL_OK));
  func::ReturnOp::create(b, loc, ok);
  terminator.erase();
  lowerIndexChecks(kernel, scratchMemory);
}
