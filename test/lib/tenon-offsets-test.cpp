//===- tenon-offsets-test.cpp - checks offsets at many sizes --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// usage: tenon-offsets-test FILE.onnx SAMPLES
//
// Makes a program of the model, and places its activations. What is lent to others (SuballocateIdleRanges) is looked at
// first: its bytes hold nothing else while it lives, and nothing across that. Lifetimes and sizes are those from
// before; offsets and the size of the arena are evaluated at random values of the symbols, and compared by the
// validator of passes/memory/placement. Prints how many samples were checked. An error is one line, and exit code 1.

#include "compiler/import/onnx/ImportOnnx.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/pipeline/Registration.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "passes/memory/Lifetimes.h"
#include "passes/memory/SuballocateIdleRanges.h"
#include "passes/memory/placement/Validate.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace mlir;
using namespace tenon;

/// More than this no memory holds.
static constexpr int64_t kMaxValue = int64_t(1) << 45;

namespace {

/// What was there before activations had places.
struct Before {
  std::vector<Activation> activations;
  SmallVector<Value> rooms; ///< the bytes of each
  /// For each allocation and each part of one, in the order in which they stand: its activation, and whether it is all
  /// of it.
  SmallVector<std::pair<size_t, bool>> buffers;
};

/// The index arithmetic of a program at one set of values.
class Values {
public:
  Values(plan::ProgramOp program, std::mt19937_64 &random);
  /// Nothing where instructions decide it, or where it is none.
  std::optional<int64_t> get(Value value);
  bool areAllowed();

private:
  std::optional<int64_t> compute(Operation *op);

  plan::ProgramOp program;
  llvm::DenseMap<Value, std::optional<int64_t>> known;
};

} // namespace

static Before lookBefore(plan::ProgramOp program) {
  Before before{computeLifetimes(program), {}, {}};
  llvm::DenseMap<Value, size_t> numbers;
  for (auto [i, activation] : llvm::enumerate(before.activations)) {
    numbers[activation.alloc.getBuffer()] = i;
    before.rooms.push_back(activation.getRoom());
  }
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<plan::AllocOp>(op))
      before.buffers.push_back({numbers[alloc.getBuffer()], true});
    else if (auto alias = dyn_cast<plan::AliasOp>(op); alias && numbers.contains(alias.getSource()))
      before.buffers.push_back({numbers[alias.getSource()], false});
  });
  return before;
}

Values::Values(plan::ProgramOp program, std::mt19937_64 &random) : program(program) {
  auto ranges = program->getAttrOfType<DictionaryAttr>("ranges");
  for (auto [symbol, name] :
       llvm::zip(program.getBody().getArguments(), program.getSymbols().getAsRange<StringAttr>())) {
    const int64_t ends[] = {3, 40, 5000};
    int64_t value = static_cast<int64_t>(random() % ends[random() % 3]);
    if (auto range = ranges ? ranges.getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr())
      value = std::clamp(value, range[0], range[1]);
    known[symbol] = value;
  }
  program.walk([&](Operation *op) {
    for (int64_t symbol : {isa<plan::BindOp>(op) ? int64_t(cast<plan::BindOp>(op).getSymbol()) : -1,
                           isa<plan::SetOp>(op) ? int64_t(cast<plan::SetOp>(op).getSymbol()) : -1})
      if (symbol >= 0)
        known[program.getBody().getArgument(symbol)] = std::nullopt;
  });
}

std::optional<int64_t> Values::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<int64_t> result = compute(value.getDefiningOp());
  if (result && std::abs(*result) > kMaxValue)
    result = std::nullopt;
  return known[value] = result;
}

