//===- ControlBuilder.cpp - makes branches and loops ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ControlBuilder.h"
#include "compiler/graph/Regions.h"
#include "compiler/import/onnx/Importer.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// The body of a branch or a loop while a node's operations are created in it.
class NodeBody {
public:
  explicit NodeBody(Node &n) : body(n.importer.getBuilder(), n.getLoc()) { visit.emplace(n.importer); }

  Block &getBlock() { return body.getBlock(); }
  BodyBuilder &getBody() { return body; }
  /// Terminates the body with the yielded values, and restores the insertion point.
  void finish(ArrayRef<Value> yielded) {
    body.finish(yielded);
    visit.reset();
  }

private:
  BodyBuilder body;
  std::optional<Importer::RegionVisit> visit;
};

/// Carried values: their types inside the loop, in which changing extents are symbols.
class Carried {
public:
  Carried(Node &n, ArrayRef<Value> inits) : n(n) {
    for (Value init : inits)
      dims.push_back(n.dims(init));
    types.assign(inits.begin(), inits.end());
  }

  RankedTensorType getType(size_t i) const { return getTensorType(dims[i], n.elementType(types[i])); }

  /// Makes a symbol of each extent in which `next` differs from the assumption. Returns true if there was one; none,
  /// after an error, if element types or ranks differ.
  std::optional<bool> generalize(ArrayRef<Value> next) {
    bool changed = false;
    for (auto [i, value] : llvm::enumerate(next)) {
      if (n.elementType(value) != n.elementType(types[i]) || n.rank(value) != static_cast<int64_t>(dims[i].size())) {
        (void)n.unsupported("carries a value that changes its element type or rank, from " + dimsToString(dims[i]) +
                            " to " + dimsToString(n.dims(value)));
        return std::nullopt;
      }
      for (auto [dim, other] : llvm::zip(dims[i], n.dims(value)))
        if (dim != other && !isOwn(dim)) {
          dim = makeSymbol();
          changed = true;
        }
    }
    return changed;
  }

  /// Makes symbols of all extents. Returns false if they were symbols already.
  bool generalizeAll() {
    bool changed = false;
    for (Dims &list : dims)
      for (AffineExpr &dim : list)
        if (!isOwn(dim)) {
          dim = makeSymbol();
          changed = true;
        }
    return changed;
  }

  AffineExpr makeSymbol() {
    names.push_back(n.importer.makeDataSymbol(n.getProto().output_size() ? n.getProto().output(0) : n.getOpType()));
    return getDimSymbol(n.getContext(), names.back());
  }

  SmallVector<std::string> names;

private:
  bool isOwn(AffineExpr dim) const {
    return llvm::any_of(names, [&](const std::string &name) { return getDimSymbol(n.getContext(), name) == dim; });
  }

