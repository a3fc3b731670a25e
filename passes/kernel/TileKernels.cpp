//===- TileKernels.cpp - split the work of each kernel into tiles ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/cost/ContractionTiles.h"
#include "passes/cost/Machine.h"
#include "passes/cost/PackingPolicy.h"
#include "passes/cost/SizeHints.h"
#include "passes/kernel/ChainTile.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ScratchLayout.h"
#include "passes/kernel/TransposeTiles.h"
#include "passes/kernel/WinogradScratch.h"
#include "passes/kernel/contract/MicroKernel.h"
#include "passes/kernel/schedules/ScheduleList.h"
#include "passes/paths/split/Bf16Terms.h"
#include "runtime/format/Kernel.h"

namespace tenon {
#define GEN_PASS_DEF_TILEKERNELS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Which loops, and how large
//===----------------------------------------------------------------------===//

namespace {
/// The tile sizes of the loops of a kernel's last stage; 0 for a loop that is not tiled.
struct Tiling {
  SmallVector<int64_t> sizes;
  /// How many tiles that makes.
  AffineExpr count;
  /// The loop that varies slowest over the tiles, if not the first one: neighbouring tiles, which one thread computes,
  /// share its position.
  std::optional<unsigned> slowest = {};
  /// Loops whose dynamic extents are known to be multiples of the tile sizes.
  SmallVector<unsigned> even = {};
};
} // namespace

namespace {
/// The constraints that the stages before the last one put on its tiles.
struct Constraints {
  /// The loops of the last stage that every earlier stage has, too: tiling another loop would repeat a stage.
  SmallVector<bool> allowed;
  /// True if a tile needs memory of its own for the results of earlier stages. In-place stages need none.
  bool hasIntermediates = false;
};
} // namespace

/// Returns a stage of a kernel, which is a loop nest on tensors; null for any other operation.
static linalg::LinalgOp getStage(Operation *op) {
  return isa_and_nonnull<linalg::GenericOp, kernel::ContractOp>(op) ? cast<linalg::LinalgOp>(op) : linalg::LinalgOp();
}

static linalg::LinalgOp getStage(Value result) { return getStage(result.getDefiningOp()); }

/// Walks the stages before `op`; `rootLoop` says which loop of the last stage runs over the same dimension.
static void collectConstraints(linalg::LinalgOp op, ArrayRef<std::optional<unsigned>> rootLoop,
                               Constraints &constraints) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!input->get().getDefiningOp<linalg::LinalgOp>())
      continue;
    constraints.hasIntermediates = true;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [loop, root] : llvm::enumerate(rootLoop))
      if (root && !map.isFunctionOfDim(loop))
        constraints.allowed[*root] = false;
  }
  // The operand that the operation updates in place is the result of a stage with the same dimensions.
  for (OpOperand &output : op.getDpsInitsMutable()) {
    linalg::LinalgOp producer = getStage(output.get());
    if (!producer)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&output);
    AffineMap own = producer.getIndexingMapMatchingResult(cast<OpResult>(output.get()));
    SmallVector<std::optional<unsigned>> loops(producer.getNumLoops());
    assert(map.getNumResults() == own.getNumResults() &&
           "a result is read in place with the dimensions it is written in");
    for (auto [mine, theirs] : llvm::zip(map.getResults(), own.getResults()))
      loops[cast<AffineDimExpr>(theirs).getPosition()] = rootLoop[cast<AffineDimExpr>(mine).getPosition()];
    collectConstraints(producer, loops, constraints);
  }
}

/// True if a stage reduces over an empty range; no slices can be extracted from it.
static bool reducesNothing(linalg::LinalgOp op) {
  return llvm::is_contained(op.getStaticLoopRanges(), 0) || llvm::any_of(op->getOperands(), [](Value operand) {
           linalg::LinalgOp producer = getStage(operand);
           return producer && reducesNothing(producer);
         });
}

/// Estimates how many elements are reduced to one element of the stages that `op` depends on.
static int64_t getReductionSize(linalg::LinalgOp op, const TilePolicy &policy) {
  int64_t size = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [range, iterator] : llvm::zip(ranges, op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      size *= ShapedType::isDynamic(range) ? policy.dynamicReduced : std::max<int64_t>(range, 1);
  for (Value operand : op->getOperands())
    if (linalg::LinalgOp producer = getStage(operand))
      size = std::max(size, getReductionSize(producer, policy));
  return size;
}

/// True if all elements that `op` reduces are contiguous in memory: then elements of its result share no cache lines of
/// the input.
static bool reducesAlongMemory(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           auto last = map.getNumResults() ? dyn_cast<AffineDimExpr>(map.getResults().back()) : AffineDimExpr(nullptr);
           return last && op.getIteratorTypesArray()[last.getPosition()] == utils::IteratorType::reduction;
         });
}

/// Returns how many elements of a reduction's result are as much work as `elements` input elements.
static int64_t getElementsOfReduction(linalg::LinalgOp op, int64_t elements, const TilePolicy &policy) {
  int64_t size = getReductionSize(op, policy);
  return reducesAlongMemory(op) ? std::max(elements / size, std::min(policy.minReductions, elements))
                                : elements / std::min(size, policy.maxReduced);
}

