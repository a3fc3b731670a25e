//===- Programs.cpp - programs of a model beside its main -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Programs.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tenon;

void graph::addProgram(ModuleOp module, ModuleOp other, StringRef sizes) {
  auto main = module.lookupSymbol<func::FuncOp>("main"), program = other.lookupSymbol<func::FuncOp>("main");
  assert(main && program && "both graphs are finished");
  assert(getNumSequences(main) == 1 && "main is for one sequence");
  Builder builder(module.getContext());
  program.setName((main.getName() + "." + sizes).str());
  program->setAttr(kProgramAttr, builder.getStringAttr(sizes));
  // The symbols of the two functions differ, and so do the requirements. Without any, those of the module would count.
  Attribute required = other->getAttr(kRequiresAttr), texts = other->getAttr(kRequiresTextAttr);
  program->setAttr(kRequiresAttr, required ? required : ShapeAttr::get(module.getContext(), Dims()));
  if (texts)
    program->setAttr(kRequiresTextAttr, texts);
  for (func::FuncOp function : {main, program})
    function->setAttr(kSharesWeightsAttr, builder.getUnitAttr());
  for (auto state : llvm::make_early_inc_range(other.getOps<StateOp>())) {
    auto known = module.lookupSymbol<StateOp>(state.getSymNameAttr());
    assert((!known || known.getTensorType() == state.getTensorType()) && "the first sequence has the states of main");
    if (!known)
      state->moveBefore(main);
  }
  // The runtime tries programs in the order of the module, and main last.
  program->moveBefore(main);
}