std::optional<int64_t> Values::compute(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value();
  std::optional<int64_t> a = get(op->getOperand(0)), b = get(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *a + *b;
  if (isa<arith::MulIOp>(op))
    return *b == 0 || std::abs(*a) <= kMaxValue / std::abs(*b) ? std::optional(*a * *b) : std::nullopt;
  if (isa<arith::SubIOp>(op))
    return *a - *b;
  if (isa<arith::MaxSIOp>(op))
    return std::max(*a, *b);
  if (isa<arith::MinSIOp>(op))
    return std::min(*a, *b);
  if (*b <= 0)
    return std::nullopt;
  if (isa<arith::FloorDivSIOp>(op))
    return llvm::divideFloorSigned(*a, *b);
  if (isa<arith::CeilDivSIOp>(op))
    return llvm::divideCeilSigned(*a, *b);
  return isa<arith::RemSIOp>(op) ? std::optional(llvm::mod(*a, *b)) : std::nullopt;
}

/// Whether the program runs with these sizes at all.
bool Values::areAllowed() {
  bool result = true;
  program.walk([&](plan::RequireOp require) { result &= get(require.getValue()).value_or(-1) >= 0; });
  return result;
}

/// The bytes of an element of an activation, which are a factor of its size; 1 where they are not written so.
static int64_t getElementBytes(Value size) {
  constexpr int64_t kMaxOfElement = 8;
  if (auto constant = size.getDefiningOp<arith::ConstantIndexOp>())
    return constant.value() ? std::min(constant.value() & -constant.value(), kMaxOfElement) : 1;
  auto product = size.getDefiningOp<arith::MulIOp>();
  return product ? std::min(getElementBytes(product.getLhs()) * getElementBytes(product.getRhs()), kMaxOfElement) : 1;
}

/// What kernels rely on: of small activations the size of an element, of others a cache line.
static int64_t getAlignment(int64_t size, int64_t elementBytes) { return size < 4096 ? elementBytes : 64; }

/// What is wrong at one set of values; empty where nothing is.
static std::string check(plan::ProgramOp program, const Before &before, Values &values) {
  placement::Instance instance;
  placement::Placement placement;
  SmallVector<plan::ViewOp> wholes(before.activations.size());
  auto next = before.buffers.begin();
  std::string fault;
  program.walk([&](plan::ArenaOp arena) { placement.peak = values.get(arena.getSize()).value_or(-1); });
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<plan::ViewOp, plan::HeapOp>(op))
      return;
    auto [number, isWhole] = *next++;
    auto view = dyn_cast<plan::ViewOp>(op);
    if (!view)
      return;
    if (isWhole) {
      const Activation &activation = before.activations[number];
      std::optional<int64_t> offset = values.get(view.getOffset()), size = values.get(before.rooms[number]);
      if (!offset || !size)
        fault = "an offset or a size that is not known before the run";
      wholes[number] = view;
      int64_t bytes = size.value_or(0), alignment = getAlignment(bytes, getElementBytes(before.rooms[number]));
      std::vector<LiveRange> ranges = activation.liveRanges;
      if (ranges.empty())
        ranges.push_back({activation.first, activation.last});
      if (offset.value_or(0) % alignment != 0 || offset.value_or(0) + bytes > placement.peak)
        fault = "an activation that lies at an odd place, or outside of the arena";
      for (const LiveRange &range : ranges) {
        instance.push_back({range.first, range.last + 1, std::min(range.end, bytes) - range.begin});
        placement.offsets.push_back(offset.value_or(0) + range.begin);
      }
      return;
    }
    std::optional<int64_t> offset = values.get(view.getOffset()), size = values.get(view.getSize());
    int64_t start = values.get(wholes[number].getOffset()).value_or(0),
            room = values.get(before.rooms[number]).value_or(0);
    bool isIn = view.getRoom() ? values.get(view.getStart()) == start && values.get(view.getRoom()) == room
                               : offset && size && *offset >= start && *offset + *size <= start + room;
    if (!isIn)
      fault = "a part of an activation that lies outside of it";
  });
  if (fault.empty() && next != before.buffers.end())
    fault = "an activation that has no place";
  if (fault.empty() && placement::findPlacementFault(instance, placement))
    fault = "two activations in one place, or one outside of the arena";
  return fault;
}

