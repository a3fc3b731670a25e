//===- StrassenFma.cpp - a product by seven products of halves ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// passes/paths/strassen/Strassen.h has the algorithm. Halves of rows are those with even
// and with odd numbers, and halves of columns are every other panel, so that the matrix
// is read as it is stored for other micro-kernels, by pairs of panels. As in Huang, Smith,
// Henry and van de Geijn, "Strassen's Algorithm Reloaded" (2016), sums are made of what is
// in a cache: those of the rows once for all tiles that have them, those of a pair of
// panels while the first rows are multiplied, in between the products, and the results
// from products in L2. Scratch memory of the thread has them all.
//
// Rows are scaled by powers of two, which is exact (Strassen.h). A pair of rows with a NaN
// or an infinity, which would reach both, is multiplied as it is stored.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Kernel.h"
#include "passes/kernel/FormContractions.h"
#include "passes/kernel/StrassenTile.h"
#include "passes/kernel/TileLoop.h"
#include "passes/kernel/contract/ContractionEmitter.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/paths/strassen/Strassen.h"

using namespace mlir;
using namespace tenon;

namespace {
/// A vector of each block: [half of the rows, or of the steps][half of the steps, or of the columns].
struct Blocks {
  Value at[2][2];
};

/// sums += rows * panel, on buffers.
struct Product {
  Value rows, panel, sums;
  Value nextPanel = {};                   ///< to be prefetched, if it is not null
  std::optional<SummedPanel> summed = {}; ///< what replaces the panel
};

/// Some products that follow each other in the tables of coefficients.
struct Products {
  int64_t first, count;
};

/// A K-block of a pair of panels.
struct Place {
  Value pair, step;
  int64_t steps;
};

class StrassenFma : public MicroKernel {
public:
  explicit StrassenFma(const EmitterParts &parts)
      : MicroKernel(parts), tile(*getStrassenTile(op, contraction)), rowLoop(*contraction.rowLoop),
        columnLoop(contraction.columnLoop), vectorType(VectorType::get({lanes}, type)) {}
  void emit() override;

private:
  // Sums of rows.
  void emitRows(int64_t rows);
  void sumRows();
  void sumPair(Value pair, bool isWhole);
  Value findLargest(Value row);
  Value scaleRow(Value largest, Value pair, int64_t half);
  Value loadRow(Value row, Value step, int64_t active);

  // Pairs of panels.
  void emitPanels();
  void multiplyPanels(Value pair);
  void multiplyBlock(const Place &place, bool isFromZero);
  Value cutBlock(const Place &place, Value index, Products products, int64_t summand);
  Value cutNext(const Place &place, Value p);
  Value pick(Value index, ArrayRef<int64_t> values);
  void multiplyLastPanel(Value panel);
  void emitProduct(const Product &product, int64_t steps, bool isFromZero);
  int64_t countPairs() const { return llvm::divideCeilSigned(rows, 2); }
  int64_t countFirstPairs() const;

  // Results.
  void storePanels(Value pairOfPanels);
  void storePair(Value pairOfPanels, Value pair, int64_t rowsOfPair);
  Blocks addProducts(Value pair, int64_t column);
  Blocks multiplyAsStored(Value pairOfPanels, Value pair, int64_t rowsOfPair, int64_t column);
  void storeHalf(ArrayRef<Value> results, Value column, int64_t panelOfPair, int64_t vector, Value mask);

  Value sum(const int (&signs)[2][2], const Blocks &blocks);
  Value addSigned(Value sum, Value value, int sign);
  Value add(Value x, int64_t y) { return nest.compute(b.getAffineSymbolExpr(0) + y, {x}); }
  /// x * factor + y
  Value scale(Value x, int64_t factor, int64_t y = 0) {
    return nest.compute(b.getAffineSymbolExpr(0) * factor + y, {x});
  }
  Value cut(Value memory, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape);
  Value load(Value memory, ValueRange at) { return vector::LoadOp::create(b, loc, vectorType, memory, at); }
  Value splat(Value number) { return vector::BroadcastOp::create(b, loc, vectorType, number); }
  Value integer(int64_t bits) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(bits))); }
  int64_t countVectors() const { return tile.panel / lanes; }
  Value getMask(Value active) {
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), active);
  }
  Value getColumnMask(Value column, int64_t beyond);

  const StrassenTile tile;
  const unsigned rowLoop, columnLoop;
  const VectorType vectorType;
  int64_t rows = 0;                          ///< of this version of the code
  Value rowSums, scales, panelSum, products; ///< the buffers of StrassenTile
  Value columns;                             ///< of the tile
};
} // namespace

static constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000; // format: of f32
static constexpr int64_t kExponentOne = 1 << 23, kLargestExponent = 253;  // format: of f32, whose reciprocal is normal

/// Adds a value to a sum, or subtracts it. The first one, of a null sum, is positive.
Value StrassenFma::addSigned(Value sum, Value value, int sign) {
  if (!sum) {
    assert(sign > 0 && "sums begin with what is added");
    return value;
  }
  return sign > 0 ? arith::AddFOp::create(b, loc, sum, value).getResult()
                  : arith::SubFOp::create(b, loc, sum, value).getResult();
}

Value StrassenFma::sum(const int (&signs)[2][2], const Blocks &blocks) {
  Value total;
  for (int sign : {1, -1})
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        if (signs[i][j] == sign)
          total = addSigned(total, blocks.at[i][j], sign);
  return total;
}

Value StrassenFma::cut(Value memory, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> extents = getAsIndexOpFoldResult(b.getContext(), sizes);
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  MemRefType part = memref::SubViewOp::inferRankReducedResultType(shape, cast<MemRefType>(memory.getType()), offsets,
                                                                  extents, strides);
  return memref::SubViewOp::create(b, loc, part, memory, offsets, extents, strides);
}

//===----------------------------------------------------------------------===//
// Sums of rows
//===----------------------------------------------------------------------===//

/// Elements of a row from `step` on; zeros beyond the first `active` ones.
Value StrassenFma::loadRow(Value row, Value step, int64_t active) {
  Value memory = contraction.lhs.memory;
  if (active >= lanes)
    return load(memory, {row, step});
  Value mask = getMask(nest.constant(active));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  return vector::MaskedLoadOp::create(b, loc, vectorType, memory, ValueRange{row, step}, mask, zero);
}

/// The bits of the largest magnitude of a row, those of a NaN last.
Value StrassenFma::findLargest(Value row) {
  auto integers = VectorType::get({lanes}, b.getI32Type());
  Value magnitude = arith::ConstantOp::create(
      b, loc, SplatElementsAttr::get(integers, b.getI32IntegerAttr(static_cast<int32_t>(kMagnitude))));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(integers));
  auto grow = [&](Value largest, Value elements) -> Value {
    Value bits = arith::BitcastOp::create(b, loc, integers, elements);
    return arith::MaxUIOp::create(b, loc, largest, arith::AndIOp::create(b, loc, bits, magnitude));
  };
  int64_t depth = 2 * tile.depth, whole = depth / lanes * lanes;
  auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(whole), nest.constant(lanes), zero);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value elements = loadRow(row, loop.getInductionVar(), lanes);
    scf::YieldOp::create(b, loc, grow(loop.getRegionIterArgs().front(), elements));
  }
  Value largest = loop.getResult(0);
  if (whole < depth)
    largest = grow(largest, loadRow(row, nest.constant(whole), depth - whole));
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, largest);
}

/// Stores the power of two that the largest element of a row has, and returns its reciprocal.
Value StrassenFma::scaleRow(Value largest, Value pair, int64_t half) {
  Value power = arith::AndIOp::create(b, loc, largest, integer(kInfinity));
  power = arith::MaxUIOp::create(b, loc, power, integer(kExponentOne));
  power = arith::MinUIOp::create(b, loc, power, integer(kLargestExponent * kExponentOne));
  memref::StoreOp::create(b, loc, arith::BitcastOp::create(b, loc, type, power), scales,
                          ValueRange{pair, nest.constant(half)});
  // The biased exponents of a number and its reciprocal have a constant sum.
  Value reciprocal = arith::SubIOp::create(b, loc, integer((kLargestExponent + 1) * kExponentOne), power);
  return arith::BitcastOp::create(b, loc, type, reciprocal);
}