/// Returns how many elements of an elementwise stage take as long as `elements` that are moved or added; a function
/// counts as several (TilePolicy).
static int64_t getElementsAsCostly(linalg::LinalgOp op, int64_t elements, const TilePolicy &policy) {
  int64_t functions = llvm::count_if(op.getBlock()->getOperations(), [](Operation &inner) {
    return isa<math::ExpOp, math::TanhOp, math::ErfOp, math::LogOp, math::PowFOp, math::SinOp, math::CosOp>(inner);
  });
  if (op.getNumReductionLoops() != 0 || functions == 0)
    return elements;
  return std::min(elements, std::max(elements / (1 + policy.functionElements * functions), policy.minFunctionElements));
}

/// Returns the stage whose result `op` updates in place, or reads element by element to write its own.
static Operation *getStageBefore(linalg::LinalgOp op) {
  auto isStage = [](Operation *producer) {
    return getStage(producer) || isa_and_nonnull<kernel::WinogradOp>(producer);
  };
  if (op.getNumDpsInits() != 1)
    return nullptr;
  if (Operation *producer = op.getDpsInits()[0].getDefiningOp(); isStage(producer))
    return producer;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand *input : op.getDpsInputOperands())
    if (Operation *producer = input->get().getDefiningOp();
        isStage(producer) && op.getMatchingIndexingMap(input) == map)
      return producer;
  return nullptr;
}

/// Returns the contraction whose result is that of `root` or the input of its epilogue; null for none.
static kernel::ContractOp findContractionOp(linalg::LinalgOp root) {
  for (linalg::LinalgOp op = root; op; op = getStage(getStageBefore(op)))
    if (auto contract = dyn_cast<kernel::ContractOp>(op.getOperation()); contract && readContraction(contract))
      return contract;
  return {};
}

/// Returns the number of rows that the micro-kernel of a contraction computes at a time in large tiles.
static int64_t getRowStep(kernel::ContractOp op, const Contraction &contraction, const TilePolicy &policy) {
  const MicroKernelEntry *entry = findMicroKernel(kernel::getSchedule(op).getMicroKernel());
  if (!entry)
    entry = findMicroKernelOfPath(/*path=*/"", contraction);
  return entry && entry->rowStep ? entry->rowStep : policy.rowStep;
}

/// Describes the contraction whose result is that of `root` or the input of its epilogue, for the tiling of a result
/// with extents `dims`.
static std::optional<TileProblem> findContraction(linalg::LinalgOp root, ArrayRef<AffineExpr> dims,
                                                  const SizeHints &hints, const TilePolicy &policy) {
  kernel::ContractOp op = findContractionOp(root);
  if (!op)
    return std::nullopt;
  Contraction contraction = *readContraction(op);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  TileProblem problem;
  for (AffineExpr dim : dims) {
    problem.extents.push_back(getConstant(dim));
    problem.hints.push_back(hints.get(dim));
  }
  problem.panel = std::max<int64_t>(contraction.panel, 1);
  problem.hasBorder = !contraction.lhs.bounds.empty();
  problem.products = getReductionSize(op, policy);
  problem.rowStep = getRowStep(op, contraction, policy);
  problem.splitsLhs = contraction.terms && contraction.terms->splitsLhs();
  problem.packedRowBytes = getPackedRowBytes(op, contraction);
  if (contraction.terms)
    problem.termRowBytes = op.getStaticLoopRanges()[contraction.terms->loop] * contraction.terms->countLhsTerms() * 2;
  for (auto [i, index] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(index).getPosition();
    if (loop == contraction.rowLoop)
      problem.row = i;
    if (loop == contraction.columnLoop)
      problem.column = i;
  }
  return problem;
}

/// Returns upper bounds for the steps of each loop in a tile of `sizes` of the result.
static SmallVector<int64_t> getTileExtents(kernel::ContractOp op, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  assert(sizes.size() <= map.getNumResults() && "a size is that of a dimension of the result");
  for (auto [i, size] : llvm::enumerate(sizes))
    extents[map.getDimPosition(i)] = size;
  return extents;
}

/// Returns the bytes of the packed copy of the operand that a tile of `extents` iterations of each loop reads; none if
/// the kernel packs no tiles. Int8 operands are packed, as i16, only for vpmaddwd, unless a path has named another
/// micro-kernel.
static std::optional<int64_t> getTileBytes(kernel::ContractOp op, const Contraction &contraction,
                                           ArrayRef<int64_t> extents) {
  bool staysInt8 = contraction.dot4Loop && (getMachine(op).int8Dot != Int8Dot::pmaddWd ||
                                            kernel::getSchedule(op).getMicroKernel() != kernel::MicroKernel::automatic);
  return staysInt8 ? std::nullopt : getPackedTileBytes(op, contraction, extents);
}

/// Chooses how a tile of `extents` iterations of each loop packs its part of the LHS.
static kernel::Packing choosePacking(kernel::ContractOp op, const Contraction &contraction, ArrayRef<int64_t> extents) {
  if (packsColumns(op, contraction) && extents[contraction.columnLoop] % PackingPolicy().columns != 0)
    return kernel::Packing::none;
  if (contraction.terms && contraction.terms->splitsLhs())
    return kernel::Packing::split;
  std::optional<int64_t> bytes = getTileBytes(op, contraction, extents);
  return bytes && *bytes <= getMaxTileBytes(contraction) ? kernel::Packing::tile : kernel::Packing::none;
}

