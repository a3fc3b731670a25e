//===- LoopTiling.cpp - tiles of loop nests ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Kernel.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/ContractionSchedule.h"
#include "passes/kernel/ScratchLayout.h"
#include "passes/kernel/Tiling.h"
#include "passes/kernel/TransposeTiles.h"
#include <numeric>

using namespace mlir;
using namespace tenon;

namespace {
/// The constraints that the stages before the last one put on its tiles.
struct Constraints {
  /// The loops of the last stage that every earlier stage has, too: tiling another loop would repeat a stage.
  SmallVector<bool> allowed;
  /// Tiles of each loop begin at multiples of this. Where an operand's index is a quotient of the loop, as that of a
  /// scale for a block of elements, a tile reads a slice of the operand only if it begins with a block.
  SmallVector<int64_t> steps;
  /// True if a tile needs memory of its own for the results of earlier stages. In-place stages need none.
  bool hasIntermediates = false;
};
} // namespace

/// A step that no tile can have: the loop stays whole.
static constexpr int64_t kWholeStep = int64_t(1) << 31; // limit: products of two steps fit 64 bits

/// Returns a step that both are divisors of, or kWholeStep.
static int64_t multiplySteps(int64_t x, int64_t y) {
  return std::min(std::min(x, kWholeStep) * std::min(y, kWholeStep), kWholeStep);
}

/// Returns the least step that both are divisors of, or kWholeStep.
static int64_t joinSteps(int64_t x, int64_t y) {
  return x == kWholeStep || y == kWholeStep ? kWholeStep : std::min(std::lcm(x, y), kWholeStep);
}

/// Returns the product of all divisors of quotients of a loop within an index.
static int64_t getDivisor(AffineExpr index, unsigned loop) {
  int64_t divisor = 1;
  index.walk([&](AffineExpr part) {
    auto quotient = dyn_cast<AffineBinaryOpExpr>(part);
    if (!quotient || part.getKind() != AffineExprKind::FloorDiv || !part.isFunctionOfDim(loop))
      return;
    if (auto constant = dyn_cast<AffineConstantExpr>(quotient.getRHS()); constant && constant.getValue() > 0)
      divisor = multiplySteps(divisor, constant.getValue());
  });
  return divisor;
}

/// Collects the steps of `op` and of the stages before it; `rootLoop` says which loop of the last stage runs over the
/// same dimension.
static void collectSteps(linalg::LinalgOp op, ArrayRef<std::optional<unsigned>> rootLoop, Constraints &constraints) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [loop, root] : llvm::enumerate(rootLoop))
      for (AffineExpr index : root ? map.getResults() : ArrayRef<AffineExpr>())
        constraints.steps[*root] = joinSteps(constraints.steps[*root], getDivisor(index, loop));
    linalg::LinalgOp producer = getStage(operand.get());
    if (!producer)
      continue;
    AffineMap own = producer.getIndexingMapMatchingResult(cast<OpResult>(operand.get()));
    SmallVector<std::optional<unsigned>> loops(producer.getNumLoops());
    for (auto [mine, theirs] : llvm::zip(map.getResults(), own.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(mine), ownDim = dyn_cast<AffineDimExpr>(theirs); dim && ownDim)
        loops[ownDim.getPosition()] = rootLoop[dim.getPosition()];
    collectSteps(producer, loops, constraints);
  }
}

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

/// True if the body branches by where it is along a loop, as that of a concatenation does. Loops from 0 on are split
/// where the branches change (SplitLoops.cpp).
static bool branchesAlong(linalg::LinalgOp op, unsigned loop) {
  auto isPlace = [&](Value value) {
    if (auto add = value.getDefiningOp<arith::AddIOp>(); add && getConstantIntValue(add.getRhs()))
      value = add.getLhs();
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == loop;
  };
  auto branches = [&](scf::IfOp branch) {
    auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
    return compare && isPlace(compare.getLhs()) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return op.getBlock()->walk(branches).wasInterrupted();
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
class LoopTiling {
public:
  LoopTiling(linalg::LinalgOp root, unsigned result, ArrayRef<AffineExpr> dims, const SizeHints &hints,
             int64_t tileElements, const TilePolicy &policy);
  Tiling choose(const ScheduleChoice &choice);

private:
  SmallVector<int64_t> choosePolicyTile();
  Tiling makeTiling(ArrayRef<int64_t> fixed);
  ScheduleDraft chooseDraft(const ScheduleDraft &own, const ScheduleChoice &choice);
  int64_t chooseElements(const ScheduleChoice &choice);
  kernel::ScheduleAttr finish(const ScheduleDraft &draft);
  bool hasRowsOfParts() const;
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
  int64_t target; ///< elements of a tile, of kernels without a contraction
};
} // namespace

LoopTiling::LoopTiling(linalg::LinalgOp root, unsigned result, ArrayRef<AffineExpr> dims, const SizeHints &hints,
                       int64_t tileElements, const TilePolicy &policy)
    : root(root), result(result), dims(dims), hints(hints), policy(policy),
      map(root.getMatchingIndexingMap(root.getDpsInitOperand(result))),
      constraints{SmallVector<bool>(root.getNumLoops(), true), SmallVector<int64_t>(root.getNumLoops(), 1)},
      contraction(findContraction(root, dims, hints, policy)) {
  SmallVector<std::optional<unsigned>> loops;
  for (unsigned loop = 0; loop < root.getNumLoops(); ++loop)
    loops.push_back(loop);
  collectConstraints(root, loops, constraints);
  collectSteps(root, loops, constraints);
  isExact = (constraints.hasIntermediates && !contraction) || root->getNumResults() > 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t step = constraints.steps[getLoop(i)];
    if (step == kWholeStep || (isExact && step > 1 && !getConstant(dims[i])))
      constraints.allowed[getLoop(i)] = false;
  }
  if (!contraction)
    keepRemaindersWhole(root, constraints);
  if (!contraction && hasRowsOfParts())
    constraints.allowed[getLoop(dims.size() - 1)] = false;
  // The columns of a contraction are the last dimension of its result.
  if (!contraction && !dims.empty() && readsPanels(root))
    constraints.allowed[getLoop(dims.size() - 1)] = false;
  // A tile of n elements costs n * reduction, so long reductions get small tiles: every thread should have work.
  int64_t elements = getElementsAsCostly(root, getElementsOfReduction(root, tileElements, policy), policy);
  target = std::max<int64_t>(1, elements);
}

