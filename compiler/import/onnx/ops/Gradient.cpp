//===- Gradient.cpp - derivatives of a part of the graph ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse accumulation (Griewank and Walther, "Evaluating Derivatives", 2008)
// over the operations that lie between the inputs and the value that is derived.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "dialects/tenon/Tenon.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

class Differentiation {
public:
  Differentiation(Node &n, ArrayRef<Value> inputs) : n(n), depends(inputs.begin(), inputs.end()) {}

  /// Differentiates the sum of all elements of `y`. Returns false if an operation on the way has no derivative here.
  bool run(Value y);
  /// Returns the derivative with respect to a value; zeros if `y` does not depend on it.
  Value get(Value x) {
    Value sum = gradients.lookup(x);
    return sum ? sum : n.broadcast(n.scalarLike(0, x), n.dims(x));
  }

private:
  void collect(Operation *op);
  bool propagate(Operation *op, Value outer);
  void add(Value x, Value gradient);
  Value number(double value, Value like) { return n.scalarLike(value, like); }

  Node &n;
  llvm::SmallPtrSet<Value, 16> depends; ///< values that depend on the inputs, and those
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> order; ///< operations between, each after those that it depends on
  llvm::DenseMap<Value, Value> gradients;
};

} // namespace

void Differentiation::collect(Operation *op) {
  if (!op || !seen.insert(op).second)
    return;
  bool between = false;
  for (Value operand : op->getOperands()) {
    if (!depends.contains(operand))
      collect(operand.getDefiningOp());
    between |= depends.contains(operand);
  }
  if (!between)
    return;
  depends.insert(op->result_begin(), op->result_end());
  order.push_back(op);
}

/// Adds to the derivative of `x`. If `x` was broadcast, the gradient is summed over the broadcast dimensions.
void Differentiation::add(Value x, Value gradient) {
  if (!depends.contains(x))
    return;
  Dims wanted = n.dims(x), has = n.dims(gradient);
  Ints sums = rangeOf(0, n.rank(gradient) - n.rank(x));
  for (int64_t i = sums.size(); i < n.rank(gradient); ++i)
    if (getConstant(wanted[i - (n.rank(gradient) - n.rank(x))]) == 1 && getConstant(has[i]) != 1)
      sums.push_back(i);
  gradient = n.reshape(n.reduceSum(gradient, sums), wanted);
  Value &sum = gradients[x];
  sum = sum ? n.add(sum, gradient) : gradient;
}

