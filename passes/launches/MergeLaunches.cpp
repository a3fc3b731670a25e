//===- MergeLaunches.cpp - several kernels in one launch ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a sequence of small and large launches. Small ones are not split over threads, so that before each
// sequence of them, and after it, all threads but one wait. If nothing else reads their results, each thread computes
// them for itself at the beginning of the large launches that follow. Where that cannot be, they become one launch.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/cost/FusionCost.h"
#include "passes/cost/LaunchPolicy.h"
#include "passes/launches/MergedLaunch.h"
#include "passes/launches/TileAccess.h"
#include "passes/memory/Parts.h"
#include "passes/memory/SizeSamples.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathPins.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "plan-merge-launches"

namespace tenon {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using kernel::PartMode;

//===----------------------------------------------------------------------===//
// What launches depend on
//===----------------------------------------------------------------------===//

static bool overlapAny(Value buffer, ValueRange others) {
  Part part = getPart(buffer);
  return llvm::any_of(others, [&](Value other) {
    Part otherPart = getPart(other);
    return part.whole == otherPart.whole && overlap(part, otherPart);
  });
}

static bool overlapAny(ValueRange buffers, ValueRange others) {
  return llvm::any_of(buffers, [&](Value buffer) { return overlapAny(buffer, others); });
}

/// True if the launches may run in any order.
static bool areIndependent(plan::LaunchOp a, plan::LaunchOp b) {
  return !overlapAny(a.getOutputs(), b.getInputs()) && !overlapAny(a.getOutputs(), b.getOutputs()) &&
         !overlapAny(a.getInputs(), b.getOutputs());
}

static bool areEqual(ValueRange a, ValueRange b) {
  return llvm::equal(a, b, [](Value x, Value y) {
    std::optional<int64_t> constant = getConstantIntValue(x);
    return x == y || (constant && constant == getConstantIntValue(y));
  });
}

namespace {
/// The launches of a program that follow each other.
class Sequence {
public:
  /// `isDefault`: launches are merged unless somebody rules it out, and not only where it is demanded.
  Sequence(mlir::SymbolTable &symbols, SizeSamples &sizes, const LaunchPolicy &policy, PathPins *pins, bool isDefault)
      : symbols(symbols), sizes(sizes), policy(policy), pins(pins), isDefault(isDefault),
        machine(getMachine(symbols.getOp())) {}

  /// Adds a launch, which is free to be merged if its kernel is a function of the module.
  void add(plan::LaunchOp launch);
  /// Merges what has been added; returns the number of launches that have become parts.
  unsigned merge();

private:
  struct Launch {
    plan::LaunchOp op;
    func::FuncOp kernel; ///< null for those of the library
    double cycles;       ///< of one thread, for the largest sizes

    PartMode mode = PartMode::tiles;
  };

  double estimateCycles(plan::LaunchOp launch, func::FuncOp kernel);
  std::optional<int64_t> evaluate(plan::LaunchOp launch, StringRef figure);
  bool isSmall(const Launch &launch) const { return launch.kernel && launch.cycles < policy.smallCycles; }
  bool isLarge(const Launch &launch) const {
    return launch.kernel && !isSmall(launch) && launch.cycles < policy.largeCycles;
  }
  bool runsAlong(const Launch &launch, const Launch &before) const;
  std::optional<PartMode> joins(size_t begin, size_t next) const;
  size_t findEnd(size_t begin);
  bool isPrivate(size_t index, size_t end) const;
  size_t findPrivate(size_t begin, size_t large, size_t end) const;
  bool isAllowed(size_t begin, size_t end) const;
  void emit(size_t begin, size_t end);

