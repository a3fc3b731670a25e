//===- Amx.h - micro-kernels that sum in AMX tiles ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_AMX_H
#define TENON_PASSES_KERNEL_CONTRACT_AMX_H

#include "passes/kernel/contract/MicroKernel.h"

namespace tenon {

/// Emits a contraction whose sums are in AMX tiles: this class emits the loops around the products, and a derived class
/// the products.
class AmxKernel : public MicroKernel {
public:
  using MicroKernel::MicroKernel;
  void emit() override;

protected:
  /// Rows of an AMX tile: 16 rows from `first` on; those before row `fresh` of the tile were computed before.
  struct Rows {
    mlir::Value first, fresh;
    mlir::Value place; ///< the first row of the sums where they are stored between K-blocks
  };

  /// Elements of a vector, which are the columns of an AMX tile.
  static constexpr int64_t kColumns = 16; // format: of AMX
  /// AMX tiles on a side of the block of sums.
  static constexpr int64_t kSide = 2; // format: eight AMX tiles have room for 2 x 2 sums
  /// The numbers of the AMX tiles that hold sums, the LHS and the RHS, from the first one on.
  static constexpr int64_t kFirstSums = 0, kFirstLhs = 4, kFirstRhs = 6; // format: 2 x 2 sums, 2 + 2 operands

  /// Bytes of each row of the LHS that a step multiplies.
  virtual int64_t getStepBytes() = 0;
  /// The summed loop whose steps are multiplied at once.
  virtual unsigned getStepLoop() = 0;
  /// Emits the sums of a block from their beginning to their results.
  virtual void emitBlock(mlir::ArrayRef<Rows> rows, int64_t vectors);
  /// Emits the steps of that loop for a block of sums.
  virtual void emitSteps(mlir::ArrayRef<Rows> rows, int64_t vectors) = 0;
  /// The type of sums in AMX tiles, and how many blocks of them are stored before they are finished.
  virtual mlir::Type getSumType() { return type; }
  virtual int64_t countSumBlocks() { return 1; }
  /// Emits the sum of a vector of the stored block from its row `row` on; row `ofTile` of the rows of an AMX tile.
  virtual mlir::Value emitSum(const Rows &rows, mlir::Value ofTile, mlir::Value row, int64_t vector);
  /// Emits what becomes of the sums of `block`, that of rows from row `ofTile` of an AMX tile on.
  virtual void emitResults(const Rows &rows, mlir::Value ofTile, mlir::ValueRange sums, const SumBlock &block);
  /// True if AMX tiles cover all products; else `completeSums` adds the others.
  virtual bool hasWholeSums() { return true; }
  /// Adds the products that AMX tiles do not cover to the sums of some rows from the current one on.
  virtual llvm::SmallVector<mlir::Value> completeSums(const SumBlock &, llvm::SmallVector<mlir::Value> sums) {
    return sums;
  }
  /// Called before all loops, before the columns of each K-block, and before each block of columns.
  virtual void beginTile() {}
  virtual void beginKBlock() {}
  virtual void beginColumns() {}

  /// Emits an instruction on AMX tiles alone.
  void call(llvm::StringRef name, mlir::ArrayRef<int64_t> tiles);
  /// Loads or stores an AMX tile whose rows are `rowBytes` apart in `memory`.
  void move(llvm::StringRef name, int64_t tile, mlir::Value memory, mlir::ValueRange indices, mlir::Value rowBytes);
  /// Loads the AMX tile of some number of an operand; null if it is loaded already.
  using TileLoad = llvm::function_ref<void(int64_t number)>;
  /// Adds the products of each AMX tile of the LHS with each of the RHS to the sums. Each is loaded just before its
  /// first product, since a load takes half as long as a product, and both run at the same time.
  void multiplyTiles(llvm::StringRef name, int64_t rows, int64_t vectors, TileLoad loadLhs, TileLoad loadRhs);
  /// The bytes from an element of an operand to that of the next row, or of the next iteration of a loop.
  mlir::Value getRowBytes(const ElementRead &read) { return getStrideBytes(read, *contraction.rowLoop); }
  mlir::Value getStrideBytes(const ElementRead &read, unsigned loop);
  KBlocking &getKBlocking() const { return parts.kBlocking; }

  /// Sets all sums of a block to zero.
  void clearSums(mlir::ArrayRef<Rows> rows, int64_t vectors);
  /// Emits all steps of a block of sums.
  void emitSums(mlir::ArrayRef<Rows> rows, int64_t vectors) { emitSums(nest.getSummedLoops(), rows, vectors); }
  /// Emits a loop over the steps of terms of the sum, or of the current K-block, and moves to each.
  void forTermSteps(llvm::function_ref<void()> body);
  /// Stores the sums as block `number` of them.
  void storeSums(int64_t number, mlir::ArrayRef<Rows> rows, int64_t vectors);
  /// Emits the results of stored sums.
  void finish(mlir::ArrayRef<Rows> rows, int64_t vectors);
  /// Loads a vector of stored sums.
  mlir::Value loadSum(int64_t number, mlir::Value row, int64_t vector);

private:
  mlir::Value allocate(mlir::MemRefType type);
  void configure();
  void emitColumns();
  void forRows(llvm::function_ref<void(mlir::ArrayRef<Rows> rows)> body);
  void moveStoredSums(llvm::StringRef name, mlir::ArrayRef<Rows> rows, int64_t vectors);
  void emitSums(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<Rows> rows, int64_t vectors);
  bool sumsInPlace();
  void moveSums(llvm::StringRef name, mlir::ArrayRef<Rows> rows, int64_t vectors);
  void finishRows(int64_t firstSums, Rows rows, int64_t vectors);
  void finishSomeRows(int64_t firstSums, Rows rows, mlir::Value row, int64_t count, int64_t vectors);

  mlir::Value columnMask; ///< of the last vector of the current block of columns, or null
  mlir::Value tileRows;   ///< rows of an AMX tile: 16, or all
  mlir::Value sums;       ///< memory for the sums of a block
};

/// True if all neighbouring rows of the LHS have the same distance in bytes, as AMX tiles require.
bool hasConstantRowStride(const Contraction &contraction);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_AMX_H