/// Tiles with packed columns have few columns and more lines, because neighbouring tiles pack the lines between them
/// twice.
static void choosePackedColumns(kernel::ContractOp op, const TileProblem &problem, SmallVector<int64_t> &sizes) {
  if (!packsColumns(op, *readContraction(op)))
    return;
  assert(sizes[problem.column] > 0 && "a tile has a column");
  int64_t columns = std::min<int64_t>(sizes[problem.column], 2 * PackingPolicy().columns),
          more = sizes[problem.column] / columns;
  sizes[problem.column] = columns;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned i = sizes.size(); i-- > 0;) {
    int64_t extent = ranges[map.getDimPosition(i)];
    if (i == problem.column || i == problem.row || ShapedType::isDynamic(extent) || extent == 0)
      continue;
    // Parts of nearly equal size.
    int64_t wanted = std::min(sizes[i] * more, extent), parts = std::max<int64_t>((extent + wanted / 2) / wanted, 1);
    int64_t size = llvm::divideCeil(extent, parts);
    more = std::max<int64_t>(more * sizes[i] / size, 1);
    sizes[i] = size;
  }
}

/// Makes tiles smaller if one reads more than fits the scratch of a thread: first fewer lines of pixels, then fewer
/// rows.
static void splitPromotedTiles(kernel::ContractOp op, const TileProblem &problem, SmallVector<int64_t> &sizes) {
  Contraction contraction = *readContraction(op);
  auto isTooLarge = [&] {
    std::optional<int64_t> bytes = getTileBytes(op, contraction, getTileExtents(op, sizes));
    return bytes && *bytes > getMaxTileBytes(contraction);
  };
  auto cut = [&](unsigned i) {
    while (sizes[i] > 1 && isTooLarge())
      sizes[i] = llvm::divideCeil(sizes[i], 2);
  };
  for (unsigned i = 0; i < sizes.size(); ++i)
    if (i != problem.column && i != problem.row)
      cut(i);
  if (problem.row)
    cut(*problem.row);
}

/// Chooses the versions of a contraction's code by number of rows; `sizes` are upper bounds for a tile in each
/// dimension of the result.
static RowVersions chooseRows(kernel::ContractOp op, const TileProblem &problem, ArrayRef<AffineExpr> dims,
                              ArrayRef<int64_t> sizes, const TilePolicy &policy) {
  if (!problem.row)
    return {};
  AffineExpr rows = dims[*problem.row];
  Extent columns = problem.extents[problem.column];
  bool isNear = columns && *columns * problem.products * int64_t(sizeof(float)) <= getMachine(op).l2Bytes;
  int64_t dynamicSymbols = 0;
  rows.walk([&](AffineExpr expr) { dynamicSymbols += isa<AffineDimExpr, AffineSymbolExpr>(expr); });
  return chooseRowVersions(problem.extents[*problem.row], sizes[*problem.row], rows.getLargestKnownDivisor(),
                           dynamicSymbols, isNear, policy);
}

/// Returns the K-block of bf16 terms that are summed in one loop; 0 for the whole sum.
static int64_t chooseKBlock(kernel::ContractOp op, const Contraction &contraction, const TileProblem &problem,
                            ArrayRef<int64_t> sizes, const TilePolicy &policy) {
  if (!contraction.terms || op.getNumReductionLoops() != 1)
    return 0;
  std::optional<int64_t> maxSplitDepth;
  if (contraction.terms->splitsRhs())
    maxSplitDepth = kMaxSplitDepth;
  return chooseTermKBlock(problem, sizes, op.getStaticLoopRanges()[contraction.terms->loop], contraction.terms->step,
                          maxSplitDepth, policy);
}

/// True if the rows of a tile, of `rowBytes` each, are few enough to be packed.
static bool canPackRows(const TileProblem &problem, ArrayRef<int64_t> sizes, int64_t rowBytes,
                        const TilePolicy &policy) {
  return problem.row && rowBytes && sizes[*problem.row] <= policy.maxPackedRowsBytes / rowBytes &&
         !hasOtherDims(problem, sizes);
}

/// Makes the schedule of a contraction whose tiles have at most `sizes` in each dimension of the result. It follows
/// `draft` where that is possible, and the policies otherwise. `problem` is null if the tiles were not chosen for this
/// contraction.
static kernel::ScheduleAttr makeSchedule(kernel::ContractOp op, const TileProblem *problem, ArrayRef<AffineExpr> dims,
                                         ArrayRef<int64_t> sizes, const TilePolicy &policy,
                                         const ScheduleDraft &draft = {}) {
  Contraction contraction = *readContraction(op);
  kernel::ScheduleFields fields;
  fields.microKernel = kernel::getSchedule(op).getMicroKernel();
  fields.tile = getTileExtents(op, sizes);
  bool packsRows = problem && canPackRows(*problem, sizes, problem->packedRowBytes, policy);
  if (draft.packing)
    packsRows = problem && draft.packing == kernel::Packing::rows &&
                canPackRows(*problem, sizes, getPackableRowBytes(op, contraction), policy);
  if (problem && (problem->panel > 1 || problem->packedRowBytes || packsRows)) {
    RowVersions rows = chooseRows(op, *problem, dims, sizes, policy);
    fields.lastRows = rows.lastRows;
    fields.rowVersions = rows.rowVersions;
    fields.manyRows = rows.manyRows;
  }
  fields.packing = packsRows ? kernel::Packing::rows : choosePacking(op, contraction, fields.tile);
  if (draft.packing == kernel::Packing::none && fields.packing == kernel::Packing::tile)
    fields.packing = kernel::Packing::none;
  fields.kBlock = contraction.terms && problem ? chooseKBlock(op, contraction, *problem, sizes, policy) : draft.kBlock;
  draft.setFields(fields);
  for (int64_t &extent : fields.tile)
    if (extent == std::numeric_limits<int64_t>::max())
      extent = ShapedType::kDynamic;
  return kernel::ScheduleAttr::get(op.getContext(), fields);
}

