//===- RepeatForms.cpp - the forms of another machine -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "passes/forms/FormSource.h"
#include "passes/paths/PathSelection.h"

namespace tenon {
#define GEN_PASS_DEF_REPEATFORMS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
struct RepeatForms : public tenon::impl::RepeatFormsBase<RepeatForms> {
  using RepeatFormsBase::RepeatFormsBase;
  explicit RepeatForms(std::shared_ptr<const PathSelection> selection) : selection(std::move(selection)) {}

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto [number, site] : llvm::enumerate(listFormSites(getOperation())))
      if (size_t form = findForm(number, *site.source))
        site.source->take(site, form, rewriter);
  }

private:
  size_t findForm(size_t number, const FormSource &source) {
    size_t form = 0;
    if (selection)
      form = selection->findForm(cast<ModuleOp>(getOperation()->getParentOp()).getName().value_or(""),
                                 getOperation().getName(), number);
    else if (number < forms.size())
      form = llvm::find(source.getForms(), StringRef(forms[number])) - source.getForms().begin();
    return form < source.getForms().size() ? form : 0;
  }

  std::shared_ptr<const PathSelection> selection;
};
} // namespace

std::unique_ptr<Pass> tenon::createRepeatForms(std::shared_ptr<const PathSelection> selection) {
  return std::make_unique<RepeatForms>(std::move(selection));
}