/// Sums the halves of a pair of rows, or of one row and zeros if it is not whole.
void StrassenFma::sumPair(Value pair, bool isWhole) {
  SmallVector<Value> numbers{scale(pair, 2)};
  if (isWhole)
    numbers.push_back(scale(pair, 2, 1));
  SmallVector<Value> largest = llvm::map_to_vector(numbers, [&](Value row) { return findLargest(row); });
  Value most = isWhole ? arith::MaxUIOp::create(b, loc, largest[0], largest[1]).getResult() : largest[0];
  Value isFinite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, most, integer(kInfinity));
  auto branch = scf::IfOp::create(b, loc, isFinite, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  // No row has this scale (storePair).
  memref::StoreOp::create(b, loc, arith::ConstantOp::create(b, loc, b.getZeroAttr(type)), scales,
                          ValueRange{pair, nest.constant(0)});
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> factors;
  for (auto [half, bits] : llvm::enumerate(largest))
    factors.push_back(splat(scaleRow(bits, pair, half)));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  auto sumSteps = [&](Value step, int64_t active) {
    Blocks blocks;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        blocks.at[i][j] =
            i == 1 && !isWhole
                ? zero
                : arith::MulFOp::create(b, loc, loadRow(numbers[i], add(step, j * tile.depth), active), factors[i])
                      .getResult();
    for (int p = 0; p < kStrassenProducts; ++p)
      vector::StoreOp::create(b, loc, sum(kLeftBlocks[p], blocks), rowSums, ValueRange{nest.constant(p), pair, step});
  };
  int64_t whole = tile.depth / lanes * lanes;
  nest.forLoop(nest.constant(0), nest.constant(whole), lanes, [&](Value step) { sumSteps(step, lanes); });
  if (whole < tile.depth)
    sumSteps(nest.constant(whole), tile.depth - whole);
}