  mlir::SymbolTable &symbols;
  SizeSamples &sizes;
  const LaunchPolicy &policy;
  PathPins *pins; ///< may be null
  bool isDefault;
  Machine machine;
  SmallVector<Launch> launches;
  unsigned numMerged = 0;
};
} // namespace

std::optional<int64_t> Sequence::evaluate(plan::LaunchOp launch, StringRef figure) {
  auto amount = launch->getAttrOfType<AffineMapAttr>(figure);
  if (!amount)
    return std::nullopt;
  SmallVector<AffineExpr> constants;
  for (Value size : launch.getSizes()) {
    std::optional<int64_t> value = sizes.evaluate(size, 0);
    if (!value)
      return std::nullopt;
    constants.push_back(getAffineConstantExpr(*value, launch.getContext()));
  }
  AffineExpr expr = amount.getValue().getResult(0).replaceSymbols(constants);
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

/// Returns an upper bound where sizes or figures are not known.
double Sequence::estimateCycles(plan::LaunchOp launch, func::FuncOp kernel) {
  double unknown = 2 * policy.largeCycles, read = 0, written = 0;
  auto add = [&](ValueRange buffers, double &bytes) {
    for (Value buffer : buffers) {
      Value size =
          TypeSwitch<Operation *, Value>(buffer.getDefiningOp())
              .Case<plan::AllocOp, plan::AliasOp, plan::InputOp, plan::OutputOp>([](auto op) { return op.getSize(); })
              .Default([](Operation *) { return Value(); });
      std::optional<int64_t> value = size ? sizes.evaluate(size, 0) : std::nullopt;
      if (auto weight = buffer.getDefiningOp<plan::WeightOp>())
        if (Type element = weight.getValue().getElementType(); element.isIntOrFloat())
          value = weight.getValue().getShapedType().getNumElements() * element.getIntOrFloatBitWidth() / 8;
      bytes += value ? static_cast<double>(*value) : std::numeric_limits<double>::infinity();
    }
  };
  add(launch.getInputs(), read);
  add(launch.getOutputs(), written);
  std::optional<int64_t> moved = evaluate(launch, kBytesAttr), flops = evaluate(launch, kFlopsAttr);
  double bytes = moved ? static_cast<double>(*moved) : read + written;
  if (!(bytes < std::numeric_limits<double>::infinity()) || !(written < std::numeric_limits<double>::infinity()))
    return unknown;
  double vectors = written / static_cast<double>(machine.vectorBytes);
  double arithmetic = flops ? static_cast<double>(*flops) / (2 * machine.getMultiplyAdds(4)) : 0;
  return std::max(getMoveCycles(bytes, machine), arithmetic) + vectors * policy.vectorCycles;
}

void Sequence::add(plan::LaunchOp launch) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (kernel && !kernel->hasAttr(kTilesAttr))
    kernel = {};
  launches.push_back({launch, kernel, estimateCycles(launch, kernel)});
  LDBG() << launch.getName() << " takes about " << launches.back().cycles << " cycles of a thread";
}

/// True if `launch` can be computed tile by tile along with the launch before it.
bool Sequence::runsAlong(const Launch &launch, const Launch &before) const {
  plan::LaunchOp a = before.op, b = launch.op;
  if (!areEqual(ValueRange(a.getTiles()), ValueRange(b.getTiles())) || !areEqual(a.getSizes(), b.getSizes()) ||
      before.kernel->getAttr(kSymbolsAttr) != launch.kernel->getAttr(kSymbolsAttr) ||
      overlapAny(b.getOutputs(), a.getInputs()) || overlapAny(b.getOutputs(), a.getOutputs()))
    return false;
  for (auto [i, written] : llvm::enumerate(a.getOutputs()))
    for (auto [j, read] : llvm::enumerate(b.getInputs())) {
      if (!overlapAny(written, read))
        continue;
      if (written != read || !readsOwnTile(before.kernel, findArgument(before.kernel, i, /*isOutput=*/true),
                                           launch.kernel, findArgument(launch.kernel, j, /*isOutput=*/false)))
        return false;
    }
  return true;
}

/// Returns how launch `next` joins large launches from `begin` on, if it can.
std::optional<PartMode> Sequence::joins(size_t begin, size_t next) const {
  const Launch &launch = launches[next];
  // The launches before that it depends on.
  size_t first = next;
  for (size_t i = next; i-- > begin;)
    if (!areIndependent(launches[i].op, launch.op))
      first = i;
  if (first == next)
    return PartMode::tiles;
  // It follows the launch that it depends on directly.
  if (first + 1 == next && runsAlong(launch, launches[first]))
    return PartMode::along;
  return std::nullopt;
}

/// Finds the end of the large launches from `begin` on that may become one.
size_t Sequence::findEnd(size_t begin) {
  size_t end = begin;
  for (; end < launches.size() && isLarge(launches[end]); ++end) {
    std::optional<PartMode> mode = joins(begin, end);
    if (!mode)
      break;
    launches[end].mode = *mode;
  }
  return end;
}

/// True if nothing but the launches behind a small one, before `end`, reads its results, and if none of these changes
/// what it reads: a thread may begin with the merged launch when others have nearly finished it.
bool Sequence::isPrivate(size_t index, size_t end) const {
  plan::LaunchOp launch = launches[index].op;
  SmallVector<plan::LaunchOp> others;
  for (size_t i = index + 1; i < end; ++i)
    others.push_back(launches[i].op);
  auto isInside = [&](Operation *user) { return user == launch || llvm::is_contained(others, user); };
  for (Value output : launch.getOutputs()) {
    auto alloc = output.getDefiningOp<plan::AllocOp>();
    std::optional<int64_t> bytes = alloc ? getConstantIntValue(alloc.getSize()) : std::nullopt;
    if (!bytes || *bytes <= 0 || *bytes > policy.slotBytes || overlapAny(output, launch.getInputs()) ||
        !llvm::all_of(output.getUsers(), isInside))
      return false;
  }
  return llvm::none_of(others, [&](plan::LaunchOp other) {
    return overlapAny(launch.getInputs(), other.getOutputs()) || overlapAny(launch.getOutputs(), other.getOutputs());
  });
}

/// Returns the first of the small launches [begin, large) from which on all are private to launches before `end`.
size_t Sequence::findPrivate(size_t begin, size_t large, size_t end) const {
  size_t first = large;
  int64_t bytes = 0;
  while (first > begin && isPrivate(first - 1, end)) {
    for (plan::LaunchOp launch = launches[first - 1].op; Value output : launch.getOutputs())
      bytes += *getConstantIntValue(output.getDefiningOp<plan::AllocOp>().getSize());
    if (bytes > policy.slotBytes)
      break;
    --first;
  }
  return first;
}

/// True if launches [begin, end) may become one.
bool Sequence::isAllowed(size_t begin, size_t end) const {
  PinnedOperation operation;
  for (size_t i = begin; i < end; ++i) {
    plan::LaunchOp launch = launches[i].op;
    SmallVector<StringRef> names;
    launch.getNameAttr().getValue().split(names, kNameSeparator);
    llvm::append_range(operation.nodes, names);
  }
  if (!pins)
    return isDefault;
  std::vector<bool> kept = pins->filter(operation, {kSeparateLaunchesForm, kMergedLaunchesForm});
  return kept.back() && (isDefault || !kept.front());
}

/// Makes one launch of [begin, end), if that is allowed.
void Sequence::emit(size_t begin, size_t end) {
  if (!isAllowed(begin, end))
    return;
  MergedLaunch merged(symbols);
  for (size_t i = begin; i < end; ++i) {
    LDBG() << "  " << launches[i].op.getName() << ": " << stringifyPartMode(launches[i].mode);
    merged.add(launches[i].op, launches[i].kernel, launches[i].mode, launches[i].cycles);
  }
  merged.create();
  numMerged += end - begin;
}

unsigned Sequence::merge() {
  bool isAfterLarge = false;
  for (size_t next = 0; next < launches.size();) {
    size_t begin = next;
    while (next < launches.size() && isSmall(launches[next]))
      launches[next++].mode = PartMode::whole;
    size_t large = next, end = next = findEnd(large);
    if (end == begin) {
      // Neither small nor one that can be merged.
      ++next;
      isAfterLarge = true;
      continue;
    }
    size_t first = findPrivate(begin, large, end);
    // Where small launches are left, those behind them are computed for each thread only if that merges large ones.
    if (first > begin && end - large < 2)
      first = large;
    bool hasAlong = llvm::any_of(ArrayRef(launches).slice(large, end - large),
                                 [](const Launch &launch) { return launch.mode == PartMode::along; });
    // Independent launches alone have no barrier in between.
    if ((first < large || hasAlong) && end - first > 1 && end > large)
      emit(first, end);
    bool isBetweenLarge = end > large || next < launches.size();
    if (first - begin > 1 && isBetweenLarge && (isAfterLarge || end > large))
      emit(begin, first);
    isAfterLarge |= end > large;
  }
  launches.clear();
  return std::exchange(numMerged, 0);
}

namespace {
struct MergeLaunches : public tenon::impl::MergeLaunchesBase<MergeLaunches> {
  using MergeLaunchesBase::MergeLaunchesBase;
  explicit MergeLaunches(std::shared_ptr<PathPins> pins) : pins(std::move(pins)) {}

