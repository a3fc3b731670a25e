//===- RepeatForms.cpp - the forms of another machine -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "passes/forms/FormSource.h"
#include "passes/fusion/AttentionMatch.h"
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
  RepeatForms(RepeatFormsOptions options, std::shared_ptr<const PathSelection> selection)
      : RepeatFormsBase(std::move(options)), selection(std::move(selection)) {}

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto [number, site] : llvm::enumerate(listFormSites(getOperation(), isLate)))
      if (size_t form = findForm(number, *site.source))
        site.source->take(site, form, rewriter);
    eraseUnused(getOperation());
  }

private:
  size_t findForm(size_t number, const FormSource &source) {
    std::optional<size_t> form;
    if (selection)
      form = selection->findForm(cast<ModuleOp>(getOperation()->getParentOp()).getName().value_or(""),
                                 getFormPlace(getOperation(), isLate), number);
    else if (number < forms.size())
      form = llvm::find(source.getForms(), StringRef(forms[number])) - source.getForms().begin();
    return form && *form < source.getForms().size() ? *form : source.getDefault();
  }

  std::shared_ptr<const PathSelection> selection;
};
} // namespace

std::unique_ptr<Pass> tenon::createRepeatForms(RepeatFormsOptions options,
                                               std::shared_ptr<const PathSelection> selection) {
  return std::make_unique<RepeatForms>(std::move(options), std::move(selection));
}