/// Sums the halves of all rows of the tile, if they are other rows than those of the tile before.
void StrassenFma::sumRows() {
  OpBuilder::InsertionGuard guard(b);
  std::optional<SmallVector<Value>> offsets = findTileOffsets(contraction.lhs.memory);
  if (Value isNew = offsets ? emitIsNew(b, op, *offsets) : Value()) {
    auto branch = scf::IfOp::create(b, loc, isNew, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  nest.forLoop(nest.constant(0), nest.constant(rows / 2), 1, [&](Value pair) { sumPair(pair, /*isWhole=*/true); });
  if (rows % 2)
    sumPair(nest.constant(rows / 2), /*isWhole=*/false);
}

//===----------------------------------------------------------------------===//
// Pairs of panels
//===----------------------------------------------------------------------===//

/// Emits sums += rows * panel, in register blocks of the micro-kernel `fma`.
void StrassenFma::emitProduct(const Product &product, int64_t steps, bool isFromZero) {
  AffineExpr m = b.getAffineDimExpr(0), k = b.getAffineDimExpr(1), n = b.getAffineDimExpr(2);
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{AffineMap::get(3, 0, {m, k}, context),
                              AffineMap::get(3, 0, {n.floorDiv(tile.panel), k, n % tile.panel}, context),
                              AffineMap::get(3, 0, {m, n}, context)};
  using utils::IteratorType;
  auto generic = linalg::GenericOp::create(
      b, loc, ValueRange{product.rows, product.panel}, ValueRange{product.sums}, maps,
      {IteratorType::parallel, IteratorType::reduction, IteratorType::parallel},
      [](OpBuilder &body, Location loc, ValueRange in) {
        auto contract = arith::FastMathFlagsAttr::get(body.getContext(), arith::FastMathFlags::contract);
        Value product = arith::MulFOp::create(body, loc, in[0], in[1], contract);
        linalg::YieldOp::create(body, loc, arith::AddFOp::create(body, loc, in[2], product, contract).getResult());
      });
  kernel::ContractOp inner = formContraction(generic);
  assert(inner && "a product of panels is a contraction");
  kernel::ScheduleFields fields;
  fields.microKernel = kernel::MicroKernel::fma;
  fields.kBlock = steps;
  fields.block = problem.schedule.getFields().block;
  fields.unroll = problem.schedule.getUnroll();
  fields.prefetches = product.nextPanel && problem.schedule.getPrefetches();
  inner.setScheduleAttr(kernel::ScheduleAttr::get(context, fields));
  ContractionProblem part = getContractionProblem(
      inner, *readContraction(inner),
      {lanes * int64_t(sizeof(float)), problem.registers, problem.l1Ways, problem.int8Dot, problem.bf16Pairs},
      isFromZero);
  part.nextPanel = product.nextPanel;
  part.summedPanel = product.summed;
  emitContraction(part);
  inner.erase();
}

/// The rows of the first register block, of pairs of rows.
int64_t StrassenFma::countFirstPairs() const {
  ArrayRef<int64_t> wanted = problem.schedule.getBlock();
  int64_t height = wanted.empty() ? chooseBlock({countPairs(), tile.panel, lanes, problem.registers}).rows : wanted[0];
  RowBlocks blocks = splitRows(countPairs(), height);
  return blocks.rows + (blocks.larger > 0 ? 1 : 0);
}

/// Returns the value that `values` has for the number `index`.
Value StrassenFma::pick(Value index, ArrayRef<int64_t> values) {
  Value picked = nest.constant(values.front());
  for (auto [i, value] : llvm::enumerate(values.drop_front())) {
    Value isAt = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, nest.constant(int64_t(i) + 1));
    picked = arith::SelectOp::create(b, loc, isAt, nest.constant(value), picked);
  }
  return picked;
}

/// Returns `steps` steps from `step` on of a block of a pair of panels, [1, step, column of a panel]: the summand with
/// the number `summand` of the right factor of product `products.first` + `index`, for all of `products`.
Value StrassenFma::cutBlock(const Place &place, Value index, Products products, int64_t summand) {
  SmallVector<int64_t> rowHalves, columnHalves;
  for (int64_t p = products.first; p < products.first + products.count; ++p) {
    // What is added comes first.
    SmallVector<std::pair<int64_t, int64_t>> blocks;
    for (int sign : {1, -1})
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          if (kRightBlocks[p][i][j] == sign)
            blocks.emplace_back(i, j);
    rowHalves.push_back(blocks[summand].first);
    columnHalves.push_back(blocks[summand].second);
  }
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  Value panel = nest.compute(s0 * 2 + s1, {place.pair, pick(index, columnHalves)});
  Value begin = nest.compute(s0 + s1 * tile.depth, {place.step, pick(index, rowHalves)});
  SmallVector<int64_t> sizes{1, place.steps, tile.panel};
  return cut(contraction.rhs.memory, {panel, begin, b.getIndexAttr(0)}, sizes, sizes);
}

/// Returns the block with number `p` of what follows a K-block, to be prefetched: the next K-block of the same panels,
/// or the first one of the next two.
Value StrassenFma::cutNext(const Place &place, Value p) {
  constexpr int64_t kBlocks = 4; // math: halves of steps and columns
  AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1);
  Value end = add(place.step, place.steps);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, end, nest.constant(tile.depth));
  Value step = arith::SelectOp::create(b, loc, isLast, nest.constant(0), end);
  Value pair = arith::SelectOp::create(b, loc, isLast, add(place.pair, 1), place.pair);
  Value block = arith::MinUIOp::create(b, loc, p, nest.constant(kBlocks - 1));
  Value panel = nest.compute(s0 * 2 + s1 % 2, {pair, block}),
        begin = nest.compute(s0 + s1.floorDiv(2) * tile.depth, {step, block});
  return cut(contraction.rhs.memory, {panel, begin, b.getIndexAttr(0)}, {1, place.steps, tile.panel},
             {place.steps, tile.panel});
}