static int64_t getElementBits(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
}

/// True if `op`, or a stage that it depends on, reads an operand in panels, whose indices are remainders.
static bool readsPanels(linalg::LinalgOp op) {
  auto hasRemainder = [](AffineMap map) {
    bool found = false;
    map.walkExprs([&](AffineExpr expr) { found |= expr.getKind() == AffineExprKind::Mod; });
    return found;
  };
  return llvm::any_of(op.getIndexingMapsArray(), hasRemainder) || llvm::any_of(op->getOperands(), [](Value operand) {
           linalg::LinalgOp producer = getStage(operand);
           return producer && readsPanels(producer);
         });
}

/// Keeps loops whole if an operand's index is a remainder of them, as when `root` reads panels itself: a tile that
/// begins in the middle of a panel would read positions of the operand in non-monotonic order, which is no slice.
static void keepRemaindersWhole(linalg::LinalgOp root, Constraints &constraints) {
  for (AffineMap map : root.getIndexingMapsArray())
    map.walkExprs([&](AffineExpr expr) {
      if (expr.getKind() == AffineExprKind::Mod)
        for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
          constraints.allowed[loop] = constraints.allowed[loop] && !expr.isFunctionOfDim(loop);
    });
}

/// Returns upper bounds for a tile in each result dimension; a very large number if the tile spans all of a dynamic
/// dimension.
static SmallVector<int64_t> getMaxTile(AffineMap map, ArrayRef<AffineExpr> dims, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> most;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t size = sizes[cast<AffineDimExpr>(map.getResult(i)).getPosition()];
    int64_t extent = getConstant(dim).value_or(std::numeric_limits<int64_t>::max());
    most.push_back(size ? std::min(size, extent) : extent);
  }
  return most;
}

namespace {
/// Chooses the tiles of a kernel whose last stage is a loop nest, and the schedule of the contraction in it.
class TilingChoice {
public:
  TilingChoice(linalg::LinalgOp root, unsigned result, ArrayRef<AffineExpr> dims, const SizeHints &hints,
               int64_t tileElements, const TilePolicy &policy);
  /// `chooser`, which may be null, is given the region and the name of the kernel.
  Tiling choose(const KernelRegion &region, StringRef kernel, ScheduleChooser *chooser);

private:
  SmallVector<int64_t> choosePolicyTile();
  Tiling makeTiling(ArrayRef<int64_t> fixed);
  ScheduleDraft chooseDraft(const ScheduleDraft &own, const KernelRegion &region, StringRef kernel,
                            ScheduleChooser &chooser);
  kernel::ScheduleAttr finish(const ScheduleDraft &draft);
  unsigned getLoop(size_t dim) const { return cast<AffineDimExpr>(map.getResult(dim)).getPosition(); }

  linalg::LinalgOp root;
  unsigned result;
  ArrayRef<AffineExpr> dims;
  const SizeHints &hints;
  const TilePolicy &policy;
  AffineMap map; ///< of the result
  Constraints constraints;
  std::optional<TileProblem> contraction;
  /// Memory that is local to a tile must have a static size, so such tiles are never truncated at the border, except
  /// those of a contraction (boundIntermediates).
  bool isExact;
  int64_t target; ///< elements of a tile
};
} // namespace

TilingChoice::TilingChoice(linalg::LinalgOp root, unsigned result, ArrayRef<AffineExpr> dims, const SizeHints &hints,
                           int64_t tileElements, const TilePolicy &policy)
    : root(root), result(result), dims(dims), hints(hints), policy(policy),
      map(root.getMatchingIndexingMap(root.getDpsInitOperand(result))),
      constraints{SmallVector<bool>(root.getNumLoops(), true)},
      contraction(findContraction(root, dims, hints, policy)) {
  SmallVector<std::optional<unsigned>> loops;
  for (unsigned loop = 0; loop < root.getNumLoops(); ++loop)
    loops.push_back(loop);
  collectConstraints(root, loops, constraints);
  isExact = (constraints.hasIntermediates && !contraction) || root->getNumResults() > 1;
  if (!contraction)
    keepRemaindersWhole(root, constraints);
  // The columns of a contraction are the last dimension of its result.
  if (!contraction && !dims.empty() && readsPanels(root))
    constraints.allowed[getLoop(dims.size() - 1)] = false;
  // A tile of n elements costs n * reduction, so long reductions get small tiles: every thread should have work.
  int64_t elements = getElementsAsCostly(root, getElementsOfReduction(root, tileElements, policy), policy);
  target = std::max<int64_t>(1, elements);
}

