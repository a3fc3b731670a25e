//===- KernelFacts.cpp - what a kernel says of its launches ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/kernels-to-llvm/KernelFacts.h"
#include "dialects/kernel/KernelDialect.h"
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
  FactsWriter() = default;
  explicit FactsWriter(llvm::DenseMap<unsigned, int64_t> sizes) : sizes(std::move(sizes)) {}

  void add(std::initializer_list<int64_t> more) { words.append(more); }
  void addExpr(AffineExpr expr) {
    addPostfix(expr);
    words.push_back(TENON_FACT_END);
  }

  /// Adds the next operand of an operation on several expressions, which has no end yet.
  void join(AffineExpr expr, llvm::DenseMap<unsigned, int64_t> sizesOfExpr, int64_t operation) {
    bool isFirst = words.empty();
    sizes = std::move(sizesOfExpr);
    addPostfix(expr);
    if (!isFirst)
      words.push_back(operation);
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

/// Returns which of a launch's sizes each symbol of a kernel is; `numbers` are those of the kernel's sizes.
static llvm::DenseMap<unsigned, int64_t> numberSymbols(func::FuncOp kernel, ArrayRef<int64_t> numbers) {
  auto *dialect = kernel.getContext()->getOrLoadDialect<TenonDialect>();
  llvm::DenseMap<unsigned, int64_t> sizes;
  if (auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr))
    for (auto [name, number] : llvm::zip(names.getAsRange<StringAttr>(), numbers))
      sizes[dialect->internSymbol(name)] = number;
  return sizes;
}

static SmallVector<unsigned> listBuffers(func::FuncOp kernel) {
  SmallVector<unsigned> buffers;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<MemRefType>(type))
      buffers.push_back(i);
  return buffers;
}

static bool isWritten(func::FuncOp kernel, unsigned buffer) {
  return kernel.getArgAttr(buffer, kOutputAttr) || kernel.getArgAttr(buffer, kReusedAttr);
}

/// Returns the bytes of a buffer as an expression over the kernel's symbols.
static AffineExpr countBytes(func::FuncOp kernel, unsigned buffer) {
  MLIRContext *context = kernel.getContext();
  auto type = cast<MemRefType>(kernel.getArgument(buffer).getType());
  // An index is 64 bits wide.
  int64_t elementBytes = type.getElementType().isIndex() ? 8 : (type.getElementTypeBitWidth() + 7) / 8;
  AffineExpr count = getElementCount(context, Dims(kernel.getArgAttrOfType<ShapeAttr>(buffer, kDimsAttr).getDims()));
  return mulDims(count, getDimConstant(context, elementBytes));
}

SmallVector<int64_t> tenon::getKernelFacts(func::FuncOp kernel) {
  SmallVector<unsigned> buffers = listBuffers(kernel);
  auto numBuffers = static_cast<int64_t>(buffers.size());
  // The last two arguments are the range of tiles.
  int64_t numSizes = kernel.getNumArguments() - numBuffers - 2;
  auto scratch = kernel->getAttrOfType<IntegerAttr>(kScratchAttr);
  FactsWriter writer(numberSymbols(kernel, llvm::to_vector(llvm::seq<int64_t>(0, numSizes))));
  writer.add({numBuffers, numSizes, scratch ? scratch.getInt() : 0});
  if (auto tiles = kernel->getAttrOfType<ShapeAttr>(kTilesAttr))
    writer.addExpr(tiles.getDims().front());
  else
    writer.add({TENON_FACT_END});
  for (unsigned buffer : buffers) {
    writer.add({isWritten(kernel, buffer)});
    writer.addExpr(countBytes(kernel, buffer));
  }
  return writer.words;
}

SmallVector<int64_t> tenon::getKernelFacts(kernel::MergedOp merged) {
  FactsWriter tiles;
  auto numBuffers = static_cast<int64_t>(merged.getBuffers());
  SmallVector<FactsWriter> bytes(numBuffers);
  SmallVector<int64_t> written(numBuffers);
  for (kernel::PartAttr part : merged.listParts()) {
    func::FuncOp kernel = merged.lookUp(part);
    llvm::DenseMap<unsigned, int64_t> sizes = numberSymbols(kernel, part.getSizes());
    if (part.getMode() == kernel::PartMode::tiles)
      tiles.join(kernel->getAttrOfType<ShapeAttr>(kTilesAttr).getDims().front(), sizes, TENON_FACT_ADD);
    for (auto [buffer, number] : llvm::zip(listBuffers(kernel), part.getBuffers())) {
      if (number >= numBuffers)
        continue;
      bytes[number].join(countBytes(kernel, buffer), sizes, TENON_FACT_MAX);
      written[number] |= isWritten(kernel, buffer);
    }
  }
  if (tiles.words.empty())
    tiles.add({TENON_FACT_CONSTANT, 1});
  FactsWriter all;
  all.add({numBuffers, static_cast<int64_t>(merged.getSizes()), merged.getScratchBytes()});
  auto append = [&](const FactsWriter &expr) {
    llvm::append_range(all.words, expr.words);
    all.add({TENON_FACT_END});
  };
  append(tiles);
  for (auto [isWritten, expr] : llvm::zip(written, bytes)) {
    all.add({isWritten});
    append(expr);
  }
  return all.words;
}
