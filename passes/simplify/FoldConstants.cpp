//===- FoldConstants.cpp - compute what depends on weights alone ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/cost/Flops.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "tenon-fold-constants"

namespace tenon {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

static int64_t getBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

static bool promotesToF32(Operation *op) { return isa<CastOp>(op) && isWidened(op->getResult(0)); }

/// True if kernels convert elements of few bits as they read them.
static bool staysNarrow(Operation *op) {
  if (promotesToF32(op))
    return llvm::all_of(op->getUsers(), llvm::IsaPred<ContractOp>);
  return isa<DequantizeOp>(op) && llvm::all_of(op->getUsers(), llvm::IsaPred<ContractOp, GatherOp>);
}

/// True if an operation depends on sizes that are bound at run time, as a slice that begins at one.
static bool dependsOnSizes(Operation *op) {
  return llvm::any_of(op->getAttrs(), [](NamedAttribute attribute) {
    auto dims = dyn_cast<ShapeAttr>(attribute.getValue());
    return dims && llvm::any_of(dims.getDims(), [](AffineExpr dim) { return !getConstant(dim); });
  });
}

/// True if all extents are static, and the operation does more than hold or reshape a constant.
static bool isComputation(Operation *op) {
  return isa<TenonDialect>(op->getDialect()) && op->getNumRegions() == 0 && isPure(op) && !staysNarrow(op) &&
         !dependsOnSizes(op) && !isa<WeightOp, SizesOp>(op) && !op->hasTrait<RunTimeOnly>() &&
         !op->hasTrait<OpTrait::IsTerminator>() &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); });
}

/// True if a value is only read by convolutions, as their filter.
static bool becomesFilter(Operation *op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<ConvolveOp>(user) ? use.getOperandNumber() == 1
                                 : isa<TransposeOp, ReshapeOp>(user) && becomesFilter(user);
  });
}

/// True if a product is added to a weight that nothing else reads: their sum takes the weight's place.
static bool updatesWeight(Operation *op) {
  if (!isa<ContractOp>(op) || !op->hasOneUse())
    return false;
  auto sum = dyn_cast<AddOp>(*op->user_begin());
  if (!sum)
    return false;
  Value other = sum.getLhs() == op->getResult(0) ? sum.getRhs() : sum.getLhs();
  auto weight = other.getDefiningOp<WeightOp>();
  return weight && !isa<SplatElementsAttr>(weight.getValue()) && other.hasOneUse() &&
         other.getType() == op->getResult(0).getType();
}

namespace {
/// Limits the results of constant folding, so that neither the artifact nor the compile time grows far beyond the
/// model's own weights: a chain of concats doubles its size in each step, and a product of two splat matrices takes one
/// line in a model. Operations beyond the budget are computed at run time.
class FoldBudget {
public:
  explicit FoldBudget(func::FuncOp function) {
    function.walk([&](WeightOp weight) {
      if (!isa<SplatElementsAttr>(weight.getValue()))
        weightBytes += getBytes(weight);
    });
    bytes = llvm::SaturatingAdd<uint64_t>(uint64_t(1) << 26, 2 * weightBytes);
    flops = llvm::SaturatingMultiplyAdd<uint64_t>(weightBytes, 1 << 11, uint64_t(1) << 33);
  }

  /// Returns true and charges the cost if the operation fits the budget. The results of `isTransient` operations take
  /// the place of weights.
  bool take(Operation *op, bool isTransient) {
    uint64_t opBytes = 0, opFlops = std::max<int64_t>(getConstant(countFlops(op)).value_or(INT64_MAX), 0);
    for (Value result : isTransient ? ValueRange() : ValueRange(op->getResults()))
      opBytes = llvm::SaturatingAdd<uint64_t>(opBytes, getBytes(result));
    if (opBytes > bytes || opFlops > flops)
      return false;
    bytes -= opBytes;
    flops -= opFlops;
    return true;
  }

private:
  uint64_t weightBytes = 0, bytes, flops;
};

struct FoldConstants : public tenon::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  FoldConstants(ConstantEvaluator evaluate, FoldConstantsOptions options)
      : FoldConstantsBase(std::move(options)), evaluate(std::move(evaluate)) {}

  void runOnOperation() override {
    if (!evaluate)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isPrivate() && !function.isExternal())
        fold(function);
  }