/// Multiplies the sums of rows and panels of a K-block. Each sum of panels is made while the first rows are multiplied,
/// for the others, which prefetch what is read next to L2, a block with each product.
void StrassenFma::multiplyBlock(const Place &place, bool isFromZero) {
  int64_t pairs = countPairs(), first = countFirstPairs();
  Attribute zero = b.getIndexAttr(0);
  auto getProduct = [&](Value p, int64_t begin, int64_t count, Value panel) {
    Attribute from = b.getIndexAttr(begin);
    return Product{cut(rowSums, {p, from, place.step}, {1, count, place.steps}, {count, place.steps}), panel,
                   cut(products, {p, from, zero}, {1, count, tile.panel}, {count, tile.panel})};
  };
  SmallVector<int64_t> sizes{1, place.steps, tile.panel};
  Value sum = cut(panelSum, {zero, zero, zero}, sizes, sizes);
  auto multiplySums = [&](Products some, bool isDifference) {
    nest.forLoop(nest.constant(0), nest.constant(some.count), 1, [&](Value index) {
      Value p = add(index, some.first);
      Product head = getProduct(p, 0, first, cutBlock(place, index, some, 0));
      head.summed = SummedPanel{cutBlock(place, index, some, 1), isDifference, sum};
      emitProduct(head, place.steps, isFromZero);
      if (first == pairs)
        return;
      Product rest = getProduct(p, first, pairs - first, sum);
      rest.nextPanel = cutNext(place, p);
      emitProduct(rest, place.steps, isFromZero);
    });
  };
  multiplySums({0, kStrassenSums}, /*isDifference=*/false);
  multiplySums({kStrassenSums, kStrassenDifferences}, /*isDifference=*/true);
  constexpr int64_t kSummed = kStrassenSums + kStrassenDifferences; // math: of the algorithm
  const Products rest{kSummed, kStrassenProducts - kSummed};
  nest.forLoop(nest.constant(0), nest.constant(rest.count), 1, [&](Value index) {
    emitProduct(getProduct(add(index, rest.first), 0, pairs, cutBlock(place, index, rest, 0)), place.steps, isFromZero);
  });
}

void StrassenFma::multiplyPanels(Value pair) {
  int64_t whole = tile.depth / tile.kBlock * tile.kBlock, rest = tile.depth - whole;
  if (whole == tile.depth && tile.kBlock == tile.depth)
    return multiplyBlock({pair, nest.constant(0), tile.depth}, /*isFromZero=*/true);
  // K-blocks add to what is in memory, so that all of them have the same code.
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  nest.forLoop(nest.constant(0), nest.constant(kStrassenProducts), 1, [&](Value p) {
    nest.forLoop(nest.constant(0), nest.constant(countPairs()), 1, [&](Value row) {
      for (int64_t v = 0; v < countVectors(); ++v)
        vector::StoreOp::create(b, loc, zero, products, ValueRange{p, row, nest.constant(v * lanes)});
    });
  });
  nest.forLoop(nest.constant(0), nest.constant(whole), tile.kBlock,
               [&](Value step) { multiplyBlock({pair, step, tile.kBlock}, /*isFromZero=*/false); });
  if (rest > 0)
    multiplyBlock({pair, nest.constant(whole), rest}, /*isFromZero=*/false);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Returns the mask of a vector that begins `beyond` columns after `column`; null if panels have no columns that are
/// none of the result's.
Value StrassenFma::getColumnMask(Value column, int64_t beyond) {
  std::optional<int64_t> known = getConstantIntValue(columns);
  if (known && *known % tile.panel == 0)
    return {};
  AffineExpr left = b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1) - beyond;
  return getMask(arith::MaxSIOp::create(b, loc, nest.compute(left, {columns, column}), nest.constant(0)));
}

/// Stores a vector of each of the rows of a pair, from `vector` on in the first or second panel of a pair.
void StrassenFma::storeHalf(ArrayRef<Value> results, Value column, int64_t panelOfPair, int64_t vector, Value mask) {
  nest.moveTo(columnLoop, add(column, panelOfPair * tile.panel + vector * lanes));
  SmallVector<Value> sums(results);
  parts.results.store(sums, {int64_t(results.size()), 1, mask}, /*isLastColumnAlone=*/false);
}

