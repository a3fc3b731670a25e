//===- Stages.h - operations that need a loop nest of their own -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//  A kernel is a chain of stages, each a linalg.generic (or plain loops) that writes a tensor: reductions,
//  contractions, windows, scatters. The operations in between are computed element by element inside the stages that
//  read them.
//
// ===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_STAGES_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_STAGES_H

#include "passes/lower/tenon-to-linalg/ElementEmitter.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace tenon {

class StageTable;

/// Emits the stages of one kernel at a builder's insertion point.
class StageBuilder {
public:
  StageBuilder(mlir::OpBuilder &builder, KernelScope &scope) : builder(builder), scope(scope) {}

  /// Computes the results of a stage operation, and binds each to its tensor. `destinations`, where not null, are the
  /// tensors that the results are written to; they have the results' shapes and storage types.
  mlir::LogicalResult lower(mlir::Operation *op, llvm::ArrayRef<mlir::Value> destinations);
  /// Emits the store of any value to a destination, and returns the updated destination.
  mlir::FailureOr<mlir::Value> store(mlir::Value value, mlir::Value destination);
  /// Lowers the reshape between two loop nests of a kernel (Chains.h), in place in the result of `first` if its type
  /// allows that.
  mlir::LogicalResult lowerLink(ReshapeOp link, mlir::Operation *first);

  //===--- What stages are made of
  //---------------------------------------------------------------------------------------------===//

  /// Emits the element that is accumulated in one iteration of a reduction.
  using EmitTerm = llvm::function_ref<mlir::FailureOr<mlir::Value>(ElementEmitter &)>;
  struct Reduction {
    ReduceKind kind;
    mlir::Type elementType;
    /// How far each loop runs.
    Dims extents;
    /// The loops that run over the result's dimensions, in order; the others are reduction loops.
    llvm::SmallVector<unsigned> resultLoops;

    Dims getResultDims() const {
      Dims dims;
      for (unsigned loop : resultLoops)
        dims.push_back(extents[loop]);
      return dims;
    }
  };
  /// Returns the accumulators, in the destination if it has the accumulator's type.
  mlir::FailureOr<mlir::Value> buildReduction(mlir::Location loc, const Reduction &reduction, mlir::Value destination,
                                              EmitTerm emitTerm);
  /// Converts accumulators to results: rounds them if accumulators are wider, and applies `finish` if it is given.
  mlir::FailureOr<mlir::Value>
  buildElementwise(mlir::Location loc, mlir::RankedTensorType type, mlir::Value destination,
                   llvm::function_ref<mlir::FailureOr<mlir::Value>(ElementEmitter &)> emit);
  mlir::FailureOr<mlir::Value> finishReduction(mlir::Value result, mlir::Value accumulators, mlir::Value destination);

  /// Computes the result of lines whose statistics are known, in the destination or in a tensor of its own. Returns
  /// null if there is no destination and only elementwise operations read the result: then its elements are computed
  /// where they are read, because a dynamic or long line does not fit a tile.
  mlir::FailureOr<mlir::Value> finishLines(mlir::Operation *op, mlir::Value destination, EmitElement emit);

private:
  static const StageTable &getTable();

  mlir::FailureOr<mlir::Value> lowerContract(ContractOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerAttention(AttentionOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerSplitKeys(AttentionOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerCombineSplits(CombineSplitsOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerConvolve(ConvolveOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerWinograd(WinogradOp op, mlir::Value destination);
  /// Accumulates the windows of `op` along spatial dimensions [first, end). `joined` has the accumulators of earlier
  /// dimensions, with padding for later ones; null at first.
  mlir::FailureOr<mlir::Value> joinWindows(PoolOp op, unsigned first, unsigned end, mlir::Value joinedBefore,
                                           mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerPool(PoolOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerReduce(ReduceOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerArgReduce(ArgReduceOp op, mlir::Value destination);
  /// The same along the last dimension, where the elements of a line are contiguous.
  mlir::FailureOr<mlir::Value> selectAlongLines(ArgReduceOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerSample(SampleOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerScan(ScanOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> scanNeighbours(ScanOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> copyForChange(mlir::Value value, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerScatter(mlir::Operation *op, mlir::Value destination);
  // Lowers operations with two results, which are bound one by one.
  mlir::LogicalResult lowerTopK(TopKOp op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult lowerNms(NmsOp op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult lowerLu(LuOp op, llvm::ArrayRef<mlir::Value> destinations);

  /// Returns the tensors for both results of an operation.
  llvm::SmallVector<mlir::Value> getTargets(mlir::Operation *op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult bindResults(mlir::Operation *op, mlir::FailureOr<llvm::SmallVector<mlir::Value>> tensors);

  /// Emits loops over `dims` that carry one tensor; `body` writes to it and returns it.
  mlir::FailureOr<mlir::Value>
  buildLoops(mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Value tensor,
             llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::ValueRange, mlir::Value)> body);

  mlir::OpBuilder &builder;
  KernelScope &scope;
};

/// The table of the functions that lower operations with one result. Results of other operations are bound by
/// `StageBuilder::lower`.
class StageTable {
public:
  /// Registers `lower(stages, op, destination)` for OpT. It emits the stages and returns the tensor with the result:
  /// the updated `destination`, or a new tensor if that is null. It returns null if the elements are computed where
  /// they are read.
  template <typename OpT, typename LowerT> void add(LowerT lower) {
    auto [it, isNew] = entries.try_emplace(OpT::getOperationName(),
                                           [=](StageBuilder &stages, mlir::Operation *op, mlir::Value destination) {
                                             return lower(stages, mlir::cast<OpT>(op), destination);
                                           });
    assert(isNew && "an operation becomes stages in one way");
    (void)it, (void)isNew;
  }
  /// Fails, with an error, if the table has no entry for the operation.
  mlir::FailureOr<mlir::Value> lower(StageBuilder &stages, mlir::Operation *op, mlir::Value destination) const;

private:
  using Lower = std::function<mlir::FailureOr<mlir::Value>(StageBuilder &, mlir::Operation *, mlir::Value)>;
  llvm::StringMap<Lower> entries;
};

/// Normalizations.cpp
void addNormalizationStages(StageTable &table);

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_STAGES_H
