//===- ResultWriter.cpp - what is stored of the sums of a contraction -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ResultWriter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"

using namespace mlir;
using namespace tenon;

ResultWriter::ResultWriter(LoopBuilder &nest, const ContractionProblem &problem) : EmitterPart(nest, problem) {
  AffineMap place = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  epilogue = matchEpilogue(op, op.getDpsInits()[0], place, contraction.columnLoop);
  if (!epilogue.empty())
    b.setInsertionPoint(epilogue.back().op);
}

void ResultWriter::eraseEpilogue() {
  for (EpilogueStage &stage : epilogue)
    stage.op.erase();
  epilogue.clear();
}

/// The buffer that a chain of views is of.
static Value getViewedBuffer(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

bool ResultWriter::mayRepeatRows() const {
  return problem.isFromZero && llvm::none_of(epilogue, [](EpilogueStage stage) {
           Value written = getViewedBuffer(stage.op.getDpsInits()[0]);
           return llvm::any_of(stage.reads,
                               [&](const ElementRead &read) { return getViewedBuffer(read.memory) == written; });
         });
}

void ResultWriter::prefetch(const SumBlock &block) {
  for (const EpilogueStage &stage : epilogue)
    for (const ElementRead &read : stage.reads) {
      if (!contraction.rowLoop || !isAlongColumns(read, contraction.columnLoop) ||
          !read.map.isFunctionOfDim(*contraction.rowLoop))
        continue;
      int64_t perLine = 8 * kCacheLineBytes / getElementTypeOrSelf(read.memory).getIntOrFloatBitWidth();
      for (int64_t row = 0; row < block.rows; ++row)
        for (int64_t column = 0; column < block.vectors * lanes; column += perLine)
          memref::PrefetchOp::create(b, loc, read.memory, nest.getIndices(read, row, column), /*isWrite=*/false,
                                     /*localityHint=*/3, /*isDataCache=*/true);
    }
}

void ResultWriter::applyEpilogue(MutableArrayRef<Value> sums, const SumBlock &block) {
  // The epilogue of int8 sums is a long chain of dependent operations for each vector. Interleaving some independent
  // chains keeps a core busy; more chains, or those of other types, would need too many registers.
  bool isInt8 = contraction.dot4Loop || contraction.isDepthwiseInt8;
  size_t numChains = isInt8 ? problem.policy.int8EpilogueChains : 1;
  for (const EpilogueStage &stage : epilogue) {
    // What is the same for all rows is read once.
    llvm::SmallDenseMap<std::pair<unsigned, int64_t>, Value> shared;
    for (size_t first = 0; first < sums.size(); first += numChains) {
      MutableArrayRef<Value> chains = sums.drop_front(first).take_front(numChains);
      emitStage(b, stage, chains, [&](unsigned number, size_t chain) {
        int64_t row = (first + chain) / block.vectors, v = (first + chain) % block.vectors;
        const ElementRead &read = stage.reads[number];
        bool isAlong = isAlongColumns(read, contraction.columnLoop);
        bool hasRows = contraction.rowLoop && read.map.isFunctionOfDim(*contraction.rowLoop);
        Value &known = shared[{number, isAlong ? v : -1}];
        if (known && !hasRows)
          return known;
        return known = emitVectorRead(b, loc, read, contraction.columnLoop, nest.getIndices(read, row, v * lanes),
                                      lanes, v + 1 == block.vectors ? block.mask : Value());
      });
    }
  }
}

void ResultWriter::store(MutableArrayRef<Value> sums, const SumBlock &block, bool isLastColumnAlone) {
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  assert(sums.size() == static_cast<size_t>(block.rows * block.vectors) && "a block has a sum for each row and vector");
  if (contraction.isDepthwiseInt8)
    for (Value &sum : sums)
      sum = arith::FPToSIOp::create(b, loc, VectorType::get({lanes}, getElementTypeOrSelf(out.memory)), sum);
  applyEpilogue(sums, block);
  if (!epilogue.empty())
    out.memory = epilogue.back().op.getDpsInits()[0];
  for (int64_t row = 0; row < block.rows; ++row)
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value sum = sums[row * block.vectors + v];
      SmallVector<Value> indices = nest.getIndices(out, row, v * lanes);
      if (block.mask && v + 1 == block.vectors && isLastColumnAlone)
        memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, sum, ArrayRef<int64_t>{0}), out.memory,
                                indices);
      else if (block.mask && v + 1 == block.vectors)
        vector::MaskedStoreOp::create(b, loc, out.memory, indices, block.mask, sum);
      else
        vector::StoreOp::create(b, loc, sum, out.memory, indices);
    }
}