/// Returns the tile that the policies choose for contractions and transposes; empty for other kernels.
SmallVector<int64_t> TilingChoice::choosePolicyTile() {
  SmallVector<int64_t> fixed;
  if (isExact)
    return fixed;
  if (contraction) {
    fixed = contraction->panel > 1 ? choosePanelTile(*contraction, policy) : choosePlainTile(*contraction, policy);
    choosePackedColumns(findContractionOp(root), *contraction, fixed);
    if (!contraction->packedRowBytes)
      splitPromotedTiles(findContractionOp(root), *contraction, fixed);
  } else if (std::optional<TransposedDims> transposed = findTransposedDims(root, map, dims)) {
    fixed = chooseTransposedTile(llvm::map_to_vector(dims, [&](AffineExpr dim) { return hints.get(dim); }), *transposed,
                                 target, getElementBits(root->getResult(result)));
  }
  return fixed;
}

/// Makes tiles of `fixed` elements in each dimension, if that is not empty, as far as the constraints allow.
Tiling TilingChoice::makeTiling(ArrayRef<int64_t> fixed) {
  MLIRContext *context = root.getContext();
  Tiling tiling{SmallVector<int64_t>(root.getNumLoops(), 0), getDimConstant(context, 1)};
  int64_t inner = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    unsigned loop = getLoop(i);
    int64_t extent = hints.get(dims[i]).value_or(policy.dynamicExtent);
    if (!constraints.allowed[loop]) {
      inner *= std::max<int64_t>(extent, 1);
      continue;
    }
    int64_t size = std::clamp<int64_t>(target / inner, 1, std::max<int64_t>(extent, 1));
    // The extent is divided into nearly equal parts of whole cache lines.
    if (int64_t step = policy.lastDimStep; i + 1 == dims.size() && size >= step)
      size = std::min<int64_t>(llvm::alignTo(llvm::divideCeil(extent, llvm::divideCeil(extent, size)), step), extent);
    assert((fixed.empty() || fixed.size() == dims.size()) && "a tile that is fixed has a size for each dimension");
    if (!fixed.empty())
      size = fixed[i];
    if (isExact && !getConstant(dims[i]))
      size = 1;
    // Panels are never cut.
    int64_t step = contraction && i == contraction->column ? contraction->panel : 1;
    if (size < extent)
      size = std::max(size / step * step, step);
    while (isExact && extent > 0 && extent % size != 0 && size > step)
      size -= step;
    if (isExact && extent % size != 0)
      size = extent;
    inner *= size;
    if (getConstant(dims[i]) && size >= extent)
      continue;
    tiling.sizes[loop] = size;
    tiling.count = mulDims(tiling.count, ceilDivDims(dims[i], getDimConstant(context, size)));
  }
  return tiling;
}

kernel::ScheduleAttr TilingChoice::finish(const ScheduleDraft &draft) {
  return makeSchedule(findContractionOp(root), isExact ? nullptr : &*contraction, dims,
                      getMaxTile(map, dims, makeTiling(draft.tile).sizes), policy, draft);
}

ScheduleDraft TilingChoice::chooseDraft(const ScheduleDraft &own, const KernelRegion &region, StringRef kernel,
                                        ScheduleChooser &chooser) {
  kernel::ContractOp op = findContractionOp(root);
  Contraction match = *readContraction(op);
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  int64_t depth = summed.size() == 1 ? op.getStaticLoopRanges()[summed.front()] : ShapedType::kDynamic;
  ScheduleProblem problem{match,
                          getElementTypeOrSelf(op.getDpsInits()[0]),
                          ShapedType::isDynamic(depth) ? std::nullopt : std::optional(depth),
                          *contraction,
                          getMachine(op),
                          packsColumns(op, match)};
  ScheduleDraft whole = own;
  whole.tile = getMaxTile(map, dims, makeTiling(own.tile).sizes);
  std::vector<ScheduleAlternative> list =
      listSchedules(problem, whole, [&](const ScheduleDraft &draft) { return finish(draft); });
  std::vector<ScheduleOption> options;
  for (const ScheduleAlternative &alternative : list)
    options.push_back({printSchedule(alternative.schedule), alternative.cost, alternative.source, alternative.parts});
  size_t chosen = chooser.choose(region, kernel, options);
  assert(chosen < list.size() && "an option is chosen");
  return chosen == 0 ? own : list[chosen].draft;
}

Tiling TilingChoice::choose(const KernelRegion &region, StringRef kernel, ScheduleChooser *chooser) {
  ScheduleDraft draft;
  draft.tile = choosePolicyTile();
  if (contraction && !isExact && chooser && !region.text.empty())
    draft = chooseDraft(draft, region, kernel, *chooser);
  Tiling tiling = makeTiling(draft.tile);
  if (!contraction)
    return tiling;
  findContractionOp(root).setScheduleAttr(finish(draft));
  if (unsigned loop = getLoop(contraction->column); draft.columnsSlowest && tiling.sizes[loop] != 0)
    tiling.slowest = loop;
  return tiling;
}

