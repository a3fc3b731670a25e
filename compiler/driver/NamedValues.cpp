//===- NamedValues.cpp - values of a model that nodes make ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/NamedValues.h"
#include "compiler/driver/Phases.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Diagnostics.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;

static func::FuncOp findMain(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration())
      return function;
  return nullptr;
}

static std::string getNode(Operation &op) {
  std::string nodes = llvm::join(listNodes(op.getLoc()), " + ");
  return nodes.empty() ? op.getName().stripDialect().str() : nodes;
}

static bool isNamed(Operation &op) {
  return !isa<WeightOp>(op) && !op.hasTrait<OpTrait::IsTerminator>() && op.getNumResults() > 0 &&
         llvm::all_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Calls `use` with each value that has a name.
static void forEachNamed(func::FuncOp main, llvm::function_ref<void(const std::string &name, OpResult value)> use) {
  llvm::StringMap<unsigned> counts, seen; // of operations of a node
  for (Operation &op : main.getBody().front())
    if (isNamed(op))
      ++counts[getNode(op)];
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto name = main.getResultAttrOfType<StringAttr>(i, kNameAttr))
      taken.insert(name);
  for (Operation &op : main.getBody().front()) {
    if (!isNamed(op))
      continue;
    std::string node = getNode(op);
    unsigned place = seen[node]++;
    std::string name = place + 1 == counts[node] ? node : node + ":" + std::to_string(place);
    for (OpResult result : op.getResults()) {
      std::string own = result.getResultNumber() ? name + "." + std::to_string(result.getResultNumber()) : name;
      if (taken.insert(own).second)
        use(own, result);
    }
  }
}

std::vector<NamedValue> tenon::listNamedValues(ModuleOp imported) {
  std::vector<NamedValue> values;
  func::FuncOp main = findMain(imported);
  if (!main)
    return values;
  llvm::DenseMap<Value, std::string> names;
  forEachNamed(main, [&](const std::string &name, OpResult value) {
    NamedValue named{name, getNode(*value.getOwner()), value.getOwner()->getName().stripDialect().str(), {}};
    // Loops and branches read values from outside.
    value.getOwner()->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto it = names.find(operand); it != names.end() && !llvm::is_contained(named.reads, it->second))
          named.reads.push_back(it->second);
    });
    names[value] = name;
    values.push_back(std::move(named));
  });
  return values;
}

LogicalResult tenon::addOutput(func::FuncOp function, Value value, StringRef name) {
  NamedAttribute attribute(kNameAttr, StringAttr::get(function.getContext(), name));
  if (failed(function.insertResult(function.getNumResults(), value.getType(),
                                   DictionaryAttr::get(function.getContext(), attribute))))
    return failure();
  Operation *end = function.getBody().front().getTerminator();
  end->insertOperands(end->getNumOperands(), value);
  return success();
}

llvm::Error tenon::markValues(ModuleOp imported, ArrayRef<std::string> names, const std::string &input) {
  func::FuncOp main = findMain(imported);
  llvm::StringMap<Value> values;
  if (main)
    forEachNamed(main, [&](const std::string &name, OpResult value) { values[name] = value; });
  for (const std::string &name : names) {
    auto found = values.find(name);
    if (found == values.end())
      return makeError(CompileStatus::invalid, input + ": has no value '" + name + "', which --mark-output names");
    if (failed(addOutput(main, found->second, name)))
      return makeError(CompileStatus::fault, input + ": cannot make '" + name + "' an output");
  }
  return llvm::Error::success();
}

CompileStatus tenon::useNamedValues(const CompileOptions &options, llvm::raw_ostream &errors,
                                    llvm::function_ref<llvm::Error(ArrayRef<NamedValue>)> use) {
  return phases::useImported(options, errors, [&](phases::Imported &imported) {
    return use(imported.stage == Stage::model ? listNamedValues(*imported.module) : std::vector<NamedValue>());
  });
}
