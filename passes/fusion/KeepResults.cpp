//===- KeepResults.cpp - results of launches as outputs -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace tenon {
#define GEN_PASS_DEF_KEEPRESULTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// "3 k1_contract: fc2 + act2": the number of the launch, its kernel and the nodes that it computes.
static std::string getOutputName(LaunchOp launch, size_t number) {
  return (Twine(number) + " " + launch.getKernel() + ": " + llvm::join(listNodes(launch.getLoc()), " + ")).str();
}

namespace {
struct KeepResults : public tenon::impl::KeepResultsBase<KeepResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isPrivate() || function.isExternal())
      return;
    Operation *end = function.getBody().back().getTerminator();
    SmallVector<Value> results(end->getOperands());
    SmallVector<Attribute> attrs;
    if (ArrayAttr known = function.getAllResultAttrs())
      llvm::append_range(attrs, known);
    attrs.resize(results.size(), DictionaryAttr::get(&getContext()));
    Builder b(&getContext());
    // Launches in branches and loops are left out, because they may not run.
    for (auto [number, launch] : llvm::enumerate(function.getBody().front().getOps<LaunchOp>()))
      for (Value result : launch.getResults()) {
        results.push_back(result);
        attrs.push_back(b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(getOutputName(launch, number)))));
        ++numKept;
      }
    end->setOperands(results);
    function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), TypeRange(ValueRange(results))));
    function.setAllResultAttrs(llvm::map_to_vector(attrs, [](Attribute attr) { return cast<DictionaryAttr>(attr); }));
  }
};
} // namespace