/// Returns the Winograd convolution whose result is that of `root` or the input of its epilogue.
static kernel::WinogradOp findWinograd(Operation *root) {
  while (linalg::LinalgOp op = getStage(root))
    root = getStageBefore(op);
  return dyn_cast_or_null<kernel::WinogradOp>(root);
}

/// Returns the tiles that the convolution was planned with, one image at a time.
static Tiling getWinogradTiling(kernel::WinogradOp op, TilingInterface root, ArrayRef<AffineExpr> dims) {
  MLIRContext *context = op.getContext();
  Tiling tiling{SmallVector<int64_t>(root.getLoopIteratorTypes().size(), 0), getDimConstant(context, 1)};
  linalg::LinalgOp stage = getStage(root.getOperation());
  for (unsigned i = 0; i < dims.size(); ++i) {
    int64_t size = i == 0 ? 1 : op.getTile()[i - 1];
    assert(size > 0 && "a tile of a convolution has an element");
    if (std::optional<int64_t> extent = getConstant(dims[i]); extent && size >= *extent)
      continue;
    unsigned loop = i;
    if (stage)
      loop = stage.getMatchingIndexingMap(stage.getDpsInitOperand(0)).getDimPosition(i);
    tiling.sizes[loop] = size;
    tiling.count = mulDims(tiling.count, ceilDivDims(dims[i], getDimConstant(context, size)));
    // Each panel of weights is read by one thread only, and only once.
    if (i == 3)
      tiling.slowest = loop;
  }
  return tiling;
}

/// Returns the tiles that a chain of two loop nests was planned with (passes/fusion/Chains.h).
static Tiling getChainTiling(linalg::LinalgOp root, Operation *link, ArrayRef<AffineExpr> dims,
                             const TilePolicy &policy) {
  ArrayRef<int64_t> sizes = link->getAttrOfType<DenseI64ArrayAttr>(kChainTileAttr).asArrayRef();
  assert(sizes.size() <= dims.size() && "a chain was planned with the dimensions of its result");
  // A first loop nest of images does some lines at a time.
  if (auto rows = dyn_cast<tensor::CollapseShapeOp>(link)) {
    ArrayRef<int64_t> image = rows.getSrcType().getShape();
    kernel::ContractOp first = findContractionOp(getStage(rows.getSrc()));
    assert(first && image.size() == 4 && image[2] > 0 && sizes[0] % image[2] == 0 &&
           "a chain of images begins with a convolution of whole lines");
    first.setScheduleAttr(
        makeSchedule(first, /*problem=*/nullptr, /*dims=*/{}, {1, sizes[0] / image[2], image[2], image[3]}, policy));
  }
  MLIRContext *context = root.getContext();
  Tiling tiling{SmallVector<int64_t>(root.getNumLoops(), 0), getDimConstant(context, 1)};
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (getConstant(dims[i]) && size >= *getConstant(dims[i]))
      continue;
    unsigned loop = map.getDimPosition(i);
    tiling.sizes[loop] = size;
    tiling.count = mulDims(tiling.count, ceilDivDims(dims[i], getDimConstant(context, size)));
    if (dims[i].isMultipleOf(size))
      tiling.even.push_back(loop);
  }
  return tiling;
}

//===----------------------------------------------------------------------===//
// The loop over tiles
//===----------------------------------------------------------------------===//

/// Returns the bytes of scratch that the stages of a kernel need for a tile, and that the kernel's reports need.
static int64_t getScratch(func::FuncOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](Operation *op) {
    if (isa<kernel::CheckIndicesOp>(op))
      bytes = std::max<int64_t>(bytes, sizeof(tenon_kernel_index_report));
    else if (auto winograd = dyn_cast<kernel::WinogradOp>(op))
      bytes = std::max(bytes, getWinogradScratch(winograd).layout.getBytes());
    else if (auto contract = dyn_cast<kernel::ContractOp>(op))
      if (std::optional<Contraction> contraction = readContraction(contract))
        bytes = std::max(bytes, getScratchLayout(contract, *contraction).getBytes());
  });
  return bytes;
}

static void setScratch(func::FuncOp kernel) {
  if (int64_t bytes = getScratch(kernel))
    kernel->setAttr(kScratchAttr, IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), bytes));
}

