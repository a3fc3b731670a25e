//===- FormEstimates.h - what forms cost with the best of their paths -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_FORMESTIMATES_H
#define TENON_PASSES_FORMS_FORMESTIMATES_H

#include "passes/forms/FormSource.h"
#include "passes/paths/PathErrors.h"
#include "passes/paths/PathTimes.h"

namespace tenon {

/// What one form of a site costs.
struct FormCost {
  double cycles = 0;     ///< by estimate, of all cores together
  double restCycles = 0; ///< of these, what no path accounts for
  double cost = 0;       ///< in a unit that all sites share: of real runs, where they are known
};

/// Estimates the costs of the forms of sites: each operation takes the fastest of its paths that are exact enough. To
/// estimate another form, the site is copied to a module of its own and rewritten there.
class FormEstimates {
public:
  /// `machine`: knows the bytes of the function's weights. `budget`: the largest error of a path. `times` may be null.
  FormEstimates(Machine machine, double budget, PathErrors &errors, PathTimes *times)
      : machine(machine), budget(budget), errors(errors), times(times) {}

  /// Adds all forms of a site. A form that does not apply has an infinite cost.
  void add(const SourcedSite &site);
  /// Returns the costs of the forms of all sites, in the order in which the sites were added.
  std::vector<std::vector<FormCost>> finish() const;

private:
  /// The paths that each operation of a form may take; the last entry has one path, for all costs beyond the
  /// operations.
  using PricedForm = std::vector<std::vector<PathCost>>;

  PricedForm price(llvm::ArrayRef<mlir::Operation *> operations, double restCycles);
  std::vector<PathCost> listCosts(mlir::Operation *op);

  Machine machine;
  double budget;
  PathErrors &errors;
  PathTimes *times;
  std::vector<std::vector<PricedForm>> sites;
};

} // namespace tenon

#endif // TENON_PASSES_FORMS_FORMESTIMATES_H
