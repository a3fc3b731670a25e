//===- Blocks.cpp - transpose blocks of rows and columns in registers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/kernel/transposes/CopyBuilder.h"
#include "passes/kernel/transposes/Shuffles.h"
#include "passes/kernel/transposes/Transposes.h"

using namespace mlir;
using namespace tenon;

namespace {
/// The units of a block. The number of rows is a multiple of the number of columns.
struct Block {
  int64_t rows, columns;
};

/// The order of blocks, chosen so that a cache line that two consecutive blocks share is still in L1.
enum class Walk { alongRows, alongColumns };

/// The rows that are packed at a time; `isNested` if they are whole steps of the outer one of two loops.
struct PackedRows {
  int64_t count;
  bool isNested;
};

class BlockEmitter {
public:
  BlockEmitter(const StridedCopy &copy, const LoopChain &columnChain, const LoopChain &rowChain, int64_t vectorBytes);
  void emit();

private:
  RunChain resolve(const LoopChain &chain, Side side);
  Value conflicts(Value stride, int64_t bytes);
  int64_t getLaneUnits() const { return std::max<int64_t>(kLaneBits / copy.getUnitBits(), 2); }
  void emitSize(int64_t size);
  void emitLargest();
  void emitBlocks(Block block, Walk walk);
  PackedRows choosePackedRows(Block block);
  void forPackedRows(PackedRows packed, Value firstRow, Value height, llvm::function_ref<void(Value, Value)> body);
  void emitPacked(Block block);
  void emitBlock(Block block, llvm::function_ref<Value(int64_t)> load, ArrayRef<Value> to);
  Value continuesRows();
  Value hasRowsApart();
  Value canPad(int64_t size, int64_t length, Value few, Value many);
  void emitPaddedRows(int64_t size, int64_t length);
  void emitPaddedColumns(int64_t size);
  void emitPadded(int64_t size, llvm::function_ref<void()> otherwise);
  void emitInterleaved(Side side, int64_t count);
  void emitSingle();
  void forOthersAround(const RunChain &chain, CopyBuilder::Body body);
  void forOthers(CopyBuilder::Body body) { builder.forLoops(others, builder.start, body); }

  const StridedCopy &copy;
  CopyBuilder builder;
  int64_t lanes; ///< units of a vector
  /// The loops around blocks.
  SmallVector<RunLoop> others;
  RunChain columns, rows;
  bool hasSureRows; ///< the loops of rows are known to continue each other
};
} // namespace

BlockEmitter::BlockEmitter(const StridedCopy &copy, const LoopChain &columnChain, const LoopChain &rowChain,
                           int64_t vectorBytes)
    : copy(copy), builder(copy), lanes(vectorBytes * 8 / copy.getUnitBits()) {
  SmallVector<unsigned> taken(columnChain.loops);
  llvm::append_range(taken, rowChain.loops);
  others = builder.getOthers(taken);
  columns = resolve(columnChain, kInput);
  rows = resolve(rowChain, kOutput);
  hasSureRows = !llvm::is_contained(rowChain.isSure, false);
}

/// A loop that turns out at run time not to continue the chain becomes an outer loop.
RunChain BlockEmitter::resolve(const LoopChain &chain, Side side) {
  RunChain run;
  assert(!chain.loops.empty() && chain.isSure.size() == chain.loops.size() &&
         "a chain says of each loop whether it surely continues");
  run.extent = builder.loops[chain.loops[0]].extent;
  run.loops.push_back(builder.loops[chain.loops[0]]);
  Value continues;
  for (auto [next, isSure] : llvm::drop_begin(llvm::zip(chain.loops, chain.isSure))) {
    RunLoop loop = builder.loops[next];
    if (!isSure || continues) {
      Value fits = builder.compare(arith::CmpIPredicate::eq, loop.strides[side],
                                   builder.mul(run.extent, builder.constant(copy.unit)));
      continues = continues ? builder.both(continues, fits) : fits;
      RunLoop around = loop;
      around.extent = builder.select(continues, builder.constant(1), loop.extent);
      others.push_back(around);
      loop.extent = builder.select(continues, loop.extent, builder.constant(1));
    }
    run.extent = builder.mul(run.extent, loop.extent);
    run.loops.push_back(loop);
  }
  return run;
}