/// True if rows, the last dimension of the result, are of parts that the body tells apart, and there are enough of them
/// for all threads: a tile that begins in the middle of a row would test each element.
bool LoopTiling::hasRowsOfParts() const {
  Extent row = dims.empty() ? Extent() : getConstant(dims.back());
  if (!row || *row > policy.maxWholeRow || !branchesAlong(root, getLoop(dims.size() - 1)))
    return false;
  int64_t rows = 1;
  for (AffineExpr dim : dims.drop_back())
    rows *= hints.get(dim).value_or(policy.dynamicExtent);
  return rows >= policy.fewTiles;
}

/// Returns the tile that the policies choose for contractions and transposes; empty for other kernels.
SmallVector<int64_t> LoopTiling::choosePolicyTile() {
  if (isExact)
    return {};
  if (contraction)
    return chooseContractionTile(findContractionOp(root), *contraction, policy);
  std::optional<TransposedDims> transposed = findTransposedDims(root, map, dims);
  if (!transposed)
    return {};
  return chooseTransposedTile(llvm::map_to_vector(dims, [&](AffineExpr dim) { return hints.get(dim); }), *transposed,
                              target, getElementBits(root->getResult(result)));
}

/// Makes tiles of `fixed` elements in each dimension, if that is not empty, as far as the constraints allow.
Tiling LoopTiling::makeTiling(ArrayRef<int64_t> fixed) {
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
    // Panels and blocks are never cut.
    int64_t step = constraints.steps[loop];
    if (contraction && i == contraction->column)
      step = joinSteps(step, contraction->panel);
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

kernel::ScheduleAttr LoopTiling::finish(const ScheduleDraft &draft) {
  return makeSchedule(findContractionOp(root), isExact ? nullptr : &*contraction, dims,
                      getMaxTile(map, dims, makeTiling(draft.tile).sizes), policy, draft);
}

ScheduleDraft LoopTiling::chooseDraft(const ScheduleDraft &own, const ScheduleChoice &choice) {
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
  size_t chosen = choice.choose(list);
  return chosen == 0 ? own : list[chosen].draft;
}

/// Returns how many elements a tile of a kernel without a contraction has: as many as the policies say, or more or
/// fewer.
int64_t LoopTiling::chooseElements(const ScheduleChoice &choice) {
  const SchedulePolicy schedules;
  const int64_t own = target;
  std::vector<int64_t> counts{own};
  for (int64_t factor : schedules.tileFactors) {
    counts.push_back(own > std::numeric_limits<int64_t>::max() / factor ? own : own * factor);
    counts.push_back(llvm::divideCeil(own, factor));
  }
  std::vector<ScheduleAlternative> list;
  std::vector<int64_t> listed; // elements, of each alternative
  for (int64_t count : counts) {
    target = count;
    ScheduleDraft draft;
    draft.tile = getMaxTile(map, dims, makeTiling(choosePolicyTile()).sizes);
    kernel::ScheduleAttr schedule = makeTileSchedule(root.getContext(), draft.tile);
    if (llvm::any_of(list, [&](const ScheduleAlternative &other) { return other.schedule == schedule; }))
      continue;
    bool isOwn = list.empty();
    list.push_back(
        {std::move(draft), schedule, isOwn ? 1 : schedules.elementsCost, isOwn ? "policy" : "tile elements", {}});
    listed.push_back(count);
  }
  return listed[choice.choose(list)];
}

Tiling LoopTiling::choose(const ScheduleChoice &choice) {
  if (!contraction && choice.isOpen())
    target = chooseElements(choice);
  ScheduleDraft draft;
  draft.tile = choosePolicyTile();
  if (contraction && !isExact && choice.isOpen())
    draft = chooseDraft(draft, choice);
  Tiling tiling = makeTiling(draft.tile);
  if (!contraction)
    return tiling;
  findContractionOp(root).setScheduleAttr(finish(draft));
  if (unsigned loop = getLoop(contraction->column); draft.columnsSlowest && tiling.sizes[loop] != 0)
    tiling.slowest = loop;
  return tiling;
}

Tiling tenon::chooseLoopTiling(linalg::LinalgOp root, unsigned result, ArrayRef<AffineExpr> dims,
                               const SizeHints &hints, int64_t tileElements, const TilePolicy &policy,
                               const ScheduleChoice &choice) {
  return LoopTiling(root, result, dims, hints, tileElements, policy).choose(choice);
}
