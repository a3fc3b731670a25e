//===- CopyBuilder.h - loops, loads and stores of a copy ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSES_COPYBUILDER_H
#define TENON_PASSES_KERNEL_TRANSPOSES_COPYBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/transposes/StridedCopy.h"

namespace tenon {

/// A loop, with all that is known at run time.
struct RunLoop {
  mlir::Value extent;
  mlir::Value strides[2];
};

/// A chain at run time, with positions from 0 to `extent`. On one side a position is an offset in memory; on the other
/// side, the offset is computed from the strides of the loops.
struct RunChain {
  llvm::SmallVector<RunLoop> loops;
  mlir::Value extent;
};

/// Offsets in memory, by side.
struct Places {
  mlir::Value at[2];
};

/// Creates the operations of a copy, before the original operation: offsets into the operands, which are accessed as
/// one-dimensional memory.
class CopyBuilder {
public:
  using Body = llvm::function_ref<void(Places)>;

  explicit CopyBuilder(const StridedCopy &copy);

  void forLoops(llvm::ArrayRef<RunLoop> loops, Places places, Body body);
  /// Emits a loop from 0 to `extent`. If the last step would be partial, it overlaps the one before it; both write the
  /// same values there.
  void forSteps(mlir::Value extent, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  void forRange(mlir::Value extent, llvm::function_ref<void(mlir::Value)> body);
  /// Emits a loop over tiles of `size` positions, or a single tile of all positions if there are fewer: `width` is the
  /// smaller of `size` and `extent`.
  void forTiles(mlir::Value extent, int64_t size, mlir::Value width, llvm::function_ref<void(mlir::Value)> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);
  void ifTrue(mlir::Value condition, llvm::function_ref<void()> then);
  /// Moves single units in the order of the output.
  void moveUnits(llvm::ArrayRef<RunLoop> loops, Places places);
  void moveVector(int64_t elements, Places places, int64_t offset = 0);

  /// Units as vectors of words, which shuffles take.
  mlir::Value loadUnits(int64_t units, mlir::Value place) { return loadUnits(units, place, memory[kInput]); }
  mlir::Value loadUnits(int64_t units, mlir::Value place, mlir::Value memory);
  void storeUnits(mlir::Value words, mlir::Value place) { storeUnits(words, place, memory[kOutput]); }
  void storeUnits(mlir::Value words, mlir::Value place, mlir::Value memory);
  /// Returns stack memory for `units` units, which all copies of a kernel share.
  mlir::Value getScratch(int64_t units);

  /// Returns the offset of `position` on the side where the chain is not contiguous.
  mlir::Value getOffset(const RunChain &chain, Side side, mlir::Value position);
  /// Returns the offsets of `count` positions from `position` on.
  llvm::SmallVector<mlir::Value> getOffsets(const RunChain &chain, Side side, mlir::Value position, int64_t count);
  /// The loops of `copy` but for those in `taken`.
  llvm::SmallVector<RunLoop> getOthers(llvm::ArrayRef<unsigned> taken) const;

  mlir::Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::AddIOp>(loc, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::SubIOp>(loc, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::MulIOp>(loc, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::DivUIOp>(loc, x, y); }
  mlir::Value rem(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::RemUIOp>(loc, x, y); }
  mlir::Value both(mlir::Value x, mlir::Value y) { return b.createOrFold<mlir::arith::AndIOp>(loc, x, y); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SelectOp>(loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(loc, predicate, x, y);
  }
  mlir::Value isAtLeast(mlir::Value x, int64_t least) {
    return compare(mlir::arith::CmpIPredicate::sge, x, constant(least));
  }

  const StridedCopy &copy;
  mlir::OpBuilder b;
  mlir::Location loc;
  /// Words of a unit, which shuffles move together.
  int64_t wordsPerUnit;
  llvm::SmallVector<RunLoop> loops;
  /// The operands as if they had one dimension.
  mlir::Value memory[2];
  Places start;

private:
  mlir::Type elementType, wordType;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSES_COPYBUILDER_H
