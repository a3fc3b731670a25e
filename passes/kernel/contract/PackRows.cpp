//===- PackRows.cpp - rows of the LHS that are packed for register blocks -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Rows whose distance is a multiple of 4096 bytes map to few sets of L1, and defeat its prefetcher. A thread packs the
// rows of a tile once for all tiles that have the same rows. The rows of a register block are interleaved by a few
// steps, in the order in which the products read them, so that the loads are one sequential stream. (Goto and van de
// Geijn pack rows always. At other distances it was no faster.) Rows of f16 or bf16 are promoted on the way, at any
// distance.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/PackRows.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"
#include "passes/cost/Machine.h"
#include "passes/cost/TilePolicy.h"
#include "passes/kernel/StrassenTile.h"
#include "passes/kernel/TileLoop.h"

using namespace mlir;
using namespace tenon;

/// Neighbouring elements of a row that are packed together.
static constexpr int64_t kPackedSteps = 16; // format: of packed rows, a cache line of f32

/// Returns the summed loop if rows can be packed: it must be the only one, and rows must be contiguous along it.
static std::optional<unsigned> findDepthLoop(kernel::ContractOp op, const Contraction &contraction) {
  // Unless the RHS is f32 panels, rows are packed only to promote them.
  bool mustPromote = !contraction.panel || contraction.dequantization;
  if ((mustPromote && !contraction.promotesLhs) || contraction.isGrouped || contraction.isColumnwise ||
      contraction.dot4Loop || contraction.terms || contraction.integerGroups || !contraction.rowLoop ||
      op.getNumReductionLoops() != 1 || !contraction.lhs.bounds.empty() || !contraction.lhs.symbols.empty())
    return std::nullopt;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  AffineMap map = contraction.lhs.map;
  bool isAlong = map.getNumResults() > 1 &&
                 map.getResults().back() == getAffineDimExpr(summed.front(), op.getContext()) &&
                 llvm::none_of(map.getResults().drop_back(),
                               [&](AffineExpr index) { return index.isFunctionOfDim(summed.front()); });
  bool isRight = contraction.promotesLhs || getElementTypeOrSelf(contraction.lhs.memory).isF32();
  return isAlong && isRight ? std::optional(summed.front()) : std::nullopt;
}

/// Returns the distance in elements between neighbours along dimension `dim` of a tensor or buffer; none if it is
/// dynamic.
static std::optional<int64_t> getStride(ShapedType type, unsigned dim) {
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(strides[dim]))
      return std::nullopt;
    return strides[dim];
  }
  ArrayRef<int64_t> inner = type.getShape().drop_front(dim + 1);
  return ShapedType::isDynamicShape(inner) ? std::nullopt : std::optional(ShapedType::getNumElements(inner));
}

std::optional<int64_t> tenon::getRowDistance(const ElementRead &lhs, unsigned rowLoop) {
  auto type = cast<ShapedType>(lhs.memory.getType());
  for (auto [dim, index] : llvm::enumerate(lhs.map.getResults())) {
    if (!index.isFunctionOfDim(rowLoop))
      continue;
    std::optional<int64_t> step = getStep(index, rowLoop), stride = getStride(type, dim);
    if (!step || !stride)
      return std::nullopt;
    return *step * *stride * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  }
  return std::nullopt;
}

int64_t tenon::getPackableRowBytes(kernel::ContractOp op, const Contraction &contraction) {
  std::optional<unsigned> depth = findDepthLoop(op, contraction);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!depth || ShapedType::isDynamic(ranges[*depth]) || ranges[*depth] % kPackedSteps != 0 ||
      multipliesF16(op, contraction) || multipliesHalves(op, contraction))
    return 0;
  // If the tile computes the LHS itself, the LHS is no slice of an argument, and whether its rows are the same as
  // before is unknown (findTileOffsets).
  if (!contraction.promotesLhs && contraction.lhs.memory.getDefiningOp<linalg::LinalgOp>())
    return 0;
  return ranges[*depth] * int64_t(sizeof(float));
}

