//===- CalibrationGraph.cpp - a model that measures what its products sum with ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/CalibrationGraph.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {
/// Depths of values: how many chosen products are on the longest path to them.
class DepthFinder {
public:
  llvm::SmallDenseMap<Operation *, unsigned> matrices; ///< chosen products, by their matrix
  std::vector<unsigned> found;                         ///< for each matrix

  unsigned visit(Block &block, unsigned outer);

private:
  llvm::DenseMap<Value, unsigned> depths;
};
} // namespace

/// Returns the largest depth of a value in the block, all of whose arguments have the depth `outer`.
unsigned DepthFinder::visit(Block &block, unsigned outer) {
  unsigned largest = outer;
  for (Value argument : block.getArguments())
    depths[argument] = outer;
  for (Operation &op : block) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        depth = std::max(depth, visit(inner, depth));
    if (auto known = matrices.find(&op); known != matrices.end()) {
      found[known->second] = std::max(found[known->second], depth + 1);
      ++depth;
    }
    for (Value result : op.getResults())
      depths[result] = depth;
    largest = std::max(largest, depth);
  }
  return largest;
}

std::vector<unsigned> tenon::findDepths(ModuleOp module, ArrayRef<ConstantMatrix> matrices, ArrayRef<bool> isChosen) {
  DepthFinder finder;
  finder.found.resize(matrices.size());
  for (auto [i, matrix] : llvm::enumerate(matrices))
    if (isChosen[i] && matrix.uses.lookups.empty())
      for (const ConstantFactor &factor : matrix.uses.products)
        finder.matrices[factor.product] = i;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      finder.visit(function.getBody().front(), 0);
  return finder.found;
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

namespace {
/// Collects outputs of a function in the place of those that it has.
class MomentBuilder {
public:
  explicit MomentBuilder(func::FuncOp main)
      : main(main), body(main.getBody().front()), numResults(main.getNumResults()) {}

  /// The output that is `left` * `right`^T, where both are what products sum with; nothing where it is out of reach.
  std::optional<unsigned> add(const ConstantFactor &left, const ConstantFactor &right);
  /// Makes the outputs those of the function.
  void finish();

private:
  Value carryOut(Value value);

  func::FuncOp main;
  Block &body;
  unsigned numResults; ///< of the function before; operands of the terminator after them are the outputs
  llvm::DenseMap<std::tuple<Value, Value, int64_t>, unsigned> known; ///< several products may sum with the same
};
} // namespace

/// Indices of the operand that a product multiplies the matrix by.
static SmallVector<int64_t> getOtherDims(const ConstantFactor &factor) {
  ContractOp op = factor.product;
  return SmallVector<int64_t>(factor.operand == 0 ? op.getRhsDims() : op.getLhsDims());
}

/// The dimension of that operand which is summed over; nothing where another one is, too, or where it stretches.
static std::optional<int64_t> findSummed(const ConstantFactor &factor) {
  ContractOp op = factor.product;
  std::optional<int64_t> dim = getSummedDim(op, factor.operand);
  if (!dim)
    return std::nullopt;
  int64_t index = (factor.operand == 0 ? op.getLhsDims() : op.getRhsDims())[*dim];
  std::optional<int64_t> found;
  for (auto [i, own] : llvm::enumerate(getOtherDims(factor))) {
    if (llvm::is_contained(op.getResultDims(), own))
      continue;
    if (own != index || found)
      return std::nullopt;
    found = i;
  }
  auto matrix = cast<RankedTensorType>(op->getOperand(factor.operand).getType());
  auto other = cast<RankedTensorType>(factor.getOther().getType());
  bool isWhole = found && other.getDimSize(*found) == matrix.getDimSize(*dim);
  return isWhole ? found : std::nullopt;
}

/// x y^T of all vectors along `dim`, in f32.
static Value multiply(OpBuilder &b, Location loc, Value left, Value right, int64_t dim) {
  auto type = cast<RankedTensorType>(left.getType());
  int64_t rank = type.getRank(), depth = type.getDimSize(dim);
  SmallVector<int64_t> lhs = llvm::to_vector(llvm::seq<int64_t>(0, rank)), rhs = lhs;
  rhs[dim] = rank;
  SmallVector<int64_t> result = {dim, rank};
  auto made = RankedTensorType::get({depth, depth}, b.getF32Type());
  return ContractOp::create(b, loc, made, left, right, lhs, rhs, result, TypeAttr::get(b.getF32Type()));
}

/// A value of a branch as one around it: zeros where the branch is not taken. Null where it is in something else.
Value MomentBuilder::carryOut(Value value) {
  while (value && value.getParentBlock() != &body) {
    auto branch = dyn_cast<IfOp>(value.getParentBlock()->getParentOp());
    if (!branch)
      return {};
    OpBuilder b(branch);
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Type> types(branch->getResultTypes());
    types.push_back(type);
    auto wider = IfOp::create(b, branch.getLoc(), types, branch.getCondition(), branch.getSymbolsAttr());
    bool isThen = value.getParentRegion() == &branch.getThenBody();
    wider.getThenBody().takeBody(branch.getThenBody());
    wider.getElseBody().takeBody(branch.getElseBody());
    for (Region *region : {&wider.getThenBody(), &wider.getElseBody()}) {
      Operation *yield = region->front().getTerminator();
      Value own = value;
      if ((region == &wider.getThenBody()) != isThen) {
        b.setInsertionPoint(yield);
        own = WeightOp::create(b, branch.getLoc(), DenseElementsAttr::get(type, b.getF32FloatAttr(0).getValue()));
      }
      yield->insertOperands(yield->getNumOperands(), own);
    }
    for (auto [before, after] : llvm::zip(branch.getResults(), wider.getResults()))
      before.replaceAllUsesWith(after);
    branch->erase();
    known.clear(); // has values that are gone
    value = wider->getResults().back();
  }
  return value;
}

std::optional<unsigned> MomentBuilder::add(const ConstantFactor &left, const ConstantFactor &right) {
  std::optional<int64_t> dim = findSummed(right);
  Value x = right.getOther(), y = left.getOther();
  if (!dim || findSummed(left) != dim || x.getType() != y.getType())
    return std::nullopt;
  bool isInside = right.product->getBlock() == &body && left.product->getBlock() == &body;
  if (x != y && !isInside)
    return std::nullopt;
  if (auto place = known.find({x, y, *dim}); place != known.end())
    return place->second;
  OpBuilder b(right.product);
  // Both are there at the end of a block.
  if (x != y)
    b.setInsertionPoint(body.getTerminator());
  Value output = carryOut(multiply(b, x.getLoc(), y, x, *dim));
  if (!output)
    return std::nullopt;
  Operation *end = body.getTerminator();
  unsigned number = end->getNumOperands() - numResults;
  end->insertOperands(end->getNumOperands(), output);
  if (isInside)
    known[{x, y, *dim}] = number;
  return number;
}

void MomentBuilder::finish() {
  Operation *end = body.getTerminator();
  end->eraseOperands(0, numResults);
  OpBuilder b(main);
  SmallVector<Attribute> attributes;
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    attributes.push_back(
        b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr("moments " + std::to_string(i)))));
  main.setType(b.getFunctionType(main.getArgumentTypes(), end->getOperandTypes()));
  main.setResAttrsAttr(b.getArrayAttr(attributes));
}

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

