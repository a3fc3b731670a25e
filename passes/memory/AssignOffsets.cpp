//===- AssignOffsets.cpp - places in the arena for activations ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/cost/MemoryPolicy.h"
#include "passes/memory/Alignment.h"
#include "passes/memory/BoundedSizes.h"
#include "passes/memory/ConcurrentGroups.h"
#include "passes/memory/Lifetimes.h"
#include "passes/memory/SizeSamples.h"
#include "passes/memory/SuballocateIdleRanges.h"
#include "passes/memory/placement/FixedOffsetGroups.h"
#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/PlaceForSamples.h"
#include "passes/memory/placement/Validate.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "plan-assign-offsets"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Samples in which activations are larger than this are ignored; they say nothing about how activations share memory.
static constexpr int64_t kMaxSampleBytes = int64_t(1) << 45; // limit: sums of sizes stay in 64 bits

/// Returns for each symbol of the program whether it is data-dependent, that is, set by an instruction and not bound by
/// inputs.
static SmallVector<bool> findDataDependentSymbols(plan::ProgramOp program) {
  SmallVector<bool> dataDependent(program.getBody().getNumArguments());
  program.walk([&](Operation *op) {
    if (auto bind = dyn_cast<plan::BindOp>(op))
      dataDependent[bind.getSymbol()] = true;
    else if (auto set = dyn_cast<plan::SetOp>(op))
      dataDependent[set.getSymbol()] = true;
  });
  return dataDependent;
}

/// True if the sizes of all activations are static.
static bool haveConstantSizes(ArrayRef<Activation> activations) {
  return llvm::all_of(activations,
                      [](Activation activation) { return matchPattern(activation.getRoom(), m_Constant()); });
}

/// True if activations have offsets already, as in IR that is compiled further.
static bool isPlaced(plan::ProgramOp program) {
  return program.walk([](Operation *op) { return WalkResult(failure(isa<plan::ArenaOp, plan::HeapOp>(op))); })
      .wasInterrupted();
}

namespace {

/// The offsets of activations in the arena, and the end of the arena.
struct ArenaPlaces {
  SmallVector<Value> offsets;
  Value end;
};

/// What is in use when, and where it lies.
struct Layout {
  std::vector<Activation> inArena;           ///< in the arena
  std::vector<Activation> inBlocks;          ///< in blocks
  placement::PlaceResult constant = {};      ///< where sizes are known
  placement::SampledPlacement symbolic = {}; ///< where they are open
  double ratio = 1;                          ///< of the arena to what is live at one time
};

struct AssignOffsets : public tenon::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    program = getOperation();
    if (isPlaced(program)) {
      LDBG() << "does not change a program whose activations have offsets";
      return;
    }
    alignments = Alignment();
    isDataDependent.clear();
    suballocateIdleRanges(program);
    // Sub-allocated activations overlap others, which determines the dependences between launches.
    formConcurrentGroups(program);
    findLateValues();
    FailureOr<Layout> layout = findLayout();
    if (succeeded(layout) && layout->ratio > 1) {
      LDBG() << "the arena is " << layout->ratio << " times what is live at one time: tries without groups";
      layout = findLayoutWithoutGroups(std::move(*layout));
    }
    if (failed(layout))
      return signalPassFailure();
    LDBG() << "places " << layout->inArena.size() << " activations in the arena and " << layout->inBlocks.size()
           << " in blocks of their own, " << layout->ratio << " times what is live at one time";
    placeInBlocks(layout->inBlocks);
    placeInArena(*layout);
    // The memory of what is left has been settled.
    SmallVector<plan::ReserveOp> reserves;
    program.walk([&](plan::ReserveOp reserve) {
      if (!reserve.getBuffer().getDefiningOp<plan::HeapOp>())
        reserves.push_back(reserve);
    });
    for (plan::ReserveOp reserve : reserves)
      reserve.erase();
  }