namespace {
/// The bytes of a use of an activation, and when that is.
struct Use {
  int64_t time, begin, end;
  Operation *holder; ///< what has the bytes: a lent part, or the activation itself
};
} // namespace

static void collectUses(Value buffer, int64_t begin, int64_t end, Operation *holder, std::vector<Use> &uses) {
  auto getNumber = [](Value value) { return value.getDefiningOp<arith::ConstantIndexOp>(); };
  for (Operation *user : buffer.getUsers()) {
    auto alias = dyn_cast<plan::AliasOp>(user);
    if (!alias) {
      // Lent parts are of blocks without regions.
      uses.push_back({std::distance(user->getBlock()->begin(), Block::iterator(user)), begin, end, holder});
      continue;
    }
    auto offset = getNumber(alias.getOffset()), size = getNumber(alias.getSize());
    int64_t first = offset ? begin + offset.value() : begin, last = offset && size ? first + size.value() : end;
    collectUses(alias.getBuffer(), first, last, alias.getName() ? alias : holder, uses);
  }
}

/// What is wrong with what activations have lent to others; empty where nothing is.
static std::string checkLent(plan::ProgramOp program) {
  std::string fault;
  program.walk([&](plan::AliasOp guest) {
    auto host = guest.getSource().getDefiningOp<plan::AllocOp>();
    if (!guest.getName() || !host)
      return;
    std::vector<Use> uses;
    collectUses(host.getBuffer(), 0, kMaxValue, host, uses);
    int64_t first = kMaxValue, last = -1, begin = 0, end = 0;
    for (const Use &use : uses)
      if (use.holder == guest) {
        first = std::min(first, use.time);
        last = std::max(last, use.time);
        std::tie(begin, end) = std::pair(use.begin, use.end);
      }
    llvm::DenseSet<Operation *> before, after;
    for (const Use &use : uses) {
      if (use.holder == guest || use.end <= begin || end <= use.begin)
        continue;
      if (use.time >= first && use.time <= last)
        fault = "a lent part that is used meanwhile";
      (use.time < first ? before : after).insert(use.holder);
    }
    // What others left there before and need no more may be written over.
    if (llvm::any_of(before, [&](Operation *holder) { return after.contains(holder); }))
      fault = "a lent part that holds something";
  });
  return fault;
}

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

int main(int argc, char **argv) {
  int64_t samples = 0;
  if (argc != 3 || StringRef(argv[2]).getAsInteger(10, samples))
    return fail("usage: tenon-offsets-test FILE.onnx SAMPLES");
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ImportedModel imported = importOnnxFile(argv[1], {}, &context);
  if (!imported)
    return 1;
  PassManager pm(&context), place(&context);
  buildSharedPipeline(pm, /*evaluate=*/nullptr);
  buildLaunchPipeline(pm);
  buildProgramPipeline(pm);
  if (failed(pm.run(*imported.module)))
    return 1;
  plan::ProgramOp program = *imported.module->getOps<plan::ProgramOp>().begin();
  suballocateIdleRanges(program);
  if (std::string fault = checkLent(program); !fault.empty())
    return fail(llvm::Twine(argv[1]) + ": there is " + fault);
  Before before = lookBefore(program);
  buildPlacePipeline(place);
  if (failed(place.run(*imported.module)))
    return 1;
  std::mt19937_64 random(samples);
  int64_t checked = 0;
  // Many sizes may be ones that the program refuses.
  for (int64_t tried = 0; checked < samples && tried < 100 * samples; ++tried) {
    Values values(program, random);
    if (!values.areAllowed())
      continue;
    if (std::string fault = check(program, before, values); !fault.empty())
      return fail(llvm::Twine(argv[1]) + ": there is " + fault + ", sample " + llvm::Twine(tried));
    ++checked;
  }
  llvm::outs() << checked << " samples, " << before.activations.size() << " activations\n";
  return 0;
}