//===----------------------------------------------------------------------===//
// Whole blocks
//===----------------------------------------------------------------------===//

/// Loads the rows of a block by `load`, and stores its columns at `to`.
void BlockEmitter::emitBlock(Block block, llvm::function_ref<Value(int64_t)> load, ArrayRef<Value> to) {
  assert(block.columns == static_cast<int64_t>(to.size()) && block.rows % block.columns == 0 &&
         "rows of a block are as many as its columns, or a multiple of that");
  Shuffles shuffles(builder.b, builder.loc, builder.wordsPerUnit);
  SmallVector<Value> vectors;
  for (int64_t row = 0; row < block.rows; ++row)
    vectors.push_back(load(row));
  for (auto [vector, place] : llvm::zip(shuffles.transpose(shuffles.concatenate(vectors, block.columns)), to))
    builder.storeUnits(vector, place);
}

/// The offsets in a chain of several loops are computed within the loop over the blocks of the other chain.
void BlockEmitter::emitBlocks(Block block, Walk walk) {
  Value unit = builder.constant(copy.unit);
  auto emit = [&](Places places, Value column, ArrayRef<Value> columnOffsets, Value row, ArrayRef<Value> rowOffsets) {
    Value from = builder.add(places.at[kInput], builder.mul(column, unit)),
          to = builder.add(places.at[kOutput], builder.mul(row, unit));
    emitBlock(
        block, [&](int64_t i) { return builder.loadUnits(block.columns, builder.add(from, rowOffsets[i])); },
        llvm::map_to_vector(columnOffsets, [&](Value offset) { return builder.add(to, offset); }));
  };
  auto getRows = [&](Value row) { return builder.getOffsets(rows, kInput, row, block.rows); };
  auto getColumns = [&](Value column) { return builder.getOffsets(columns, kOutput, column, block.columns); };
  forOthers([&](Places places) {
    if (walk == Walk::alongColumns)
      return builder.forSteps(rows.extent, block.rows, [&](Value row) {
        SmallVector<Value> rowOffsets = getRows(row);
        builder.forSteps(columns.extent, block.columns,
                         [&](Value column) { emit(places, column, getColumns(column), row, rowOffsets); });
      });
    // The lines of this many rows stay in L1 until the next columns of these rows are read.
    Value height =
        builder.b.createOrFold<arith::MinSIOp>(builder.loc, rows.extent, builder.constant(copy.policy.packedRows));
    builder.forTiles(rows.extent, copy.policy.packedRows, height, [&](Value firstRow) {
      builder.forSteps(columns.extent, block.columns, [&](Value column) {
        SmallVector<Value> columnOffsets = getColumns(column);
        builder.forSteps(height, block.rows, [&](Value step) {
          Value row = builder.add(firstRow, step);
          emit(places, column, columnOffsets, row, getRows(row));
        });
      });
    });
  });
}

/// True if `stride` is a multiple of `bytes`: lines at that distance map to few sets of L1, and evict each other before
/// the next block uses them.
Value BlockEmitter::conflicts(Value stride, int64_t bytes) {
  int64_t elements = std::max<int64_t>(bytes * 8 / copy.getElementBits(), 1);
  return builder.compare(arith::CmpIPredicate::eq, builder.rem(stride, builder.constant(elements)),
                         builder.constant(0));
}