/// Propagates the derivative of an operation's result to its operands.
bool Differentiation::propagate(Operation *op, Value outer) {
  Value x = op->getOperand(0), result = op->getResult(0);
  Value y = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  Value one = number(1, result);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AddOp>([&](auto) { return add(x, outer), add(y, outer), true; })
      .Case<SubOp>([&](auto) { return add(x, outer), add(y, n.neg(outer)), true; })
      .Case<MulOp>([&](auto) { return add(x, n.mul(outer, y)), add(y, n.mul(outer, x)), true; })
      .Case<DivOp>([&](auto) { return add(x, n.div(outer, y)), add(y, n.neg(n.div(n.mul(outer, result), y))), true; })
      .Case<NegOp>([&](auto) { return add(x, n.neg(outer)), true; })
      .Case<AbsOp>([&](auto) { return add(x, n.mul(outer, n.sign(x))), true; })
      .Case<ExpOp>([&](auto) { return add(x, n.mul(outer, result)), true; })
      .Case<LogOp>([&](auto) { return add(x, n.div(outer, x)), true; })
      .Case<SqrtOp>([&](auto) { return add(x, n.div(outer, n.mul(number(2, x), result))), true; })
      .Case<SinOp>([&](auto) { return add(x, n.mul(outer, n.cos(x))), true; })
      .Case<CosOp>([&](auto) { return add(x, n.neg(n.mul(outer, n.sin(x)))), true; })
      .Case<TanhOp>([&](auto) { return add(x, n.mul(outer, n.sub(one, n.mul(result, result)))), true; })
      .Case<SigmoidOp>([&](auto) { return add(x, n.mul(outer, n.mul(result, n.sub(one, result)))), true; })
      .Case<ReluOp>([&](auto) { return add(x, n.select(n.greater(x, number(0, x)), outer, number(0, x))), true; })
      .Case<ReshapeOp>([&](auto) { return add(x, n.reshape(outer, n.dims(x))), true; })
      .Case<BroadcastOp>([&](auto) { return add(x, outer), true; })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        Ints inverse(n.rank(x));
        for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
          inverse[from] = static_cast<int64_t>(i);
        return add(x, n.transpose(outer, inverse)), true;
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        if (reduce.getKind() != ReduceKind::sum)
          return false;
        Value kept = reduce.getKeepdims() ? outer : n.unsqueeze(outer, Ints(reduce.getAxes()));
        return add(x, n.broadcast(kept, n.dims(x))), true;
      })
      .Case<ContractOp>([&](ContractOp contract) {
        IntsRef a = contract.getLhsDims(), b = contract.getRhsDims(), r = contract.getResultDims();
        // A summed dimension that only one operand has would have to be broadcast again, which is not supported.
        auto isShared = [](IntsRef own, IntsRef other, IntsRef result) {
          return llvm::all_of(own,
                              [&](int64_t i) { return llvm::is_contained(other, i) || llvm::is_contained(result, i); });
        };
        if (!isShared(a, b, r) || !isShared(b, a, r))
          return false;
        add(x, n.contract(outer, y, r, b, a));
        add(y, n.contract(outer, x, r, a, b));
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool Differentiation::run(Value y) {
  if (!depends.contains(y))
    collect(y.getDefiningOp());
  if (!depends.contains(y))
    return true;
  gradients[y] = n.broadcast(n.scalarLike(1, y), n.dims(y));
  for (Operation *op : llvm::reverse(order)) {
    Value outer = gradients.lookup(op->getResult(0));
    if (!outer)
      continue;
    if (op->getNumResults() != 1 || !propagate(op, outer)) {
      (void)n.unsupported("the derivative of '" + op->getName().stripDialect() + "' is not supported");
      return false;
    }
  }
  return !n.hasFailed();
}

static LogicalResult importGradient(Node &n) {
  SmallVector<std::string> xs = n.getStrings("xs").value_or(SmallVector<std::string>());
  SmallVector<std::string> zs = n.getStrings("zs").value_or(SmallVector<std::string>());
  std::string y = n.getString("y", "");
  if (xs.size() + zs.size() != n.getNumInputs() || n.getNumOutputs() > xs.size())
    return n.invalid("has " + Twine(n.getNumInputs()) + " inputs and " + Twine(n.getNumOutputs()) + " outputs for " +
                     Twine(xs.size()) + " names in 'xs' and " + Twine(zs.size()) + " in 'zs'");
  SmallVector<Value> inputs;
  for (auto [i, name] : llvm::enumerate(xs)) {
    // The derivative is computed at the current values of the graph, so the names must match.
    if (n.inputName(i) != name)
      return n.unsupported("derives at '" + n.inputName(i) + "' what the graph computes from '" + name + "'");
    inputs.push_back(n.input(i));
  }
  ImportedValue *derived = n.scope.find(y);
  if (!derived || !derived->isTensor() || derived->hasFailed())
    return n.invalid("derives '" + y + "', which nothing before it makes");
  n.importer.noteChange(*derived);
  Value value = n.importer.materialize(*derived);
  Differentiation d(n, inputs);
  if (n.hasFailed() || !value || !d.run(value))
    return failure();
  for (size_t i = 0; i < n.getNumOutputs(); ++i)
    if (failed(n.setOutput(i, d.get(inputs[i]))))
      return failure();
  return success();
}

ArrayRef<OpEntry> onnx_import::getGradientOps() {
  static const OpEntry ops[] = {{"Gradient", importGradient}};
  return ops;
}
