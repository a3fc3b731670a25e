//===- LowerToLookupTables.cpp - tables of what functions make of bytes ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/simplify/ConstantValue.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-lower-to-lookup-tables"

namespace tenon {
#define GEN_PASS_DEF_LOWERTOLOOKUPTABLES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// Elementwise operations, last one first, that compute bytes from the bytes of `source` only.
struct Function {
  Value source;
  SetVector<Operation *> ops;
};
} // namespace

static bool isInt8(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isSignlessInteger(8) || type.isUnsignedInteger(8);
}

/// A constant that is the same number everywhere.
static bool isNumber(Value value) {
  return isConstantValue(value) && llvm::all_of(getDims(value), [](AffineExpr dim) { return getConstant(dim) == 1; });
}

/// True for operations that are as fast in vectors as a lookup, or faster.
static bool isArithmetic(Operation *op) { return op->hasTrait<SingleInstruction>(); }

/// True if the intermediate values of the function have no users outside of it.
static bool isClosed(const SetVector<Operation *> &ops) {
  return llvm::all_of(llvm::drop_begin(ops), [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) { return ops.contains(user); });
  });
}

/// The longest function whose result is `result`.
static std::optional<Function> findFunction(Value result) {
  std::optional<Function> found;
  SetVector<Operation *> ops;
  SetVector<Value> open;
  open.insert(result);
  while (true) {
    if (!ops.empty() && open.size() == 1 && isInt8(open[0]) && isClosed(ops))
      found = {open[0], ops};
    if (llvm::any_of(open, [](Value value) { return !value.getDefiningOp(); }))
      return found;
    // The last one in the block is taken, because all users of it have been visited.
    Operation *op = (*llvm::max_element(open, [](Value a, Value b) {
                      return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
                    })).getDefiningOp();
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1)
      return found;
    open.remove(op->getResult(0));
    ops.insert(op);
    for (Value operand : op->getOperands()) {
      if (isNumber(operand))
        continue;
      if (getDims(operand) != getDims(result) || operand.getParentBlock() != result.getParentBlock())
        return found;
      open.insert(operand);
    }
    if (open.empty())
      return found;
  }
}

/// What the function makes of the bytes 0 to 255.
static Value makeTable(OpBuilder &b, Location loc, const Function &function) {
  assert(!function.ops.empty() && isInt8(function.source) && "a table is indexed by a byte");
  auto bytes = RankedTensorType::get({256}, b.getI32Type());
  Value all = IotaOp::create(b, loc, bytes, 0);
  IRMapping mapping;
  mapping.map(function.source,
              CastOp::create(b, loc, bytes.clone(getElementTypeOrSelf(function.source)), all).getResult());
  for (Operation *op : llvm::reverse(function.ops)) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(
            operand,
            ReshapeOp::create(b, loc, RankedTensorType::get({}, getElementTypeOrSelf(operand)), operand).getResult());
    Operation *copy = b.clone(*op, mapping);
    copy->getResult(0).setType(bytes.clone(getElementTypeOrSelf(copy->getResult(0))));
  }
  return mapping.lookup(function.ops.front()->getResult(0));
}

/// Operations that were replaced by a table are added to `erased`.
static void tabulate(CastOp op, llvm::SmallPtrSetImpl<Operation *> &erased) {
  std::optional<Function> function = findFunction(op.getResult());
  bool isCheap = function && llvm::all_of(function->ops, isArithmetic);
  LDBG() << (!function ? "finds no function of bytes"
             : isCheap ? "computes the cheap function"
                       : "looks up the function")
         << " that ends at " << op.getLoc();
  if (!function || isCheap)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value table = makeTable(b, loc, *function), index = function->source;
  for (Type type : {Type(b.getIntegerType(8, /*isSigned=*/false)), Type(b.getI32Type())})
    index = CastOp::create(b, loc, op.getType().clone(type), index);
  op.replaceAllUsesWith(GatherOp::create(b, loc, table, index, 0).getResult());
  erased.insert(function->ops.begin(), function->ops.end());
  for (Operation *dead : function->ops)
    dead->erase();
}

namespace {
struct LowerToLookupTables : public tenon::impl::LowerToLookupTablesBase<LowerToLookupTables> {
  void runOnOperation() override {
    SmallVector<CastOp> results;
    getOperation().walk([&](CastOp op) {
      if (isInt8(op) && isa<FloatType>(getElementTypeOrSelf(op.getInput())))
        results.push_back(op);
    });
    // Functions are visited from the end, because a long one contains shorter ones.
    llvm::SmallPtrSet<Operation *, 8> erased;
    for (CastOp op : llvm::reverse(results))
      if (!erased.contains(op))
        tabulate(op, erased);
  }
};
} // namespace