/// Returns the blocks of a pair of rows from the products in memory.
Blocks StrassenFma::addProducts(Value pair, int64_t column) {
  Value vectors[kStrassenProducts];
  for (int p = 0; p < kStrassenProducts; ++p)
    vectors[p] = load(products, {nest.constant(p), pair, nest.constant(column)});
  Blocks results;
  for (int i = 0; i < 2; ++i) {
    Value scale = splat(memref::LoadOp::create(b, loc, scales, ValueRange{pair, nest.constant(i)}));
    for (int j = 0; j < 2; ++j) {
      Value total;
      for (int sign : {1, -1})
        for (int p = 0; p < kStrassenProducts; ++p)
          if (kResultBlocks[i][j][p] == sign)
            total = addSigned(total, vectors[p], sign);
      results.at[i][j] = arith::MulFOp::create(b, loc, total, scale);
    }
  }
  return results;
}

/// Returns the same blocks by eight products, of rows and columns as they are stored.
Blocks StrassenFma::multiplyAsStored(Value pairOfPanels, Value pair, int64_t rowsOfPair, int64_t column) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  Value numbers[2] = {scale(pair, 2), scale(pair, 2, rowsOfPair - 1)};
  Value panels[2] = {scale(pairOfPanels, 2), scale(pairOfPanels, 2, 1)};
  auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(2 * tile.depth), nest.constant(1),
                                 SmallVector<Value>(4, zero)); // math: blocks
  Blocks results;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> sums;
  for (int i = 0; i < 2; ++i) {
    Value element =
        splat(memref::LoadOp::create(b, loc, contraction.lhs.memory, ValueRange{numbers[i], loop.getInductionVar()}));
    for (int j = 0; j < 2; ++j) {
      Value factor = load(contraction.rhs.memory, {panels[j], loop.getInductionVar(), nest.constant(column)});
      sums.push_back(vector::FMAOp::create(b, loc, element, factor, loop.getRegionIterArgs()[2 * i + j]));
      results.at[i][j] = loop.getResult(2 * i + j);
    }
  }
  scf::YieldOp::create(b, loc, sums);
  return results;
}