private:
  /// Finds index arithmetic that depends on symbols which instructions bind.
  void findLateValues() {
    SmallVector<bool> symbols = findDataDependentSymbols(program);
    for (auto [argument, dataDependent] : llvm::zip(program.getBody().getArguments(), symbols))
      if (dataDependent)
        isDataDependent.insert(argument);
    program.walk([&](Operation *op) {
      if (isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::any_of(op->getOperands(), [&](Value operand) { return isDataDependent.contains(operand); }))
        isDataDependent.insert(op->getResult(0));
    });
  }

  FailureOr<Layout> findLayout() {
    Layout layout;
    for (Activation &activation : computeLifetimes(program))
      (isDataDependent.contains(activation.alloc.getSize()) ? layout.inBlocks : layout.inArena).push_back(activation);
    if (!layout.inBlocks.empty())
      moveBounded(program, layout.inBlocks, layout.inArena, policy);
    if (failed(haveConstantSizes(layout.inArena) ? findConstantPlaces(layout) : findSymbolicPlaces(layout)))
      return failure();
    return layout;
  }

  /// A layout with concurrent launches has the same peak of live bytes, but may be fragmented: then the layout without
  /// concurrency is used.
  FailureOr<Layout> findLayoutWithoutGroups(Layout grouped) {
    SmallVector<plan::LaunchOp> launches;
    program.walk([&](plan::LaunchOp launch) {
      if (launch.getBeside())
        launches.push_back(launch);
    });
    for (plan::LaunchOp launch : launches)
      launch.setBeside(false);
    FailureOr<Layout> single = findLayout();
    if (failed(single) || single->ratio < grouped.ratio)
      return single;
    for (plan::LaunchOp launch : launches)
      launch.setBeside(true);
    return grouped;
  }

  /// Replaces aliases by parts of what they are aliases of; `makePart` creates a part from an offset and a size.
  void replace(plan::AllocOp alloc, Value whole,
               llvm::function_ref<Value(OpBuilder &, Value offset, Value size)> makePart) {
    SmallVector<plan::AliasOp> aliases;
    for (Operation *user : alloc->getUsers())
      if (auto alias = dyn_cast<plan::AliasOp>(user))
        aliases.push_back(alias);
    for (plan::AliasOp alias : aliases) {
      OpBuilder b(alias);
      Value part = makePart(b, alias.getOffset(), alias.getSize());
      if (StringAttr name = alias.getNameAttr(); name && !name.empty())
        part.getDefiningOp()->setAttr("name", name);
      alias.replaceAllUsesWith(part);
      alias.erase();
    }
    alloc.replaceAllUsesWith(whole);
    alloc.erase();
  }

  /// Places activations of data-dependent size in heap blocks, which later activations may reuse.
  void placeInBlocks(ArrayRef<Activation> activations) {
    SmallVector<int64_t> busyUntil;
    SmallVector<Activation> order(activations);
    llvm::stable_sort(order, [](const Activation &a, const Activation &b) { return a.first < b.first; });
    Type type = plan::BufferType::get(&getContext());
    for (Activation &activation : order) {
      auto *free = llvm::find_if(busyUntil, [&](int64_t until) { return until < activation.first; });
      int64_t block = free - busyUntil.begin();
      if (free == busyUntil.end())
        busyUntil.push_back(0);
      busyUntil[block] = activation.last;
      plan::AllocOp alloc = activation.alloc;
      OpBuilder b(alloc);
      Location loc = alloc.getLoc();
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      auto makePart = [&](OpBuilder &at, Value offset, Value size) -> Value {
        return plan::HeapOp::create(at, loc, type, block, offset, size, alloc.getNameAttr());
      };
      Value whole = makePart(b, zero, alloc.getSize());
      plan::ReserveOp::create(b, loc, whole, alloc.getSize(), false,
                              alloc.getNameAttr() ? alloc.getNameAttr() : b.getStringAttr(""));
      replace(alloc, whole, makePart);
    }
  }

  /// Creates the view of the arena for an activation; if the extents are data-dependent, within the room of its
  /// activation, which begins at `start`.
  Value createView(OpBuilder &b, Value arena, Activation activation, Value start, Value offset, Value size) {
    plan::AllocOp alloc = activation.alloc;
    bool isSettled = !isDataDependent.contains(offset) && !isDataDependent.contains(size);
    Value room = isSettled ? Value() : activation.getRoom();
    return plan::ViewOp::create(b, alloc.getLoc(), arena.getType(), arena, offset, size, isSettled ? Value() : start,
                                room, alloc.getNameAttr());
  }

  void placeInArena(const Layout &layout) {
    ArrayRef<Activation> activations = layout.inArena;
    if (activations.empty())
      return;
    Block &body = program.getBody().front();
    OpBuilder b(program.getContext());
    Location loc = program.getLoc();

    // Sizes are arithmetic that must come before the arena, which comes before all of its users.
    Operation *anchor = hoistSizes(body);
    if (anchor)
      b.setInsertionPointAfter(anchor);
    else
      b.setInsertionPointToStart(&body);

    ArenaPlaces places = haveConstantSizes(activations) ? placeConstant(b, layout) : placeSymbolic(b, layout);
    numActivations += activations.size();

    Type type = plan::BufferType::get(program.getContext());
    Value arena = plan::ArenaOp::create(b, loc, type, places.end);
    for (auto [activation, offset] : llvm::zip(activations, places.offsets)) {
      plan::AllocOp alloc = activation.alloc;
      Value start = offset;
      auto makePart = [&](OpBuilder &at, Value partOffset, Value size) -> Value {
        Value sum = arith::AddIOp::create(at, alloc.getLoc(), start, partOffset);
        if (isDataDependent.contains(partOffset))
          isDataDependent.insert(sum);
        return createView(at, arena, activation, start, sum, size);
      };
      OpBuilder at(alloc);
      Value whole = createView(at, arena, activation, start, start, alloc.getSize());
      replace(alloc, whole, makePart);
    }
  }

  LogicalResult checkInstance(const placement::Instance &instance) {
    std::optional<placement::InstanceFault> fault = placement::findInstanceFault(instance);
    if (fault)
      emitUnsupported(program) << "activations cannot be placed: " << fault->text;
    return failure(fault.has_value());
  }

  LogicalResult findConstantPlaces(Layout &layout) {
    placement::Instance instance;
    for (Activation activation : layout.inArena)
      instance.push_back(
          makeBuffer(activation, cast<arith::ConstantIndexOp>(activation.getRoom().getDefiningOp()).value()));
    if (failed(checkInstance(instance)))
      return failure();
    layout.constant = placement::place(instance, placement::Budget(policy.placementSteps));
    assert(!placement::findPlacementFault(instance, layout.constant.placement) && "two activations in one place");
    if (int64_t least = placeLiveRanges(instance, layout))
      layout.ratio = static_cast<double>(layout.constant.placement.peak) / static_cast<double>(least);
    return success();
  }

  /// Sub-allocates activations in the idle ranges of others if that makes the arena smaller. `whole` has all
  /// activations. Returns the number of bytes that are live at one time.
  int64_t placeLiveRanges(const placement::Instance &whole, Layout &layout) {
    placement::Instance ranges;
    std::vector<placement::FixedOffsetGroup> groups;
    std::vector<std::pair<size_t, int64_t>> firstOf; // the first live range of each activation, and its first byte
    for (auto [activation, buffer] : llvm::zip(layout.inArena, whole)) {
      firstOf.push_back({ranges.size(), activation.liveRanges.empty() ? 0 : activation.liveRanges.front().begin});
      if (activation.liveRanges.empty()) {
        ranges.push_back(buffer);
        continue;
      }
      placement::FixedOffsetGroup &group = groups.emplace_back();
      group.alignment = buffer.alignment;
      for (const LiveRange &range : activation.liveRanges) {
        group.members.push_back(ranges.size());
        group.distances.push_back(range.begin);
        ranges.push_back({range.first, range.last + 1, std::min(range.end, buffer.size) - range.begin});
      }
    }
    placement::PlaceResult &result = layout.constant;
    if (groups.empty() || static_cast<int64_t>(ranges.size()) > policy.maxLiveRanges ||
        placement::findInstanceFault(ranges))
      return placement::getLowerBound(whole);
    int64_t least = result.lowerBound = placement::getLowerBound(ranges);
    if (least >= result.placement.peak)
      return least;
    placement::Placement grouped = placement::placeGroups(ranges, groups, placement::Budget(policy.placementSteps));
    assert(!placement::findPlacementFault(ranges, grouped) && "two activations in one place");
    placement::Placement placed{{}, grouped.peak};
    for (auto [i, buffer] : llvm::enumerate(whole)) {
      placed.offsets.push_back(buffer.takesPlace() ? grouped.offsets[firstOf[i].first] - firstOf[i].second : 0);
      // Bytes at the end may hold nothing at any time.
      placed.peak = std::max(placed.peak, placed.offsets.back() + buffer.size);
    }
    if (placed.peak < result.placement.peak)
      result.placement = std::move(placed);
    return least;
  }

  ArenaPlaces placeConstant(OpBuilder &b, const Layout &layout) {
    const placement::PlaceResult &placed = layout.constant;
    bytes += placed.placement.peak;
    lowerBoundBytes += placed.lowerBound;
    ArenaPlaces places;
    for (int64_t offset : placed.placement.offsets)
      places.offsets.push_back(arith::ConstantIndexOp::create(b, program.getLoc(), offset));
    places.end = arith::ConstantIndexOp::create(b, program.getLoc(), placed.placement.peak);
    return places;
  }

  /// Where the activation goes, if it has this size.
  placement::Buffer makeBuffer(Activation activation, int64_t size) {
    int64_t alignment = alignments.get(size, activation.getRoom());
    return {activation.first, activation.last + 1, placement::alignTo(size, alignment), alignment};
  }

  /// Evaluates the sizes of all activations for some values of the symbols.
  std::vector<placement::Instance> sampleSizes(ArrayRef<Activation> activations) {
    SizeSamples samples(program);
    std::vector<placement::Instance> instances;
    for (size_t sample = 0; sample < samples.count(); ++sample) {
      placement::Instance instance;
      for (Activation activation : activations) {
        std::optional<int64_t> size = samples.evaluate(activation.getRoom(), sample);
        if (!size || *size > kMaxSampleBytes)
          break;
        instance.push_back(makeBuffer(activation, std::max<int64_t>(*size, 0)));
      }
      if (instance.size() == activations.size() && !placement::findInstanceFault(instance))
        instances.push_back(std::move(instance));
    }
    // If all samples were too large, any other value will do, since the layout holds for all sizes.
    if (instances.empty()) {
      placement::Instance &instance = instances.emplace_back();
      for (Activation activation : activations)
        instance.push_back(makeBuffer(activation, 1));
    }
    return instances;
  }

  /// Decides the order of overlapping activations for sampled sizes; the order is valid for all sizes.
  LogicalResult findSymbolicPlaces(Layout &layout) {
    std::vector<placement::LiveRange> liveRanges;
    bool hasLiveRanges = false;
    for (auto [i, activation] : llvm::enumerate(layout.inArena)) {
      // Only activations of whole size have symbolic offsets: with sub-allocation, the sizes of the parts are dynamic.
      bool isCutInTime = !activation.liveRanges.empty() && activation.liveRanges.front().end == LiveRange::kAll;
      hasLiveRanges |= isCutInTime;
      if (!isCutInTime)
        liveRanges.push_back({static_cast<uint32_t>(i), activation.first, activation.last + 1});
      for (const LiveRange &range : activation.liveRanges)
        if (isCutInTime)
          liveRanges.push_back({static_cast<uint32_t>(i), range.first, range.last + 1});
    }
    if (!hasLiveRanges || static_cast<int64_t>(liveRanges.size()) > policy.maxLiveRanges)
      liveRanges.clear();
    layout.symbolic =
        placement::placeForSamples(sampleSizes(layout.inArena), placement::Budget(policy.placementSteps), liveRanges);
    layout.ratio = layout.symbolic.worstRatio;
    return success();
  }

  /// The offset of an activation is the largest end of those below it, rounded up.
  ArenaPlaces placeSymbolic(OpBuilder &b, const Layout &layout) {
    const placement::SampledPlacement &placed = layout.symbolic;
    ArrayRef<Activation> activations = layout.inArena;
    bytes += placed.peaks.front();
    lowerBoundBytes += placed.bounds.front();

    Location loc = program.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    llvm::DenseMap<Value, Value> roundedSizes;
    auto roundSize = [&](Value size) {
      Value &rounded = roundedSizes[size];
      if (!rounded)
        rounded = alignments.roundUp(b, loc, size, size);
      return rounded;
    };
    auto largest = [&](Value x, Value y) {
      return x == y || y == zero ? x : x == zero ? y : b.createOrFold<arith::MaxSIOp>(loc, x, y);
    };
    ArenaPlaces places{SmallVector<Value>(activations.size()), zero};
    SmallVector<Value> ends(activations.size());
    std::vector<bool> isCovered(activations.size());
    for (uint32_t i : placed.orientation.order) {
      Value end = zero, size = Activation(activations[i]).getRoom();
      bool isAligned = true;
      for (uint32_t below : placed.orientation.below[i]) {
        end = largest(end, ends[below]);
        isCovered[below] = true;
        isAligned &= Activation(activations[below]).getRoom() == size;
      }
      places.offsets[i] = isAligned ? end : alignments.roundUp(b, loc, end, size);
      ends[i] = b.createOrFold<arith::AddIOp>(loc, places.offsets[i], roundSize(size));
    }
    for (auto [end, covered] : llvm::zip(ends, isCovered))
      if (!covered)
        places.end = largest(places.end, end);
    return places;
  }

  /// Moves all index arithmetic to the start of the program; it depends on symbols only. Returns the last operation.
  Operation *hoistSizes(Block &body) {
    SmallVector<Operation *> arithmetic;
    for (Operation &op : body)
      if (isa<arith::ArithDialect>(op.getDialect()))
        arithmetic.push_back(&op);
    Operation *anchor = nullptr;
    for (Operation *op : arithmetic) {
      if (anchor)
        op->moveAfter(anchor);
      else
        op->moveBefore(&body, body.begin());
      anchor = op;
    }
    return anchor;
  }

  plan::ProgramOp program;
  Alignment alignments;
  llvm::DenseSet<Value> isDataDependent;
  MemoryPolicy policy;
};
} // namespace
