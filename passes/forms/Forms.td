//===- Forms.td - passes that choose among equivalent forms of the graph ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_TD
#define TENON_PASSES_FORMS_TD

include "mlir/Pass/PassBase.td"

def ChooseForms : Pass<"tenon-choose-forms", "::mlir::func::FuncOp"> {
  let summary = "choose among equivalent forms of parts of the graph";
  let description = [{
    A source (passes/forms/FormSource.h) lists sites of the graph, each with several forms of
    which the first is the graph as it stands. A form costs what the fastest paths of its
    operations cost that are exact enough, and the rest: launches, conversions, what neighbours
    have to do besides. All sites are decided together (passes/forms/FormGraph.h). A site of the
    same region as another takes the same form. A form that is not the source's default one has
    to save a share of the time of its site. Inexact forms share what paths and other forms of
    the function have left of the total budget.

    Attention is found late: where paths are chosen, and reshapes stand next to what they are views of.

    Where real runs of paths are known, their times take the place of estimates. `force` and
    `exclude` are those of `tenon-choose-paths`: of a form that is forced the costs do not matter.

    Relies on channels last and folded constants; runs before `tenon-choose-paths`.
  }];
  let options = [
    Option<"budget", "budget", "double", "2.5e-6", "largest error of a result, relative to its largest element">,
    Option<"totalBudget", "total-budget", "double", "std::numeric_limits<double>::infinity()",
           "root of the sum of squared errors of all results">,
    Option<"isLate", "late", "bool", "false", "sites that are found where paths are chosen and weights packed">,
    ListOption<"force", "force", "std::string", "REGION=FORM or NODE=FORM that sites have to take">,
    ListOption<"exclude", "exclude", "std::string", "forms, or REGION=FORM, that sites must not take">
  ];
  let statistics = [Statistic<"numTaken", "taken", "sites with another form than that of the graph as it stands">];
}

def RepeatForms : Pass<"tenon-repeat-forms", "::mlir::func::FuncOp"> {
  let summary = "apply the forms that were chosen for another target";
  let description = [{
    The graph is a copy of one in which `tenon-choose-forms` chose for the target that the
    module is named after; each site takes the form that it took there. The selection comes
    from the driver; `forms` are those of the sites in order, for tests.
  }];
  let options = [
    Option<"isLate", "late", "bool", "false", "as `tenon-choose-forms` has it">,
    ListOption<"forms", "forms", "std::string", "FORM of each site, in order">
  ];
}

#endif // TENON_PASSES_FORMS_TD