/// Options for a single loop over the range of tiles that a call computes; the number of a tile is delinearized into
/// its position in each tiled dimension.
static scf::SCFTilingOptions getTilingOptions(const Tiling &tiling, Value begin, Value end) {
  SmallVector<OpFoldResult> sizes;
  Builder attrs(begin.getContext());
  for (int64_t size : tiling.sizes)
    sizes.push_back(attrs.getIndexAttr(size));
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  options.setLoopType(scf::SCFTilingOptions::LoopType::CustomOp);

  auto makeHeader = [begin, end, slowest = tiling.slowest, even = tiling.even](
                        RewriterBase &b, Location loc, ArrayRef<Range> ranges, ArrayRef<OpFoldResult> sizes,
                        ValueRange destinations) -> FailureOr<scf::SCFTilingOptions::CustomLoopHeaderInfo> {
    scf::SCFTilingOptions::CustomLoopHeaderInfo header;
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    // The tiled loops, from the slowest to the fastest.
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < sizes.size(); ++i)
      if (!isZeroInteger(sizes[i]))
        order.insert(slowest == i ? order.begin() : order.end(), i);
    SmallVector<Value> counts;
    AffineExpr s0 = b.getAffineSymbolExpr(0), s1 = b.getAffineSymbolExpr(1), s2 = b.getAffineSymbolExpr(2);
    for (unsigned i : order)
      counts.push_back(getValueOrCreateConstantIndexOp(
          b, loc, affine::makeComposedFoldedAffineApply(b, loc, s0.ceilDiv(s1), {ranges[i].size, sizes[i]})));
    auto loop = scf::ForOp::create(b, loc, begin, end, one, destinations);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> positions(sizes.size());
    Value rest = loop.getInductionVar();
    for (size_t i = counts.size(); i-- > 1;) {
      positions[order[i]] = arith::RemUIOp::create(b, loc, rest, counts[i]);
      rest = arith::DivUIOp::create(b, loc, rest, counts[i]);
    }
    positions[order[0]] = rest;
    for (auto [loopNumber, range, size, position] : llvm::enumerate(ranges, sizes, positions)) {
      if (isZeroInteger(size)) {
        header.tileOffset.push_back(range.offset);
        header.tileSizes.push_back(range.size);
        continue;
      }
      OpFoldResult offset = affine::makeComposedFoldedAffineApply(b, loc, s0 * s1, {position, size});
      std::optional<int64_t> extent = getConstantIntValue(range.size), step = getConstantIntValue(size);
      bool isExact = *step == 1 || (extent && *extent % *step == 0) || llvm::is_contained(even, loopNumber);
      header.tileOffset.push_back(offset);
      header.tileSizes.push_back(
          isExact ? size
                  : affine::makeComposedFoldedAffineMin(b, loc, AffineMap::get(0, 3, {s0, s1 - s2}, b.getContext()),
                                                        {size, range.size, offset}));
    }
    header.loops.push_back(loop);
    llvm::append_range(header.destinationTensors, loop.getRegionIterArgs());
    return header;
  };
  auto makeTerminator = [](RewriterBase &b, Location loc, ArrayRef<LoopLikeOpInterface>, ValueRange tiles,
                           ArrayRef<SmallVector<OpFoldResult>> offsets, ArrayRef<SmallVector<OpFoldResult>> sizes,
                           ValueRange destinations) -> LogicalResult {
    SmallVector<Value> results;
    for (auto [tile, offset, size, destination] : llvm::zip(tiles, offsets, sizes, destinations)) {
      SmallVector<OpFoldResult> strides(offset.size(), b.getIndexAttr(1));
      results.push_back(tensor::InsertSliceOp::create(b, loc, tile, destination, offset, size, strides));
    }
    scf::YieldOp::create(b, loc, results);
    return success();
  };
  options.setCustomLoopGenerationFns(makeHeader, makeTerminator);
  return options;
}

/// Returns the loop over lines that yields all of a kernel's results; null if there is none (LineLoops.h).
static scf::ForOp findLineLoop(func::ReturnOp terminator) {
  auto first = terminator.getNumOperands() ? terminator.getOperand(0).getDefiningOp<scf::ForOp>() : scf::ForOp();
  bool givesAll = first && first->hasAttr(kTilesAttr) &&
                  llvm::all_of(terminator.getOperands(), [&](Value value) { return value.getDefiningOp() == first; });
  return givesAll ? first : scf::ForOp();
}

