//===- Stages.h - operations that need a loop nest of their own -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A kernel is a chain of stages, each a linalg.generic (or plain loops) that
// writes a tensor: reductions, contractions, windows, scatters. What lies
// between them is computed element by element inside the stages that read it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_STAGES_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_STAGES_H

#include "passes/lower/tenon-to-linalg/ElementEmitter.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace tenon {

class StageTable;

/// Writes the stages of one kernel at a builder's place.
class StageBuilder {
public:
  StageBuilder(mlir::OpBuilder &builder, KernelScope &scope) : builder(builder), scope(scope) {}

  /// Computes the results of a stage operation, and binds each to its tensor. `destinations`, where not
  /// null, are tensors that the results go to, of the results' shapes and storage types.
  mlir::LogicalResult lower(mlir::Operation *op, llvm::ArrayRef<mlir::Value> destinations);
  /// Writes any value to a destination; the value of the destination afterwards.
  mlir::FailureOr<mlir::Value> store(mlir::Value value, mlir::Value destination);
  /// What is between two loop nests of a kernel (Chains.h): computed in the tensor that `first` has given where its
  /// type allows that.
  mlir::LogicalResult lowerLink(ReshapeOp link, mlir::Operation *first);

  //===--- What stages are made of
  //---------------------------------------------------------------------------------------------===//

  /// What a reduction sums up: the element to be joined in one iteration.
  using EmitTerm = llvm::function_ref<mlir::FailureOr<mlir::Value>(ElementEmitter &)>;
  struct Reduction {
    ReduceKind kind;
    mlir::Type elementType;
    /// How far each loop runs.
    Dims extents;
    /// The loops that run over the result's dimensions, in order; the others are joined.
    llvm::SmallVector<unsigned> resultLoops;

    Dims getResultDims() const {
      Dims dims;
      for (unsigned loop : resultLoops)
        dims.push_back(extents[loop]);
      return dims;
    }
  };
  /// The accumulators; written to the destination where its type is the accumulator's.
  mlir::FailureOr<mlir::Value> buildReduction(mlir::Location loc, const Reduction &reduction, mlir::Value destination,
                                              EmitTerm emitTerm);
  /// Accumulators to results: rounded where accumulators are wider, and changed by `finish` where given.
  mlir::FailureOr<mlir::Value>
  buildElementwise(mlir::Location loc, mlir::RankedTensorType type, mlir::Value destination,
                   llvm::function_ref<mlir::FailureOr<mlir::Value>(ElementEmitter &)> emit);
  mlir::FailureOr<mlir::Value> finishReduction(mlir::Value result, mlir::Value accumulators, mlir::Value destination);

  /// A result of lines whose statistics are known, in the destination, or in a tensor of its own. Where there is no
  /// destination, and elements of the same places alone are computed from it, it has none, and null is returned: what
  /// is open, or long, fits no tile.
  mlir::FailureOr<mlir::Value> finishLines(mlir::Operation *op, mlir::Value destination, EmitElement emit);

private:
  static const StageTable &getTable();

  mlir::FailureOr<mlir::Value> lowerContract(ContractOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerAttention(AttentionOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerSplitKeys(AttentionOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerCombineSplits(CombineSplitsOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerConvolve(ConvolveOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerWinograd(WinogradOp op, mlir::Value destination);
  /// Joins what windows of `op` see along spatial dimensions [first, end). What earlier ones gave is joined already, in
  /// a tensor of accumulators: later dimensions have all that windows see there, padding included. Null at first.
  mlir::FailureOr<mlir::Value> joinWindows(PoolOp op, unsigned first, unsigned end, mlir::Value joinedBefore,
                                           mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerPool(PoolOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerReduce(ReduceOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerArgReduce(ArgReduceOp op, mlir::Value destination);
  /// The same along the last dimension, where elements of a line are neighbours.
  mlir::FailureOr<mlir::Value> selectAlongLines(ArgReduceOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerScan(ScanOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> scanNeighbours(ScanOp op, mlir::Value destination);
  mlir::FailureOr<mlir::Value> copyForChange(mlir::Value value, mlir::Value destination);
  mlir::FailureOr<mlir::Value> lowerScatter(mlir::Operation *op, mlir::Value destination);
  // Operations of two results, which are bound one by one.
  mlir::LogicalResult lowerTopK(TopKOp op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult lowerNms(NmsOp op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult lowerLu(LuOp op, llvm::ArrayRef<mlir::Value> destinations);

  /// The tensors that both results of an operation go to.
  llvm::SmallVector<mlir::Value> getTargets(mlir::Operation *op, llvm::ArrayRef<mlir::Value> destinations);
  mlir::LogicalResult bindResults(mlir::Operation *op, mlir::FailureOr<llvm::SmallVector<mlir::Value>> tensors);

  /// Loops over `dims` that carry one tensor; `body` writes to it and gives it back.
  mlir::FailureOr<mlir::Value>
  buildLoops(mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> dims, mlir::Value tensor,
             llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::ValueRange, mlir::Value)> body);

  mlir::OpBuilder &builder;
  KernelScope &scope;
};

/// How each operation with one result becomes stages. The results of others are bound by `StageBuilder::lower`.
class StageTable {
public:
  /// `lower(stages, op, destination)` writes the stages of an OpT and returns the tensor that has the result:
  /// `destination` afterwards, or a tensor of its own where that is null. Null if the result has no tensor, since its
  /// elements are computed where they are read.
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