/// Chooses the rows that are packed at a time: with two loops, as many steps of the outer one as fit, so that, if rows
/// are short, each step of the inner loop reads all it needs along the outer loop.
PackedRows BlockEmitter::choosePackedRows(Block block) {
  std::optional<int64_t> inner = getConstantIntValue(rows.loops[0].extent);
  std::optional<int64_t> step = getConstantIntValue(rows.loops[0].strides[kInput]),
                         outerStep = getConstantIntValue(rows.loops.back().strides[kInput]);
  std::optional<int64_t> run = getConstantIntValue(columns.loops[0].extent);
  bool isShort = run && *run * copy.getUnitBits() < copy.policy.shortRunBytes * 8;
  bool isNested = rows.loops.size() == 2 && hasSureRows && isShort && inner && step && outerStep &&
                  *step > *outerStep && *inner <= copy.policy.packedRows;
  int64_t nested = isNested ? copy.policy.packedRows / *inner * *inner : 0;
  return nested >= block.rows ? PackedRows{nested, true} : PackedRows{copy.policy.packedRows, false};
}

/// Calls `body` with each packed row and its offset in the input.
void BlockEmitter::forPackedRows(PackedRows packed, Value firstRow, Value height,
                                 llvm::function_ref<void(Value, Value)> body) {
  if (!packed.isNested)
    return builder.forRange(height,
                            [&](Value row) { body(row, builder.getOffset(rows, kInput, builder.add(firstRow, row))); });
  const RunLoop &inner = rows.loops[0], &outer = rows.loops[1];
  Value first = builder.div(firstRow, inner.extent);
  builder.forRange(inner.extent, [&](Value i) {
    builder.forRange(builder.div(height, inner.extent), [&](Value j) {
      Value offset =
          builder.add(builder.mul(i, inner.strides[kInput]), builder.mul(builder.add(first, j), outer.strides[kInput]));
      body(builder.add(builder.mul(j, inner.extent), i), offset);
    });
  });
}

/// Copies some rows and columns of the input to scratch before they are transposed: memory is read along rows, and the
/// lines do not conflict in scratch.
void BlockEmitter::emitPacked(Block block) {
  PackedRows packedRows = choosePackedRows(block);
  int64_t bytes = copy.getUnitBits() / 8, most = copy.policy.rowBytes / bytes,
          pitch = (copy.policy.rowBytes + copy.policy.padBytes) / bytes;
  assert(packedRows.count > 0 && packedRows.count <= copy.policy.packedRows && "scratch has room for the packed rows");
  Value scratch = builder.getScratch(copy.policy.packedRows * pitch), unit = builder.constant(copy.unit);
  auto clamp = [&](Value extent, int64_t bound) {
    return builder.b.createOrFold<arith::MinSIOp>(builder.loc, extent, builder.constant(bound));
  };
  Value height = clamp(rows.extent, packedRows.count), width = clamp(columns.extent, most),
        pitchElements = builder.constant(pitch * copy.unit);
  auto placeOf = [&](Value row, Value column) {
    return builder.add(builder.mul(row, pitchElements), builder.mul(column, unit));
  };
  auto emit = [&](Places places, Value firstRow, Value firstColumn) {
    Value from = builder.add(places.at[kInput], builder.mul(firstColumn, unit)),
          base = builder.add(places.at[kOutput], builder.mul(firstRow, unit));
    forPackedRows(packedRows, firstRow, height, [&](Value row, Value offset) {
      Value line = builder.add(from, offset);
      builder.forSteps(width, lanes, [&](Value column) {
        builder.storeUnits(builder.loadUnits(lanes, builder.add(line, builder.mul(column, unit))), placeOf(row, column),
                           scratch);
      });
    });
    builder.forSteps(width, block.columns, [&](Value column) {
      SmallVector<Value> offsets =
          builder.getOffsets(columns, kOutput, builder.add(firstColumn, column), block.columns);
      builder.forSteps(height, block.rows, [&](Value row) {
        Value packed = placeOf(row, column), to = builder.add(base, builder.mul(row, unit));
        auto load = [&](int64_t i) {
          return builder.loadUnits(block.columns, builder.add(packed, builder.mul(builder.constant(i), pitchElements)),
                                   scratch);
        };
        emitBlock(block, load, llvm::map_to_vector(offsets, [&](Value offset) { return builder.add(to, offset); }));
      });
    });
  };
  forOthers([&](Places places) {
    builder.forTiles(columns.extent, most, width, [&](Value column) {
      builder.forTiles(rows.extent, packedRows.count, height, [&](Value row) { emit(places, row, column); });
    });
  });
}