  LogicalResult initialize(MLIRContext *context) override {
    if (pins)
      return success();
    llvm::Expected<std::shared_ptr<PathPins>> parsed = parsePins(llvm::to_vector(force), llvm::to_vector(exclude));
    if (!parsed)
      return emitError(UnknownLoc::get(context), llvm::toString(parsed.takeError()));
    pins = std::move(*parsed);
    return success();
  }

  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      SizeSamples sizes = SizeSamples::getLargest(program);
      // A model with states is run step by step, with few rows: there the time between launches counts.
      bool hasStates = !program.getOps<plan::StateOp>().empty();
      Sequence sequence(symbols, sizes, policy, pins.get(), hasStates);
      program.walk([&](Block *block) { mergeIn(*block, sequence); });
    }
  }

private:
  void mergeIn(Block &block, Sequence &sequence) {
    // Merging erases launches.
    SmallVector<Operation *> operations(llvm::make_pointer_range(block));
    for (Operation *op : operations)
      if (auto launch = dyn_cast<plan::LaunchOp>(op))
        sequence.add(launch);
      else if (!isPure(op) && !isa<plan::AllocOp>(op))
        numMerged += sequence.merge();
    numMerged += sequence.merge();
  }

  std::shared_ptr<PathPins> pins;
  LaunchPolicy policy;
};
} // namespace

std::unique_ptr<Pass> tenon::createMergeLaunches(std::shared_ptr<PathPins> pins) {
  return std::make_unique<MergeLaunches>(std::move(pins));
}