static func::FuncOp getMain(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

/// Whether two copies of a function can be one: neither names sizes nor has an order of effects.
static bool canBeDoubled(func::FuncOp main) {
  WalkResult result = main.walk([](Operation *op) {
    auto binder = dyn_cast<SymbolBinderOpInterface>(op);
    ArrayAttr symbols = binder ? binder.getSymbolsAttr() : ArrayAttr();
    bool isPlain = !isa<RunSeedOp>(op) &&
                   (!symbols || llvm::all_of(symbols, [](Attribute name) { return cast<StringAttr>(name).empty(); }));
    return isPlain ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Computes `second` beside `first`, which it is part of then.
static void mergeMain(func::FuncOp first, func::FuncOp second) {
  Block &into = first.getBody().front(), &from = second.getBody().front();
  for (auto [own, other] : llvm::zip(into.getArguments(), from.getArguments()))
    other.replaceAllUsesWith(own);
  from.getTerminator()->erase();
  into.getOperations().splice(into.getTerminator()->getIterator(), from.getOperations());
}

CalibrationGraph tenon::buildCalibrationGraph(ModuleOp current, ModuleOp original,
                                              ArrayRef<CalibratedProducts> matrices) {
  IRMapping map;
  CalibrationGraph graph{cast<ModuleOp>(current->clone(map)), {}};
  func::FuncOp main = getMain(*graph.module);
  graph.outputs.resize(matrices.size());
  if (!main)
    return graph;
  OwningOpRef<ModuleOp> other;
  if (original && getMain(original) && canBeDoubled(main)) {
    other = cast<ModuleOp>(original->clone(map));
    mergeMain(main, getMain(*other));
  }
  auto find = [&](const ConstantFactor &factor) {
    return ConstantFactor{cast<ContractOp>(map.lookup(ContractOp(factor.product).getOperation())), factor.operand};
  };
  MomentBuilder builder(main);
  for (auto [outputs, matrix] : llvm::zip(graph.outputs, matrices)) {
    bool hasCross = static_cast<bool>(other);
    for (auto [own, before] : llvm::zip(matrix.current, matrix.original)) {
      ConstantFactor x = find(own);
      std::optional<unsigned> squares = builder.add(x, x);
      if (!squares)
        continue;
      outputs.own.push_back(*squares);
      std::optional<unsigned> cross = hasCross ? builder.add(find(before), x) : std::nullopt;
      hasCross &= cross.has_value();
      if (cross)
        outputs.cross.push_back(*cross);
    }
    if (!hasCross)
      outputs.cross.clear();
  }
  builder.finish();
  return graph;
}
