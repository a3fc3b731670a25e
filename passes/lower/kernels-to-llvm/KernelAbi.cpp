//===- KernelAbi.cpp - give kernels the runtime's calling convention ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/lower/kernels-to-llvm/KernelBody.h"
#include "passes/lower/kernels-to-llvm/KernelFacts.h"
#include "runtime/format/Kernel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tenon {
#define GEN_PASS_DEF_KERNELABI
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Creates the function that the runtime calls, without a body.
static func::FuncOp createEntry(OpBuilder &b, Location loc, StringRef name) {
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  return func::FuncOp::create(b, loc, name,
                              b.getFunctionType({pointer, pointer, i64, i64, pointer, i64}, b.getI32Type()));
}

/// Loads element `position` of the table of buffers or of sizes that an entry point gets.
static Value loadOperand(OpBuilder &b, Location loc, Value table, bool isBuffer, int64_t position) {
  Type type = isBuffer ? Type(LLVM::LLVMPointerType::get(b.getContext())) : Type(b.getI64Type());
  Value place =
      LLVM::GEPOp::create(b, loc, table.getType(), type, table, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
  return LLVM::LoadOp::create(b, loc, type, place);
}

/// Builds an entry point that unpacks its tables and calls the kernel's body.
static void buildEntry(func::FuncOp body, StringRef name, ArrayRef<bool> isBuffer) {
  OpBuilder b(body);
  b.setInsertionPointAfter(body);
  Location loc = body.getLoc();
  Block *block = createEntry(b, loc, name).addEntryBlock();
  b.setInsertionPointToStart(block);
  SmallVector<Value> operands;
  int64_t nextBuffer = 0, nextSize = 0;
  for (bool buffer : isBuffer)
    operands.push_back(
        loadOperand(b, loc, block->getArgument(buffer ? 0 : 1), buffer, buffer ? nextBuffer++ : nextSize++));
  llvm::append_range(operands, block->getArguments().drop_front(2));
  auto call = func::CallOp::create(b, loc, body, operands);
  func::ReturnOp::create(b, loc, call.getResults());
}

/// Builds the constant with which the runtime checks launches.
static void buildFacts(Operation *kernel, StringRef name, ArrayRef<int64_t> words) {
  OpBuilder b(kernel);
  auto size = static_cast<int64_t>(words.size());
  LLVM::GlobalOp::create(b, kernel->getLoc(), LLVM::LLVMArrayType::get(b.getI64Type(), size), /*isConstant=*/true,
                         LLVM::Linkage::External, (name + TENON_FACTS_SUFFIX).str(),
                         DenseElementsAttr::get(RankedTensorType::get({size}, b.getI64Type()), words));
}

//===----------------------------------------------------------------------===//
// Merged kernels
//===----------------------------------------------------------------------===//

namespace {
/// The body of a kernel, and what calls of it need to know.
struct Body {
  func::FuncOp function;
  SmallVector<bool> isBuffer; ///< of each argument but scratch and the tiles
  AffineExpr tiles;
  SmallVector<unsigned> symbols; ///< in the order of the sizes
};
using Bodies = llvm::StringMap<Body>;

/// Builds the entry point of a merged kernel.
class MergedEntry {
public:
  MergedEntry(kernel::MergedOp merged, const Bodies &bodies)
      : merged(merged), bodies(bodies), b(merged), loc(merged.getLoc()) {}
  void build();

private:
  struct Range {
    Value begin, end;
  };

  /// Calls a part for tiles, and returns from the entry point if it fails.
  void call(kernel::PartAttr part, const Range &tiles, Value lastEnd);
  Value countTiles(kernel::PartAttr part);
  void buildWhole();
  void buildTiles();
  Value loadSize(int64_t number) { return loadOperand(b, loc, entry.getArgument(1), /*isBuffer=*/false, number); }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
  /// Continues in a new block, which is entered from here if `condition` holds; returns the block behind it.
  Block *beginIf(Value condition);
  void endIf(Block *after);

  kernel::MergedOp merged;
  const Bodies &bodies;
  OpBuilder b;
  Location loc;
  func::FuncOp entry;
};
} // namespace

Block *MergedEntry::beginIf(Value condition) {
  Region &region = entry.getBody();
  Block *from = b.getInsertionBlock(), *inside = b.createBlock(&region, region.end());
  Block *after = b.createBlock(&region, region.end());
  b.setInsertionPointToEnd(from);
  cf::CondBranchOp::create(b, loc, condition, inside, ValueRange(), after, ValueRange());
  b.setInsertionPointToEnd(inside);
  return after;
}

void MergedEntry::endIf(Block *after) {
  cf::BranchOp::create(b, loc, after);
  b.setInsertionPointToEnd(after);
}

void MergedEntry::call(kernel::PartAttr part, const Range &tiles, Value lastEnd) {
  const Body &body = bodies.at(part.getKernel().getValue());
  auto numBuffers = static_cast<int64_t>(merged.getBuffers());
  Value scratch = entry.getArgument(4);
  SmallVector<Value> operands;
  size_t nextBuffer = 0, nextSize = 0;
  for (bool isBuffer : body.isBuffer) {
    if (!isBuffer) {
      operands.push_back(loadSize(part.getSizes()[nextSize++]));
      continue;
    }
    int64_t number = part.getBuffers()[nextBuffer++];
    if (number < numBuffers)
      operands.push_back(loadOperand(b, loc, entry.getArgument(0), /*isBuffer=*/true, number));
    else
      operands.push_back(
          LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(merged.getSlotOffset(number - numBuffers))}));
  }
  operands.append({tiles.begin, tiles.end, scratch, lastEnd});
  Value code = func::CallOp::create(b, loc, body.function, operands).getResult(0);
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(TENON_KERNEL_OK));
  Block *after = beginIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, code, ok));
  func::ReturnOp::create(b, loc, code);
  b.setInsertionPointToEnd(after);
}