/// Emits blocks that write whole vectors. Blocks that read parts of cache lines are followed by blocks that read the
/// rest. If lines of the input conflict, blocks read whole lines, or the input is packed first. A block has few columns
/// if rows of the output conflict.
void BlockEmitter::emitLargest() {
  bool isWide = copy.getUnitBits() >= copy.policy.wideBits;
  int64_t lane = getLaneUnits();
  Block narrow{std::max(lanes, lane), lane}, half{narrow.rows, isWide ? std::max(lanes / 2, lane) : lane};
  Value inputStride = rows.loops[0].strides[kInput], hasLines = builder.isAtLeast(columns.extent, lanes);
  Value outputConflicts = conflicts(columns.loops[0].strides[kOutput], copy.policy.someConflicts);
  auto emitDirect = [&] {
    builder.ifElse(
        outputConflicts, [&] { emitBlocks(narrow, Walk::alongRows); },
        [&] {
          emitBlocks(half, rows.loops.size() > 1 && columns.loops.size() == 1 ? Walk::alongColumns : Walk::alongRows);
        });
  };
  Value isPacked =
      builder.both(conflicts(inputStride, isWide ? copy.policy.manyConflicts : copy.policy.someConflicts), hasLines);
  builder.ifElse(
      isPacked, [&] { builder.ifElse(outputConflicts, [&] { emitPacked(narrow); }, [&] { emitPacked(half); }); },
      [&] {
        if (!isWide)
          return emitDirect();
        builder.ifElse(
            conflicts(inputStride, copy.policy.someConflicts), [&] { emitBlocks({lanes, lanes}, Walk::alongRows); },
            emitDirect);
      });
}

//===----------------------------------------------------------------------===//
// Blocks with more rows or columns than there are
//===----------------------------------------------------------------------===//

/// Returns by how many columns (or rows) a block of `size` may be extended if there are only `extent` rows (or
/// columns).
static Value countFurther(CopyBuilder &builder, int64_t size, Value extent) {
  return builder.div(builder.constant(size - 1),
                     builder.b.createOrFold<arith::MaxSIOp>(builder.loc, extent, builder.constant(1)));
}

/// True if `extent` is less than `size`, but too large for a smaller block.
static Value needsPadding(CopyBuilder &builder, int64_t minRows, int64_t size, Value extent) {
  Value fits = builder.compare(arith::CmpIPredicate::slt, extent, builder.constant(size));
  return builder.both(fits, builder.isAtLeast(extent, size / 2 > minRows / 2 ? size / 2 + 1 : 1));
}

/// Emits the loops around blocks of the inner loop of `chain` and the whole other chain.
void BlockEmitter::forOthersAround(const RunChain &chain, CopyBuilder::Body body) {
  SmallVector<RunLoop> around = others;
  llvm::append_range(around, llvm::drop_begin(chain.loops));
  builder.forLoops(around, builder.start, body);
}

/// True if in the output, the next column continues a row.
Value BlockEmitter::continuesRows() {
  return builder.compare(arith::CmpIPredicate::eq, columns.loops[0].strides[kOutput],
                         builder.mul(rows.extent, builder.constant(copy.unit)));
}

/// True if each row of the input ends before the next one begins, in ascending order.
Value BlockEmitter::hasRowsApart() {
  return builder.compare(arith::CmpIPredicate::sge, rows.loops[0].strides[kInput],
                         builder.mul(columns.extent, builder.constant(copy.unit)));
}