private:
  /// Operations that depend on weights alone.
  SetVector<Operation *> collect(func::FuncOp function) {
    SetVector<Operation *> constant;
    FoldBudget budget(function);
    function.walk<WalkOrder::PreOrder>([&](Operation *operation) {
      Operation &op = *operation;
      if (!isComputation(&op))
        return;
      int64_t inputBytes = 0, resultBytes = 0;
      bool foldable = llvm::all_of(op.getOperands(), [&](Value operand) {
        Operation *definition = operand.getDefiningOp();
        if (!definition || !(isa<WeightOp>(definition) || constant.contains(definition)))
          return false;
        inputBytes += getBytes(operand);
        return true;
      });
      for (Value result : op.getResults())
        resultBytes += getBytes(result);
      // A padded or promoted filter is still a filter. Other casts from f16 or bf16 that no kernel fuses would be
      // repeated in each run.
      bool isOfFilter = isa<PadOp>(op) || (isa<CastOp>(op) && becomesFilter(&op));
      int64_t mostGrowth =
          isOfFilter || promotesToF32(&op) ? std::max<int64_t>(maxGrowthBytes, 2 * inputBytes) : maxGrowthBytes;
      if (!foldable)
        return;
      bool isTransient = updatesWeight(&op);
      bool isFolded = (isTransient || resultBytes - inputBytes <= mostGrowth) && budget.take(&op, isTransient);
      LDBG() << (isFolded ? "folds " : "leaves ") << op.getName() << " at " << op.getLoc() << ", which makes "
             << resultBytes << " bytes of " << inputBytes;
      if (isFolded)
        constant.insert(&op);
    });
    return constant;
  }

  /// Returns, for each operation, the name of the largest weight that it is computed from.
  static llvm::DenseMap<Operation *, StringAttr> findNames(const SetVector<Operation *> &constant) {
    llvm::DenseMap<Operation *, StringAttr> names;
    llvm::DenseMap<Operation *, int64_t> bytesOf;
    for (Operation *op : constant)
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        auto weight = dyn_cast<WeightOp>(source);
        StringAttr name = weight ? weight.getNameAttr() : names.lookup(source);
        int64_t bytes = weight ? getBytes(operand) : bytesOf.lookup(source);
        if (name && bytes > bytesOf.lookup(op)) {
          names[op] = name;
          bytesOf[op] = bytes;
        }
      }
    return names;
  }

  void fold(func::FuncOp function) {
    SetVector<Operation *> constant = collect(function);
    SmallVector<Value> roots;
    for (Operation *op : constant)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !constant.contains(user); }))
          roots.push_back(result);
    if (roots.empty())
      return;
    OwningOpRef<ModuleOp> module = extract(function, constant, roots);
    SmallVector<ElementsAttr> values = evaluate(*module);
    if (values.size() != roots.size())
      return;
    llvm::DenseMap<Operation *, StringAttr> names = findNames(constant);
    for (auto [root, value] : llvm::zip(roots, values)) {
      OpBuilder builder(root.getDefiningOp());
      auto weight = WeightOp::create(builder, root.getLoc(), value);
      // Splats have many origins, and are deduplicated.
      if (!isa<SplatElementsAttr>(value))
        weight.setNameAttr(deriveName(names.lookup(root.getDefiningOp()), "folded"));
      root.replaceUsesWithIf(weight, [&](OpOperand &use) { return !constant.contains(use.getOwner()); });
    }
    for (Operation *op : llvm::reverse(constant))
      if (op->use_empty()) {
        op->erase();
        ++numFolded;
      }
  }

  /// A module whose main computes `roots`.
  OwningOpRef<ModuleOp> extract(func::FuncOp function, const SetVector<Operation *> &constant, ValueRange roots) {
    assert(!roots.empty() && "something is to be computed");
    OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto main = func::FuncOp::create(builder, function.getLoc(), "main", builder.getFunctionType({}, TypeRange(roots)));
    builder.setInsertionPointToStart(main.addEntryBlock());
    IRMapping mapping;
    for (Operation *op : constant) {
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand))
          builder.clone(*operand.getDefiningOp(), mapping);
      builder.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (Value root : roots)
      results.push_back(mapping.lookup(root));
    func::ReturnOp::create(builder, function.getLoc(), results);
    return module;
  }

  ConstantEvaluator evaluate;
};
} // namespace

std::unique_ptr<Pass> tenon::createFoldConstants(ConstantEvaluator evaluate, FoldConstantsOptions options) {
  return std::make_unique<FoldConstants>(std::move(evaluate), std::move(options));
}
