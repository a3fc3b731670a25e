//===- KernelFacts.cpp - what a kernel says of its launches ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/kernels-to-llvm/KernelFacts.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "runtime/format/Kernel.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Encodes the facts as words. `sizes` says which of a launch's sizes each symbol is.
class FactsWriter {
public:
  explicit FactsWriter(llvm::DenseMap<unsigned, int64_t> sizes) : sizes(std::move(sizes)) {}

  void add(std::initializer_list<int64_t> more) { words.append(more); }
  void addExpr(AffineExpr expr) {
    addPostfix(expr);
    words.push_back(TENON_FACT_END);
  }

  SmallVector<int64_t> words;

private:
  void addPostfix(AffineExpr expr);

  llvm::DenseMap<unsigned, int64_t> sizes;
};
} // namespace

static int64_t getFactOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return TENON_FACT_ADD;
  case AffineExprKind::Mul:
    return TENON_FACT_MUL;
  case AffineExprKind::FloorDiv:
    return TENON_FACT_FLOORDIV;
  case AffineExprKind::CeilDiv:
    return TENON_FACT_CEILDIV;
  default:
    return TENON_FACT_MOD;
  }
}

void FactsWriter::addPostfix(AffineExpr expr) {
  if (std::optional<int64_t> constant = getConstant(expr))
    return add({TENON_FACT_CONSTANT, *constant});
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return add({TENON_FACT_SIZE, sizes.lookup(symbol.getPosition())});
  auto binary = cast<AffineBinaryOpExpr>(expr);
  addPostfix(binary.getLHS());
  addPostfix(binary.getRHS());
  words.push_back(getFactOf(expr.getKind()));
}

SmallVector<int64_t> tenon::getKernelFacts(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  auto *dialect = context->getOrLoadDialect<TenonDialect>();
  llvm::DenseMap<unsigned, int64_t> sizes;
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (auto [i, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
      sizes[dialect->internSymbol(name)] = i;
  int64_t numBuffers = llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<MemRefType>);
  // The last two arguments are the range of tiles.
  int64_t numSizes = kernel.getNumArguments() - numBuffers - 2;
  auto scratch = kernel->getAttrOfType<IntegerAttr>(kScratchAttr);
  FactsWriter writer(std::move(sizes));
  writer.add({numBuffers, numSizes, scratch ? scratch.getInt() : 0});
  if (auto tiles = kernel->getAttrOfType<ShapeAttr>(kTilesAttr))
    writer.addExpr(tiles.getDims().front());
  else
    writer.add({TENON_FACT_END});
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref)
      continue;
    bool isWritten = kernel.getArgAttr(i, kOutputAttr) || kernel.getArgAttr(i, kReusedAttr);
    // An index is 64 bits wide.
    int64_t elementBytes = memref.getElementType().isIndex() ? 8 : (memref.getElementTypeBitWidth() + 7) / 8;
    AffineExpr count = getElementCount(context, Dims(kernel.getArgAttrOfType<ShapeAttr>(i, kDimsAttr).getDims()));
    writer.add({isWritten});
    writer.addExpr(mulDims(count, getDimConstant(context, elementBytes)));
  }
  return writer.words;
}
