//===- ContractionEmitter.h - the loops of a matrix product ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The micro-kernel is the one that all fast matrix products have (Goto and
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008): a
// block of rows x vectors of the result stays in registers while the summed
// loops run; each step loads a few vectors of one operand, and multiplies them
// with broadcast elements of the other.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H
#define TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/Int8Dot.h"
#include "passes/cost/RegisterBlock.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/Epilogue.h"
#include "passes/kernel/contract/Amx.h"
#include "passes/kernel/contract/Bf16Dot.h"
#include "passes/kernel/contract/DequantizeOnLoad.h"

namespace tenon {

/// The summed loop that moves along the input with the rows: row r reads place `stride` * r + `dilation` *
/// tap.
struct WindowLoop {
  unsigned loop;
  int64_t stride, dilation, taps;
  bool hasBounds;
};

/// How much of a convolution window is in bounds for the rows of a register block: all of it, a part that is known at
/// compile time, or a part that is known at run time.
enum class BorderMode { Interior, Static, Dynamic };

/// A step of a loop that does `count` of them at a time: number `number` of those that begin at `first`.
struct UnrolledStep {
  mlir::Value first;
  int64_t number = 0, count = 1;
};

/// What a register block depends on of a core.
struct BlockMachine {
  int64_t vectorBytes, registers;
  int64_t firstCacheWays; ///< lines that a set of the first cache holds
};

/// Emits the loops of one contraction on buffers.
class ContractionEmitter {
public:
  ContractionEmitter(mlir::linalg::GenericOp op, const Contraction &contraction, const BlockMachine &unit,
                     Int8Dot int8Dot)
      : problem(getProblem(op, contraction, unit, int8Dot)), nest(op, contraction), kBlocking(nest, problem),
        dequantize(nest, problem) {}
  void emit();
  /// The sum begins with zeros, which are not in memory.
  void startFromZero() { problem.isFromZero = true; }
  /// Whether AMX tiles can sum bf16 terms.
  bool fitsAmxBf16() { return tenon::fitsAmxBf16(problem); }
  /// Sums bytes in tile registers, where they are laid out for that. Parts of floats are always summed there.
  void useAmx() { wantsAmx = true; }
  /// Whether vectors can sum pairs of bf16 (Bf16Dot.cpp), and that they are to.
  bool fitsBf16Dot() { return tenon::fitsBf16Dot(problem); }
  void usePairs() { sumsPairs = true; }
  /// Takes over the operations that follow and change the sums.
  void absorbEpilogue();

private:
  static ContractionProblem getProblem(mlir::linalg::GenericOp op, const Contraction &contraction,
                                       const BlockMachine &unit, Int8Dot int8Dot);
  std::optional<WindowLoop> findWindow();
  void setWindow();
  bool hasFewTaps();
  BlockProblem getBlockProblem();
  void emitBlocks();
  void emitRows();
  void emitKnownRows();
  void emitFewRows();
  void copyRows();
  void packLhs();
  bool readsColumnsInOrder();
  mlir::Value getFirstRow();
  mlir::Value loadCopied(int64_t row);
  void emitLoops();
  void forGroups(llvm::function_ref<void()> body);
  /// Loops over all columns, or all rows: `body` gets the first and how many vectors or rows there are at
  /// once.
  void forColumns(llvm::function_ref<void(int64_t vectors, mlir::Value active)> body);
  void forRows(llvm::function_ref<void(int64_t rows)> body);
  void forBlocksOfRows(mlir::Value begin, mlir::Value end, int64_t rows, llvm::function_ref<void(int64_t rows)> body);
  int64_t countSmallerSizes(int64_t part);
  mlir::Value forRowsOfSomeSizes(llvm::function_ref<void(int64_t rows)> body);
  mlir::Value forRowSteps(mlir::Value begin, mlir::ArrayRef<int64_t> steps,
                          llvm::function_ref<void(int64_t rows)> body);
  bool mayRepeatRows();
  void emitRowsAnywhere(int64_t rows, llvm::function_ref<void(int64_t rows)> body);
  void forRowsOfKnownWindows(llvm::function_ref<void(int64_t rows)> body);
  void forKnownRows(llvm::function_ref<void(int64_t rows)> body);
  /// The blocks that a known number of rows is done in.
  std::optional<RowBlocks> getRowBlocks();
  llvm::SmallVector<int64_t> getRowSteps();
  void emitBlock(RegisterBlock block, mlir::Value active);
  bool isLastColumnAlone();
  void prefetchEpilogue();
  void applyEpilogue(mlir::MutableArrayRef<mlir::Value> sums);
  void storeBlock(mlir::MutableArrayRef<mlir::Value> sums);
  /// Adds what `loops` sum to some rows of the block; `sums` are those of all rows.
  llvm::SmallVector<mlir::Value> emitReduction(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> rows,
                                               mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitLoop(mlir::ArrayRef<unsigned> loops, LoopRange range, mlir::ArrayRef<int64_t> rows,
                                          mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitSteps(mlir::ArrayRef<unsigned> loops, mlir::Value begin, mlir::Value end,
                                           int64_t unrolled, mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  bool readsZeros(unsigned loop, mlir::ArrayRef<int64_t> rows);
  llvm::SmallVector<mlir::Value> emitBorder(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> rows,
                                            mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitOpenBorder(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> rows,
                                                mlir::ValueRange sums);
  std::optional<int64_t> getPixelDim();
  mlir::Value getZeros(mlir::MemRefType pixel);
  void readPixels(mlir::ArrayRef<int64_t> rows);
  mlir::Value loadElement(int64_t row);
  llvm::SmallVector<mlir::Value> emitTaps(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> rows,
                                          mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitStep(mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitQuads(mlir::ArrayRef<unsigned> loops, mlir::ArrayRef<int64_t> rows,
                                           mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> emitQuadStep(mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  mlir::Value loadQuad(int64_t row);
  mlir::Value loadQuads(int64_t vector);
  void emitQuadLoops();
  void emitWordLoops();
  mlir::Value getQuadStep();
  void splitPanel(int64_t vectors);
  mlir::Value loadPair(int64_t row);
  llvm::SmallVector<mlir::Value> emitWordStep(mlir::ArrayRef<int64_t> rows, mlir::ValueRange sums);
  void emitAmx();
  bool fitsAmx();
  void prefetchParts();
  /// Both kinds of code where it is not known whether rows are few.
  void forFewOrManyRows(llvm::function_ref<void(bool areFew)> body);
  void emitWidenedLoops();
  void emitWidenedRows(bool inRegisters);
  int64_t chooseUnrolledSteps(std::optional<int64_t> steps);
  bool hasFewRegisters() const { return registers <= 16; }
  /// `step` is that of `loop`, from the beginning of the part.
  void prefetchPanel(unsigned loop, UnrolledStep step);
  void prefetchSteps();
  void countOuterBlocks(mlir::AffineExpr &number, llvm::SmallVector<mlir::Value> &places, int64_t &count);
  void moveToNextPanels();

  /// The part of a summed loop in which the bounds of a row of the block hold.
  LoopRange getRange(unsigned loop, int64_t row);
  /// Whether a row of the block sees the current tap.
  mlir::Value seesTap(int64_t row);
  /// Whether the rows from the current one on see the whole window.
  mlir::Value isWhole(int64_t rows);
  /// Whether it is known what taps each row sees, and few blocks of rows see less than all.
  bool hasKnownWindows();
  bool isKnownWhole(int64_t first, int64_t rows);
  std::pair<int64_t, int64_t> getKnownRange(int64_t row);

  /// Zeros where there is a condition that does not hold.
  mlir::Value loadVector(const ElementRead &read, int64_t row, int64_t vector, mlir::Value condition = {});
  ContractionProblem problem;
  LoopBuilder nest;
  KBlocking kBlocking;
  DequantizeOnLoad dequantize;
  // Short names for what is above.
  mlir::OpBuilder &b = nest.b;
  const mlir::Location loc = nest.loc;
  mlir::linalg::GenericOp op = problem.op;
  Contraction &contraction = problem.contraction;
  const kernel::ScheduleAttr schedule = problem.schedule;
  const ScratchLayout &scratch = problem.scratch;
  const int64_t registers = problem.registers;
  const Int8Dot int8Dot = problem.int8Dot;
  const mlir::Type type = problem.type;
  const int64_t lanes = problem.lanes;
  bool wantsAmx = false, sumsPairs = false, hasCopiedColumns = false;
  llvm::SmallVector<EpilogueStage> epilogue;
  mlir::Value firstColumn;  ///< of the group that is done now, where there are several, or of those that are copied
  mlir::Value columnExtent; ///< the columns of a group, as many as are copied, or all
  std::optional<WindowLoop> window;
  int64_t fewestRows = 1;   ///< open rows are none or so many, at least
  mlir::Value packedRows;   ///< their memory: by blocks of rows [step / kPackedSteps, row, step % kPackedSteps]
  mlir::Value stepOfLoop;   ///< the first of those of the innermost loop that are done at a time
  int64_t numberOfStep = 0; ///< the current one among them
  mlir::Value blockOfRows;  ///< where the current block would begin if none began earlier to end with the last row
  /// Whether all taps of the window are at hand at once, so that what several rows read is loaded once.
  bool unrollsTaps = false;
  RegisterBlock block; ///< the one that is chosen
  RegisterBlock size;  ///< of the block that is emitted now, whose last vectors `active` masks
  mlir::Value active;
  int64_t firstQuad = 0;  ///< that vectors sum; those before are summed elsewhere
  mlir::Value panel;      ///< columns in words: [step, part of a quad, column], a pair of words for each
  bool sumsWords = false; ///< of quads, whose rows and columns are words in the thread's scratch
  int64_t quadBytes = 4;  ///< that the current step of quads has of each
  BorderMode borderMode = BorderMode::Interior;
  /// Where it is not known what rows see: the pixels that they read for the current tap, and what stands for
  /// one beyond the border.
  llvm::SmallVector<mlir::Value> pixels;
  mlir::Value zeros;
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H