int64_t tenon::getPackedRowBytes(kernel::ContractOp op, const Contraction &contraction, const PackingPolicy &policy) {
  Machine machine = getMachine(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t rowBytes = getPackableRowBytes(op, contraction);
  if (rowBytes == 0 || contraction.promotesLhs)
    return rowBytes;
  // With many registers, blocks have more rows, and each loaded element of a row is used for more products.
  if (machine.vectorRegisters > kFewRegisters)
    return 0;
  auto isFew = [&](unsigned loop, int64_t fewest) {
    return !ShapedType::isDynamic(ranges[loop]) && ranges[loop] < fewest;
  };
  if (isFew(*contraction.rowLoop, policy.minRows) || isFew(contraction.columnLoop, policy.minColumns))
    return 0;
  // Tiles have at most as many rows as are packed. Each of several tiles reads the whole RHS, which should not come
  // from DRAM every time.
  int64_t most = TilePolicy().maxPackedRowsBytes / rowBytes;
  int64_t rows = ranges[*contraction.rowLoop], columns = ranges[contraction.columnLoop];
  bool isOneTile = !ShapedType::isDynamic(rows) && rows <= most;
  if (!isOneTile && (most < policy.minRows || ShapedType::isDynamic(columns) || columns * rowBytes > machine.llcBytes))
    return 0;
  std::optional<int64_t> distance = getRowDistance(contraction.lhs, *contraction.rowLoop);
  return distance && *distance % kL1SetBytes == 0 ? rowBytes : 0;
}

/// The last block of dynamic rows may extend beyond the tile.
static int64_t countPackedRows(kernel::ContractOp op, const Contraction &contraction) {
  kernel::ScheduleAttr schedule = kernel::getSchedule(op);
  return schedule.getPacking() == kernel::Packing::rows ? schedule.getTile()[*contraction.rowLoop] + kMaxPackedBlockRows
                                                        : 0;
}

int64_t tenon::getPackedRowsBytes(kernel::ContractOp op, const Contraction &contraction) {
  std::optional<unsigned> depth = findDepthLoop(op, contraction);
  return depth ? countPackedRows(op, contraction) * op.getStaticLoopRanges()[*depth] * int64_t(sizeof(float)) : 0;
}

Value tenon::packRows(LoopBuilder &nest, const ContractionProblem &problem, RowLoops &rowLoops) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  kernel::ContractOp op = problem.op;
  const Contraction &contraction = problem.contraction;
  int64_t lanes = problem.lanes;
  std::optional<unsigned> loop = findDepthLoop(op, contraction);
  if (!loop || problem.schedule.getPacking() != kernel::Packing::rows || problem.window ||
      llvm::any_of(nest.getOuterLoops(), [&](unsigned outer) { return nest.getStaticExtent(outer) != 1; }))
    return {};
  std::optional<SmallVector<Value>> offsets = findTileOffsets(contraction.lhs.memory);
  std::optional<int64_t> depth = nest.getStaticExtent(*loop);
  if ((!offsets && !contraction.promotesLhs) || !depth || kPackedSteps % lanes != 0)
    return {};
  auto memoryType = MemRefType::get({countPackedRows(op, contraction) * *depth}, problem.type);
  Value memory = problem.scratch.emit(b, loc, ScratchUse::packedRows, memoryType);
  OpBuilder::InsertionGuard guard(b);
  if (Value isNew = offsets ? emitIsNew(b, op, *offsets) : Value()) {
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  for (unsigned outer : nest.getOuterLoops())
    nest.moveTo(outer, nest.constant(0));
  auto vectorType = VectorType::get({lanes}, problem.type);
  auto storedType = VectorType::get({lanes}, getElementTypeOrSelf(contraction.lhs.memory));
  AffineExpr first = b.getAffineDimExpr(0), step = b.getAffineDimExpr(1);
  rowLoops.forRows([&](int64_t rows) {
    nest.forLoop(nest.constant(0), nest.constant(*depth), kPackedSteps, [&](Value steps) {
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < kPackedSteps; i += lanes) {
          nest.moveTo(*loop, affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, first + i), steps));
          Value elements = vector::LoadOp::create(b, loc, storedType, contraction.lhs.memory,
                                                  nest.getIndices(contraction.lhs, row, 0));
          if (storedType != vectorType)
            elements = arith::ExtFOp::create(b, loc, vectorType, elements);
          AffineMap place = AffineMap::get(2, 0, first * *depth + step * rows + row * kPackedSteps + i);
          Value at = affine::AffineApplyOp::create(b, loc, place, ValueRange{nest.getBlockRow(), steps});
          vector::StoreOp::create(b, loc, elements, memory, at);
        }
    });
  });
  return memory;
}

Value tenon::loadPackedRow(LoopBuilder &nest, const ContractionProblem &problem, Value memory, int64_t row,
                           int64_t blockRows) {
  OpBuilder &b = nest.b;
  const UnrolledStep &unrolled = nest.getUnrolledStep();
  AffineExpr first = b.getAffineDimExpr(0), step = b.getAffineDimExpr(1);
  int64_t depth =
      cast<MemRefType>(memory.getType()).getNumElements() / countPackedRows(problem.op, problem.contraction);
  assert(row < blockRows && "a block has the row");
  assert(unrolled.number < unrolled.count && kPackedSteps % unrolled.count == 0 &&
         "steps that are unrolled are packed side by side");
  AffineExpr place = first * depth + step.floorDiv(kPackedSteps) * (kPackedSteps * blockRows) + step % kPackedSteps +
                     (row * kPackedSteps + unrolled.number);
  Value at = affine::AffineApplyOp::create(b, nest.loc, AffineMap::get(2, 0, place),
                                           ValueRange{nest.getBlockRow(), unrolled.first});
  return memref::LoadOp::create(b, nest.loc, memory, at);
}