Value MergedEntry::countTiles(kernel::PartAttr part) {
  const Body &body = bodies.at(part.getKernel().getValue());
  llvm::DenseMap<unsigned, Value> symbols;
  for (auto [symbol, number] : llvm::zip(body.symbols, part.getSizes()))
    symbols[symbol] = loadSize(number);
  return emitSize(b, loc, body.tiles, symbols);
}

void MergedEntry::buildWhole() {
  Value none = constant(-1);
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, entry.getArgument(5), none);
  Block *after = beginIf(isFirst);
  for (kernel::PartAttr part : merged.listParts())
    if (part.getMode() == kernel::PartMode::whole)
      call(part, {constant(0), countTiles(part)}, none);
  endIf(after);
}

void MergedEntry::buildTiles() {
  Value offset = constant(0), zero = offset;
  SmallVector<kernel::PartAttr> parts(merged.listParts());
  for (auto it = parts.begin(); it != parts.end();) {
    if (it->getMode() == kernel::PartMode::whole) {
      ++it;
      continue;
    }
    auto end = std::find_if(it + 1, parts.end(),
                            [](kernel::PartAttr part) { return part.getMode() != kernel::PartMode::along; });
    Value count = countTiles(*it);
    auto toOwn = [&](Value tile) -> Value { return arith::SubIOp::create(b, loc, tile, offset); };
    Range own{arith::MaxSIOp::create(b, loc, toOwn(entry.getArgument(2)), zero),
              arith::MinSIOp::create(b, loc, toOwn(entry.getArgument(3)), count)};
    Value none = constant(-1), lastEnd = none;
    // Scratch has what the part left there if it was the last one of the call before.
    if (end - it == 1) {
      Value last = toOwn(entry.getArgument(5));
      Value isOwn = arith::AndIOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, last, zero),
                                          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, last, count));
      lastEnd = arith::SelectOp::create(b, loc, isOwn, last, none);
    }
    Block *after = beginIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, own.begin, own.end));
    for (; it != end; ++it)
      call(*it, own, lastEnd);
    endIf(after);
    offset = arith::AddIOp::create(b, loc, offset, count);
  }
}

void MergedEntry::build() {
  std::string name = merged.getSymName().str();
  entry = createEntry(b, loc, name);
  b.setInsertionPointToStart(entry.addEntryBlock());
  auto isWhole = [](kernel::PartAttr part) { return part.getMode() == kernel::PartMode::whole; };
  if (llvm::any_of(merged.listParts(), isWhole))
    buildWhole();
  buildTiles();
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(TENON_KERNEL_OK));
  func::ReturnOp::create(b, loc, ok);
  merged.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Makes a kernel the body of an entry point.
static Body makeBody(func::FuncOp kernel) {
  auto *dialect = kernel.getContext()->getOrLoadDialect<TenonDialect>();
  Body body{kernel, {}, {}, {}};
  for (Type type : kernel.getArgumentTypes().drop_back(2))
    body.isBuffer.push_back(isa<MemRefType>(type));
  if (auto tiles = kernel->getAttrOfType<ShapeAttr>(kTilesAttr))
    body.tiles = tiles.getDims().front();
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (StringRef name : names.getAsValueRange<StringAttr>())
      body.symbols.push_back(dialect->internSymbol(name));
  lowerKernelArguments(kernel);
  kernel.setName((kernel.getName() + "_body").str());
  kernel.setPrivate();
  for (StringRef attr : {kKernelAttr, kSymbolsAttr, kTilesAttr, kScratchAttr})
    kernel->removeAttr(attr);
  kernel->setAttr("llvm.linkage", LLVM::LinkageAttr::get(kernel.getContext(), LLVM::Linkage::Internal));
  return body;
}

namespace {
struct KernelAbi : public tenon::impl::KernelAbiBase<KernelAbi> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<kernel::MergedOp> merged(module.getOps<kernel::MergedOp>());
    llvm::StringSet<> parts;
    for (kernel::MergedOp op : merged) {
      buildFacts(op, op.getSymName(), getKernelFacts(op));
      for (kernel::PartAttr part : op.listParts())
        parts.insert(part.getKernel().getValue());
    }
    Bodies bodies;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      std::string name = kernel.getName().str();
      if (!parts.contains(name)) {
        buildFacts(kernel, name, getKernelFacts(kernel));
        Body body = makeBody(kernel);
        buildEntry(body.function, name, body.isBuffer);
        continue;
      }
      bodies.try_emplace(name, makeBody(kernel));
      // A kernel that is several parts is there once.
      kernel->setAttr("passthrough", Builder(&getContext()).getStrArrayAttr({"noinline"}));
    }
    for (kernel::MergedOp op : merged)
      MergedEntry(op, bodies).build();
  }
};
} // namespace