/// Tiles do not overlap in a destination, so a stage in the loop may write its slice to the loop-carried destination.
/// Stages that were cloned for each of their users then become identical, and CSE merges them.
static void nameDestinationsAlike(scf::ForOp loop) {
  for (auto [destination, carried] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    destination.replaceUsesWithIf(carried, [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
}

/// True if an index is at most `most` in every run.
static bool isAtMost(Value index, int64_t most) {
  FailureOr<int64_t> bound =
      ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {index},
                                                     /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= most;
}

/// Allocates memory that is local to a tile for a full tile; a tile that is truncated at the border uses a part of it.
/// `result` maps the tiled loops to dimensions of the result.
static LogicalResult boundIntermediates(scf::ForOp tiles, AffineMap result, ArrayRef<int64_t> sizes) {
  WalkResult walked = tiles.walk([&](tensor::EmptyOp empty) {
    RankedTensorType type = empty.getType();
    if (type.hasStaticShape() || type.getRank() != result.getNumResults())
      return WalkResult::advance();
    SmallVector<int64_t> whole(type.getShape());
    for (auto [i, extent] : llvm::enumerate(whole)) {
      if (!ShapedType::isDynamic(extent))
        continue;
      extent = sizes[result.getDimPosition(i)];
      // Elements beyond the extent would not belong to the tile.
      if (!isAtMost(empty.getDynamicSize(i), extent)) {
        emitUnsupported(empty, "needs an intermediate buffer of a dynamic extent, which no tile can hold");
        return WalkResult::interrupt();
      }
    }
    OpBuilder b(empty);
    Value memory = tensor::EmptyOp::create(b, empty.getLoc(), whole, type.getElementType());
    SmallVector<OpFoldResult> zeros(whole.size(), b.getIndexAttr(0)), ones(whole.size(), b.getIndexAttr(1));
    Value part = tensor::ExtractSliceOp::create(b, empty.getLoc(), type, memory, zeros, empty.getMixedSizes(), ones);
    empty.replaceAllUsesWith(part);
    empty.erase();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Returns the region of the kernel, under which times of its schedules are recorded, and removes the attribute.
static KernelRegion takeRegion(func::FuncOp kernel) {
  KernelRegion region;
  if (auto module = kernel->getParentOfType<ModuleOp>())
    region.target = module.getName().value_or("").str();
  if (auto text = dyn_cast_or_null<StringAttr>(kernel->removeAttr(kKernelRegionAttr)))
    region.text = text.getValue().str();
  return region;
}

static LogicalResult tileKernel(func::FuncOp kernel, int64_t tileElements, const TilePolicy &policy,
                                ScheduleChooser *chooser) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  Type index = IndexType::get(context);
  unsigned numArguments = kernel.getNumArguments();
  if (failed(kernel.insertArguments({numArguments, numArguments}, {index, index},
                                    {DictionaryAttr::get(context), DictionaryAttr::get(context)}, {loc, loc})))
    return failure();
  Value begin = kernel.getArgument(numArguments), end = kernel.getArgument(numArguments + 1);

  Dims count{getDimConstant(context, 1)};
  KernelRegion region = takeRegion(kernel);
  auto terminator = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  auto returned = terminator.getNumOperands() == 1 ? dyn_cast<OpResult>(terminator.getOperand(0)) : OpResult();
  auto root = returned ? dyn_cast<TilingInterface>(returned.getOwner()) : TilingInterface();
  if (root) {
    Dims dims;
    for (unsigned i = 0; i < numArguments; ++i)
      if (kernel.getArgAttr(i, kOutputAttr))
        dims = Dims(kernel.getArgAttrOfType<ShapeAttr>(i, kDimsAttr).getDims());
    // A zero extent means that nothing is computed, whatever the other extents are.
    bool isEmpty = llvm::any_of(dims, [](AffineExpr dim) { return getConstant(dim) == 0; });
    kernel::WinogradOp winograd = findWinograd(root);
    linalg::LinalgOp stage = getStage(root.getOperation());
    AffineMap resultMap = stage ? stage.getMatchingIndexingMap(stage.getDpsInitOperand(0)) : AffineMap();
    Operation *link = findLink(kernel);
    SizeHints hints(kernel);
    Tiling tiling = winograd ? getWinogradTiling(winograd, root, dims)
                    : link   ? getChainTiling(stage, link, dims, policy)
                             : TilingChoice(stage, returned.getResultNumber(), dims, hints, tileElements, policy)
                                   .choose(region, kernel.getName(), chooser);
    setScratch(kernel);
    if (isEmpty)
      count[0] = getDimConstant(context, 0);
    else if (!(stage && reducesNothing(stage)) && llvm::any_of(tiling.sizes, [](int64_t size) { return size != 0; })) {
      count[0] = tiling.count;
      IRRewriter rewriter(context);
      rewriter.setInsertionPoint(root);
      scf::SCFTileAndFuseOptions options;
      options.setTilingOptions(getTilingOptions(tiling, begin, end));
      FailureOr<scf::SCFTileAndFuseResult> tiled = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, root, options);
      if (failed(tiled))
        return kernel.emitError("cannot be tiled");
      for (auto [old, replacement] : tiled->replacements)
        rewriter.replaceAllUsesWith(old, replacement);
      auto loop = cast<scf::ForOp>(tiled->loops.front());
      if (link && failed(computeLinkInTiles(rewriter, loop, link)))
        return kernel.emitError("has two loop nests that cannot be computed by the same tiles");
      nameDestinationsAlike(loop);
      // A slice of uninitialized memory becomes memory of the slice's size.
      RewritePatternSet patterns(context);
      tensor::populateFoldTensorEmptyPatterns(patterns);
      if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
        return kernel.emitError("does not simplify after tiling");
      if (resultMap && failed(boundIntermediates(loop, resultMap, tiling.sizes)))
        return failure();
    }
  } else {
    setScratch(kernel);
  }
  if (scf::ForOp lines = findLineLoop(terminator)) {
    count[0] = cast<ShapeAttr>(lines->getAttr(kTilesAttr)).getDims().front();
    lines.setLowerBound(begin);
    lines.setUpperBound(end);
    lines->removeAttr(kTilesAttr);
  }
  kernel->setAttr(kTilesAttr, ShapeAttr::get(context, count));
  return success();
}

namespace {
struct TileKernels : public tenon::impl::TileKernelsBase<TileKernels> {
  using TileKernelsBase::TileKernelsBase;
  explicit TileKernels(std::shared_ptr<ScheduleChooser> chooser) : chooser(std::move(chooser)) {}
  void runOnOperation() override {
    const TilePolicy policy;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr) && failed(tileKernel(kernel, tileElements, policy, chooser.get())))
        return signalPassFailure();
  }

private:
  std::shared_ptr<ScheduleChooser> chooser; ///< null if the policies choose all schedules
};
} // namespace

std::unique_ptr<Pass> tenon::createTileKernels(std::shared_ptr<ScheduleChooser> chooser) {
  return std::make_unique<TileKernels>(std::move(chooser));
}