/// Stores what a pair of panels has of a pair of rows.
void StrassenFma::storePair(Value pairOfPanels, Value pair, int64_t rowsOfPair) {
  nest.moveTo(rowLoop, scale(pair, 2));
  Value column = scale(pairOfPanels, 2 * tile.panel);
  auto store = [&](llvm::function_ref<Blocks(int64_t column)> compute) {
    for (int64_t v = 0; v < countVectors(); ++v) {
      Blocks results = compute(v * lanes);
      // The first panel of a pair is whole.
      Value mask = getColumnMask(column, tile.panel + v * lanes);
      for (int j = 0; j < 2; ++j) {
        SmallVector<Value> half{results.at[0][j], results.at[1][j]};
        half.resize(rowsOfPair);
        storeHalf(half, column, j, v, j == 1 ? mask : Value());
      }
    }
  };
  Value scale = memref::LoadOp::create(b, loc, scales, ValueRange{pair, nest.constant(0)});
  Value isScaled = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, scale,
                                         arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  auto branch = scf::IfOp::create(b, loc, isScaled, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  store([&](int64_t column) { return addProducts(pair, column); });
  b.setInsertionPointToStart(branch.elseBlock());
  store([&](int64_t column) { return multiplyAsStored(pairOfPanels, pair, rowsOfPair, column); });
}

void StrassenFma::storePanels(Value pairOfPanels) {
  nest.forLoop(nest.constant(0), nest.constant(rows / 2), 1, [&](Value pair) { storePair(pairOfPanels, pair, 2); });
  if (rows % 2)
    storePair(pairOfPanels, nest.constant(rows / 2), 1);
}

/// The last panel of an odd number is multiplied as it is stored; its products take the place of those of halves.
void StrassenFma::multiplyLastPanel(Value panel) {
  int64_t depth = 2 * tile.depth;
  SmallVector<int64_t> shape{rows, tile.panel};
  Value sums = memref::ReinterpretCastOp::create(b, loc, MemRefType::get(shape, type), products, int64_t(0), shape,
                                                 SmallVector<int64_t>{tile.panel, 1});
  Value matrix = cut(contraction.rhs.memory, {panel, b.getIndexAttr(0), b.getIndexAttr(0)}, {1, depth, tile.panel},
                     {1, depth, tile.panel});
  Attribute zero = b.getIndexAttr(0);
  Value all = cut(contraction.lhs.memory, {zero, zero}, {rows, depth}, {rows, depth});
  emitProduct({all, matrix, sums}, depth, /*isFromZero=*/true);
  Value column = scale(panel, tile.panel);
  nest.forLoop(nest.constant(0), nest.constant(rows), 1, [&](Value row) {
    nest.moveTo(rowLoop, row);
    for (int64_t v = 0; v < countVectors(); ++v) {
      storeHalf({load(sums, {row, nest.constant(v * lanes)})}, column, 0, v, getColumnMask(column, v * lanes));
    }
  });
}

void StrassenFma::emitPanels() {
  columns = nest.getExtent(columnLoop);
  AffineExpr extent = b.getAffineSymbolExpr(0);
  AffineExpr count = extent.ceilDiv(tile.panel);
  Value pairs = nest.compute(count.floorDiv(2), {columns});
  nest.forLoop(nest.constant(0), pairs, 1, [&](Value pair) {
    multiplyPanels(pair);
    storePanels(pair);
  });
  Value isOdd = nest.compute(count % 2, {columns}), last = nest.compute(count - 1, {columns});
  if (std::optional<int64_t> known = getConstantIntValue(isOdd)) {
    if (*known)
      multiplyLastPanel(last);
    return;
  }
  auto branch =
      scf::IfOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, isOdd, nest.constant(0)),
                        /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  multiplyLastPanel(last);
}

void StrassenFma::emitRows(int64_t number) {
  rows = number;
  sumRows();
  emitPanels();
}

void StrassenFma::emit() {
  auto getBuffer = [&](ScratchUse use, ArrayRef<int64_t> shape) {
    return problem.scratch.emit(b, loc, use, MemRefType::get(shape, type));
  };
  rowSums = getBuffer(ScratchUse::strassenRows, {kStrassenProducts, tile.pairs, tile.rowStride});
  scales = getBuffer(ScratchUse::strassenScales, {tile.pairs, 2});
  panelSum = getBuffer(ScratchUse::strassenPanel, {1, tile.kBlock, tile.panel});
  products = getBuffer(ScratchUse::strassenProducts, {kStrassenProducts, tile.pairs, tile.panel});
  Value all = nest.getExtent(rowLoop);
  if (std::optional<int64_t> known = getConstantIntValue(all))
    return emitRows(*known);
  // A tile is whole, or the last one.
  Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, all, nest.constant(tile.rows));
  auto branch = scf::IfOp::create(b, loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitRows(tile.rows);
  b.setInsertionPointToStart(branch.elseBlock());
  emitRows(tile.lastRows);
}

/// A number of rows that is not static is that of a whole tile, or of the last one.
static bool fits(const ContractionProblem &problem) {
  std::optional<StrassenTile> tile = getStrassenTile(problem.op, problem.contraction);
  if (!tile || !problem.isFromZero || problem.contraction.panel % problem.lanes != 0)
    return false;
  kernel::ContractOp op = problem.op;
  int64_t rows = op.getStaticLoopRanges()[*problem.contraction.rowLoop];
  return ShapedType::isDynamic(rows) ? tile->lastRows > 0 : rows > 0 && rows <= tile->rows;
}

static bool implements(StringRef path, const Contraction &contraction) {
  return path == kStrassenPath && contraction.panel > 0;
}

const MicroKernelEntry tenon::kStrassenFma = {
    .name = kernel::MicroKernel::strassen_fma,
    .fits = fits,
    .create = createMicroKernel<StrassenFma>,
    .implements = implements,
};
