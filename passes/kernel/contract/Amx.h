//===- Amx.h - micro-kernels that sum in AMX tiles ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_AMX_H
#define TENON_PASSES_KERNEL_CONTRACT_AMX_H

#include "passes/kernel/contract/KBlocking.h"
#include <functional>
#include <memory>

namespace tenon {

/// What vector code does for an AMX micro-kernel.
struct AmxHost {
  /// Loops over the columns in blocks of at most so many vectors; `body` receives how many vectors a block has.
  std::function<void(int64_t maxVectors, llvm::function_ref<void(int64_t vectors)> body)> forColumns;
  /// Prefetches the panels that follow those of the current block, which has so many vectors.
  std::function<void(int64_t vectors)> prefetchPanels;
  /// Completes the sums of `rows` rows from the current one on and stores the results. So many iterations of the
  /// innermost summed loop are in the sums.
  std::function<void(int64_t rows, int64_t summed, llvm::SmallVector<mlir::Value> sums)> finishRows;
};

/// Emits a contraction whose sums are in AMX tiles: the loops around the products, which a derived class emits.
class AmxKernel : protected EmitterPart {
public:
  AmxKernel(LoopBuilder &nest, const ContractionProblem &problem, KBlocking &kBlocking, AmxHost host)
      : EmitterPart(nest, problem), kBlocking(kBlocking), host(std::move(host)) {}
  virtual ~AmxKernel() = default;
  void emit();

protected:
  /// Rows of an AMX tile: 16 rows from `first` on, of which those before row `fresh` of the tile were done before.
  struct Rows {
    mlir::Value first, fresh;
    mlir::Value place; ///< the first row of the sums where they are stored between K-blocks
  };

  /// Elements of a vector, which are the columns of an AMX tile.
  static constexpr int64_t kColumns = 16;
  /// AMX tiles on a side of the block of sums.
  static constexpr int64_t kSide = 2;
  /// The numbers of the AMX tiles that hold sums, the LHS and the RHS, from the first one on.
  static constexpr int64_t kFirstSums = 0, kFirstLhs = 4, kFirstRhs = 6;

  /// Bytes of each row of the LHS that a step multiplies.
  virtual int64_t getStepBytes() = 0;
  /// The summed loop whose steps are multiplied at once.
  virtual unsigned getStepLoop() = 0;
  /// Iterations of that loop that the steps sum.
  virtual int64_t countSummed() = 0;
  /// Emits the steps of that loop for a block of sums.
  virtual void emitSteps(mlir::ArrayRef<Rows> rows, int64_t vectors) = 0;
  /// Called before all loops, before the columns of each K-block, and before each block of columns.
  virtual void beginTile() {}
  virtual void beginKBlock() {}
  virtual void beginColumns() {}

  /// Emits an instruction on AMX tiles alone.
  void call(llvm::StringRef name, mlir::ArrayRef<int64_t> tiles);
  /// Loads or stores an AMX tile whose rows are `rowBytes` apart in `memory`.
  void move(llvm::StringRef name, int64_t tile, mlir::Value memory, mlir::ValueRange indices, mlir::Value rowBytes);
  /// Adds the products of AMX tile `row` of the LHS with those of the RHS to the sums.
  void multiply(llvm::StringRef name, int64_t row, int64_t vectors);
  /// The bytes between neighboring rows of `lhs`.
  mlir::Value getRowBytes(const ElementRead &lhs);

  KBlocking &kBlocking;
  const AmxHost host;

private:
  mlir::Value allocate(mlir::MemRefType type);
  void configure();
  void emitColumns();
  void forRows(llvm::function_ref<void(mlir::ArrayRef<Rows> rows)> body);
  void emitBlock(mlir::ArrayRef<Rows> rows, int64_t vectors);
  void moveStoredSums(llvm::StringRef name, mlir::ArrayRef<Rows> rows, int64_t vectors);
  void emitSums(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<Rows> rows, int64_t vectors);
  void finishRows(int64_t firstSums, Rows rows, int64_t vectors);
  void finishSomeRows(int64_t firstSums, Rows rows, mlir::Value row, int64_t count, int64_t vectors);

  mlir::Value tileRows; ///< rows of an AMX tile: 16, or all
  mlir::Value sums;     ///< memory for the sums of a block
};

/// Whether neighboring rows of the LHS are the same number of bytes apart everywhere, as AMX tiles require.
bool hasConstantRowStride(const Contraction &contraction);

/// Whether AMX tiles can sum an int8 contraction without borders, and their micro-kernel. The extents are emitted.
bool fitsAmxInt8(const ContractionProblem &problem, const LoopBuilder &nest);
std::unique_ptr<AmxKernel> createAmxInt8(LoopBuilder &nest, const ContractionProblem &problem, KBlocking &kBlocking,
                                         AmxHost host);

/// The same for a contraction with bf16 terms.
bool fitsAmxBf16(const ContractionProblem &problem);
std::unique_ptr<AmxKernel> createAmxBf16(LoopBuilder &nest, const ContractionProblem &problem, KBlocking &kBlocking,
                                         AmxHost host);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_AMX_H