/// True if blocks of `size` by `length` fit into `many` although `few` has fewer than `size` elements.
Value BlockEmitter::canPad(int64_t size, int64_t length, Value few, Value many) {
  Value least = builder.add(countFurther(builder, size, few), builder.constant(length));
  return builder.both(needsPadding(builder, copy.policy.minRows, size, few),
                      builder.compare(arith::CmpIPredicate::sge, many, least));
}

/// Writes each column as `size` units; those after its end belong to the next column. The last block instead writes
/// units before the start of each column, which belong to the column before. All units that are written have their
/// final values, so the order of the writes does not matter. Blocks have `length` columns.
void BlockEmitter::emitPaddedRows(int64_t size, int64_t length) {
  assert(length >= size && length % size == 0 && "columns are transposed in blocks of as many rows");
  Value unit = builder.constant(copy.unit), further = countFurther(builder, size, rows.extent),
        missing = builder.sub(builder.constant(size), rows.extent);
  Value stride = columns.loops[0].strides[kOutput], extent = columns.loops[0].extent;
  SmallVector<Value> ahead, behind;
  for (int64_t i = 0; i < size; ++i) {
    Value position = builder.constant(i),
          back = builder.sub(builder.add(position, builder.mul(further, rows.extent)), missing);
    auto offsetOf = [&](Value position, Value first) {
      Value column = builder.sub(builder.div(position, rows.extent), first);
      return builder.add(builder.getOffset(rows, kInput, builder.rem(position, rows.extent)),
                         builder.mul(column, unit));
    };
    ahead.push_back(offsetOf(position, builder.constant(0)));
    behind.push_back(offsetOf(back, further));
  }
  auto emit = [&](Places places, Value column, ArrayRef<Value> offsets, Value shift) {
    Value from = builder.add(places.at[kInput], builder.mul(column, unit)), to = builder.sub(places.at[kOutput], shift);
    Shuffles shuffles(builder.b, builder.loc, builder.wordsPerUnit);
    SmallVector<Value> vectors;
    for (Value offset : offsets)
      vectors.push_back(builder.loadUnits(length, builder.add(from, offset)));
    vectors = shuffles.transpose(vectors);
    for (int64_t i = 0; i < length; ++i)
      builder.storeUnits(shuffles.slice(vectors[i % size], i / size * size, size),
                         builder.add(to, builder.mul(builder.add(column, builder.constant(i)), stride)));
  };
  forOthersAround(columns, [&](Places places) {
    builder.forSteps(builder.sub(extent, further), length,
                     [&](Value column) { emit(places, column, ahead, builder.constant(0)); });
    emit(places, builder.sub(extent, builder.constant(length)), behind, builder.mul(missing, unit));
  });
}

/// Reads each row as `size` units; those after its end belong to later rows and are dropped. The last block instead
/// reads units before the start of each row, so that nothing is read out of bounds.
void BlockEmitter::emitPaddedColumns(int64_t size) {
  Value unit = builder.constant(copy.unit), further = countFurther(builder, size, columns.extent),
        extent = rows.loops[0].extent;
  Value missing = builder.sub(builder.constant(size), columns.extent);
  auto emit = [&](Places places, Value row, Value shift) {
    Shuffles shuffles(builder.b, builder.loc, builder.wordsPerUnit);
    SmallVector<Value> vectors;
    Value from = builder.sub(places.at[kInput], builder.mul(shift, unit)),
          to = builder.add(places.at[kOutput], builder.mul(row, unit));
    for (int64_t i = 0; i < size; ++i)
      vectors.push_back(builder.loadUnits(
          size, builder.add(from, builder.mul(builder.add(row, builder.constant(i)), rows.loops[0].strides[kInput]))));
    for (auto [i, vector] : llvm::enumerate(shuffles.transpose(vectors))) {
      Value column = builder.sub(builder.constant(i), shift);
      Value isOne = builder.both(builder.isAtLeast(column, 0),
                                 builder.compare(arith::CmpIPredicate::slt, column, columns.extent));
      builder.ifTrue(isOne, [&, vector = vector] {
        builder.storeUnits(vector, builder.add(to, builder.getOffset(columns, kOutput, column)));
      });
    }
  };
  forOthersAround(rows, [&](Places places) {
    builder.forSteps(builder.sub(extent, further), size, [&](Value row) { emit(places, row, builder.constant(0)); });
    emit(places, builder.sub(extent, builder.constant(size)), missing);
  });
}