  Node &n;
  SmallVector<Dims> dims;
  SmallVector<Value> types;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Adds the collected results to a loop's body, as arguments to which each iteration appends. Returns their initial
/// shapes.
static SmallVector<Dims> addCollected(Node &n, Carried &carried, Block &block, LoopBody &made) {
  SmallVector<Dims> initial;
  if (made.collected.empty())
    return initial;
  OpBuilder &builder = n.importer.getBuilder();
  AffineExpr count = carried.makeSymbol();
  for (Value slice : made.collected) {
    Dims none = n.dims(slice);
    none.insert(none.begin(), n.constantDim(0));
    Dims before = none, after = none;
    before[0] = count;
    after[0] = addDims(count, n.constantDim(1));
    Type type = n.elementType(slice);
    Value argument = block.addArgument(getTensorType(before, type), n.getLoc());
    made.next.push_back(AppendOp::create(builder, n.getLoc(), getTensorType(after, type), argument, slice));
    initial.push_back(none);
  }
  return initial;
}

std::optional<SmallVector<Value>>
onnx_import::buildLoop(Node &n, Value condition, AffineExpr trips, ArrayRef<Value> inits,
                       llvm::function_ref<std::optional<LoopBody>(ArrayRef<Value>)> body) {
  if (n.hasFailed() || !condition || llvm::is_contained(inits, Value()))
    return std::nullopt;
  Carried carried(n, inits);
  Importer::Checkpoint before = n.importer.getCheckpoint();
  std::optional<Importer::Faults> firstFaults;
  for (;;) {
    NodeBody builder(n);
    Block &block = builder.getBlock();
    for (size_t i = 0; i < inits.size(); ++i)
      block.addArgument(carried.getType(i), n.getLoc());
    SmallVector<Value> arguments(block.args_begin(), block.args_end());
    std::optional<LoopBody> made = body(arguments);
    if (!made || n.hasFailed() || n.importer.hasFaultsSince(before)) {
      // The first attempt may have failed because it assumed extents to be static that are not.
      Importer::Faults faults = n.importer.rollBack(before, n);
      if (!firstFaults)
        firstFaults = std::move(faults);
      if (carried.generalizeAll())
        continue;
      n.importer.restore(std::move(*firstFaults));
      return std::nullopt;
    }
    std::optional<bool> changed = carried.generalize(made->next);
    if (!changed)
      return std::nullopt;
    if (*changed) {
      n.importer.rollBack(before, n);
      continue;
    }
    SmallVector<Type> types;
    for (Value slice : made->collected)
      types.push_back(n.elementType(slice));
    SmallVector<Dims> initial = addCollected(n, carried, block, *made);
    SmallVector<Value> yielded{made->goesOn}, allInits(inits);
    yielded.append(made->next);
    builder.finish(yielded);
    for (auto [dims, type] : llvm::zip(initial, types))
      allInits.push_back(n.broadcast(n.scalar(0, type), dims));
    return createLoop(n.importer.getBuilder(), n.getLoc(), condition, trips, allInits, carried.names,
                      builder.getBody());
  }
}

std::optional<SmallVector<Value>>
onnx_import::buildCountedLoop(Node &n, AffineExpr count, ArrayRef<Value> inits,
                              llvm::function_ref<std::optional<LoopBody>(Value number, ArrayRef<Value>)> body) {
  Value zero = n.constantInts(0, {}, n.i64()), one = n.constantInts(1, {}, n.i64());
  SmallVector<Value> all{zero};
  all.append(inits.begin(), inits.end());
  auto counted = [&](ArrayRef<Value> arguments) -> std::optional<LoopBody> {
    std::optional<LoopBody> made = body(arguments.front(), arguments.drop_front());
    if (!made)
      return std::nullopt;
    Value number = n.add(arguments.front(), one);
    made->goesOn = n.less(number, n.size(count, n.i64()));
    made->next.insert(made->next.begin(), number);
    return made;
  };
  std::optional<SmallVector<Value>> results =
      buildLoop(n, n.greater(n.size(count, n.i64()), zero), count, all, counted);
  if (results)
    results->erase(results->begin());
  return results;
}

bool onnx_import::attempt(Node &n, llvm::function_ref<bool()> make) {
  Importer::Checkpoint before = n.importer.getCheckpoint();
  NodeBody builder(n);
  bool result = make();
  n.importer.rollBack(before, n);
  return result;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Returns the size that a single-element value equals, if symbols or a constant determine it; otherwise null.
static AffineExpr getOneSize(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (auto sizes = value.getDefiningOp<SizesOp>())
    return sizes.getValues().getDims().size() == 1 ? sizes.getValues().getDims()[0] : AffineExpr();
  auto weight = value.getDefiningOp<WeightOp>();
  std::optional<ShapeValue> known = weight ? getShapeValue(weight.getValue()) : std::nullopt;
  std::optional<Dims> integers = known ? known->getIntegers() : std::nullopt;
  return integers && integers->size() == 1 ? integers->front() : AffineExpr();
}

AffineExpr onnx_import::getComparedSizes(Value condition) {
  while (condition && isa_and_nonnull<ReshapeOp, CastOp>(condition.getDefiningOp()))
    condition = condition.getDefiningOp()->getOperand(0);
  auto compare = condition ? condition.getDefiningOp<CompareOp>() : CompareOp();
  if (!compare || compare.getPredicate() != ComparePredicate::eq)
    return {};
  AffineExpr a = getOneSize(compare.getOperand(0)), b = getOneSize(compare.getOperand(1));
  return a && b ? subDims(a, b) : AffineExpr();
}

static Value raiseRank(Node &n, Value value, int64_t rank) {
  return n.unsqueeze(value, rangeOf(0, rank - n.rank(value)));
}

/// Reshapes the values that two branches yield to equal ranks. The first branch is finished, operations are created in
/// the second one.
static void raiseRanks(Node &n, SmallVectorImpl<Value> &first, SmallVectorImpl<Value> &second, Block &finished) {
  OpBuilder &builder = n.importer.getBuilder();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(first, second))) {
    auto [x, y] = pair;
    if (n.rank(y) < n.rank(x)) {
      y = raiseRank(n, y, n.rank(x));
    } else if (n.rank(x) < n.rank(y)) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(finished.getTerminator());
      x = raiseRank(n, x, n.rank(y));
      finished.getTerminator()->setOperand(i, x);
    }
  }
}

std::optional<SmallVector<Value>> onnx_import::buildIf(Node &n, Value condition, BranchBody thenBody,
                                                       BranchBody elseBody) {
  if (n.hasFailed() || !condition)
    return std::nullopt;
  std::optional<NodeBody> builders[2];
  SmallVector<Value> yielded[2];
  BranchBody bodies[] = {thenBody, elseBody};
  for (int i = 0; i < 2; ++i) {
    builders[i].emplace(n);
    std::optional<SmallVector<Value>> made = bodies[i]();
    if (!made || n.hasFailed())
      return std::nullopt;
    yielded[i] = *made;
    // ONNX allows branches to differ in rank; then dimensions of 1 are prepended to the shorter shape, which
    // broadcasting ignores.
    if (i == 1 && yielded[0].size() == made->size())
      raiseRanks(n, yielded[0], yielded[1], builders[0]->getBlock());
    builders[i]->finish(yielded[i]);
  }
  // Extents in which the branches differ become symbols of the result.
  Carried results(n, yielded[0]);
  if (yielded[0].size() != yielded[1].size() || !results.generalize(yielded[1]))
    return std::nullopt;
  SmallVector<Type> types;
  for (size_t i = 0; i < yielded[0].size(); ++i)
    types.push_back(results.getType(i));
  return createIf(n.importer.getBuilder(), n.getLoc(), condition, types, results.names, builders[0]->getBody(),
                  builders[1]->getBody());
}