/// Moves single units, of a static number of rows (or columns), which LLVM turns into interleaved accesses.
void BlockEmitter::emitInterleaved(Side side, int64_t count) {
  RunChain &chain = side == kOutput ? rows : columns, &other = side == kOutput ? columns : rows;
  RunLoop few = chain.loops[0], along = other.loops[0];
  few.extent = builder.constant(count);
  along.strides[side] = builder.constant(count * copy.unit);
  forOthersAround(other, [&](Places places) {
    SmallVector<RunLoop> inner{along, few};
    if (side == kInput)
      std::swap(inner[0], inner[1]);
    builder.moveUnits(inner, places);
  });
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Moves single units. For units of 8 and 16 bits, there are versions for the numbers of rows and columns that LLVM
/// interleaves well.
void BlockEmitter::emitSingle() {
  auto move = [&] { builder.moveUnits(builder.loops, builder.start); };
  if (copy.getUnitBits() >= copy.policy.wideBits || copy.unit > 1 || rows.loops.size() > 1 || columns.loops.size() > 1)
    return move();
  struct Count {
    Side side;
    int64_t count;
  };
  constexpr Count kCounts[] = {{kOutput, 2}, {kOutput, 3}, {kOutput, 4}, {kInput, 2}, {kInput, 3}, {kInput, 4}};
  std::function<void(ArrayRef<Count>)> choose = [&](ArrayRef<Count> counts) {
    if (counts.empty())
      return move();
    auto [side, count] = counts.front();
    RunChain &chain = side == kOutput ? rows : columns, &other = side == kOutput ? columns : rows;
    auto equals = [&](Value value, int64_t constant) {
      return builder.compare(arith::CmpIPredicate::eq, value, builder.constant(constant));
    };
    Value isCount = builder.both(equals(chain.extent, count), equals(other.loops[0].strides[side], count));
    builder.ifElse(
        isCount, [&, side = side, count = count] { emitInterleaved(side, count); },
        [&] { choose(counts.drop_front()); });
  };
  choose(kCounts);
}

/// Emits blocks of `size` with fewer rows or columns, if padding is possible.
void BlockEmitter::emitPadded(int64_t size, llvm::function_ref<void()> otherwise) {
  // Stores of less than 32 bits, and extracting them from vectors, are slower than moving single units.
  if (size * copy.getUnitBits() < copy.policy.wideBits * 2)
    return otherwise();
  Value rowsOfColumns = columns.loops[0].extent, columnsOfRows = rows.loops[0].extent;
  int64_t length = size * copy.getUnitBits() >= kLaneBits ? std::max(lanes, size) : size;
  auto padRows = [&] {
    builder.ifElse(
        canPad(size, length, rows.extent, rowsOfColumns), [&] { emitPaddedRows(size, length); },
        [&] { emitPaddedRows(size, size); });
  };
  builder.ifElse(builder.both(continuesRows(), canPad(size, size, rows.extent, rowsOfColumns)), padRows, [&] {
    builder.ifElse(
        builder.both(hasRowsApart(), canPad(size, size, columns.extent, columnsOfRows)),
        [&] { emitPaddedColumns(size); }, otherwise);
  });
}

/// Emits blocks of `size` rows and columns if there are as many; otherwise smaller blocks, and finally single units.
void BlockEmitter::emitSize(int64_t size) {
  if (size < std::min(copy.policy.minRows, lanes))
    return emitSingle();
  bool isLargest = size == std::max(lanes, getLaneUnits()), isWide = copy.getUnitBits() >= copy.policy.wideBits;
  auto hasRows = [&](int64_t least) { return builder.isAtLeast(rows.extent, least); };
  if (isLargest) {
    int64_t fewestColumns = isWide ? size : getLaneUnits();
    Value fits = builder.both(hasRows(lanes), builder.isAtLeast(columns.extent, fewestColumns));
    return builder.ifElse(
        fits, [&] { emitLargest(); },
        [&] {
          if (!isWide && size > getLaneUnits())
            return emitSize(getLaneUnits());
          emitPadded(size, [&] { emitSize(size / 2); });
        });
  }
  auto emitFull = [&] {
    Walk walk = rows.loops.size() > 1 && columns.loops.size() == 1 ? Walk::alongColumns : Walk::alongRows;
    emitBlocks({getConstantIntValue(hasRows(lanes)).value_or(0) ? std::max(lanes, size) : size, size}, walk);
  };
  builder.ifElse(builder.both(hasRows(size), builder.isAtLeast(columns.extent, size)), emitFull,
                 [&] { emitPadded(size, [&] { emitSize(size / 2); }); });
}

void BlockEmitter::emit() { emitSize(std::max(lanes, getLaneUnits())); }

/// True if blocks span all of `chain`, or may be padded to do so. Otherwise there are few rows or columns, which are
/// left to LLVM.
static bool hasRoom(const StridedCopy &copy, const LoopChain &chain, const LoopChain &other, Side side) {
  if (ShapedType::isDynamic(chain.extent) || chain.extent >= copy.policy.minRows)
    return true;
  // LLVM interleaves rows of 8 and 16 bits better.
  if (side == kOutput && copy.getUnitBits() < copy.policy.wideBits)
    return false;
  assert(chain.extent > 0 && "what has no elements is not copied");
  int64_t needed = copy.policy.minRows + (copy.policy.minRows - 1) / chain.extent,
          stride = copy.loops[other.loops[0]].strides[side];
  bool isContinued = ShapedType::isDynamic(stride) ||
                     (side == kOutput ? stride == chain.extent * copy.unit : stride >= chain.extent * copy.unit);
  int64_t length = copy.loops[other.loops[0]].extent;
  return isContinued && (ShapedType::isDynamic(length) || length >= needed);
}

bool tenon::transposeBlocks(const StridedCopy &copy, int64_t vectorBytes) {
  int64_t lanes = vectorBytes * 8 / copy.getUnitBits();
  // Packing reads, and writes, longer runs.
  int64_t pitch = copy.getInner(kOutput).strides[kInput], longRun = copy.policy.longRunBytes * 8 / copy.getUnitBits();
  bool isPacked = !ShapedType::isDynamic(pitch) && pitch * copy.getElementBits() / 8 % copy.policy.manyConflicts == 0;
  unsigned innermost[2] = {copy.orders[kInput][0], copy.orders[kOutput][0]};
  int64_t wantedColumns = isPacked ? longRun / 2 : lanes, wantedRows = isPacked ? longRun : lanes;
  // If the number of columns is dynamic, a static number of rows is tried first, because there will probably be enough
  // columns.
  bool rowsFirst = ShapedType::isDynamic(copy.getInner(kInput).extent) && copy.getInner(kOutput).extent < lanes &&
                   !ShapedType::isDynamic(copy.getInner(kOutput).extent);
  LoopChain rows = rowsFirst ? copy.growChain(kOutput, innermost[kInput], wantedRows) : LoopChain();
  LoopChain columns =
      copy.growChain(kInput, rowsFirst ? ArrayRef<unsigned>(rows.loops) : innermost[kOutput], wantedColumns);
  if (!rowsFirst)
    rows = copy.growChain(kOutput, columns.loops, wantedRows);
  if (lanes < 2 || !hasRoom(copy, columns, rows, kInput) || !hasRoom(copy, rows, columns, kOutput))
    return false;
  BlockEmitter(copy, columns, rows, vectorBytes).emit();
  return true;
}
