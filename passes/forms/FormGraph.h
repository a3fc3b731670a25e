//===- FormGraph.h - one form for each site of a graph --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_FORMGRAPH_H
#define TENON_PASSES_FORMS_FORMGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

/// A form for each site, and the sum of their costs.
struct FormAssignment {
  double cost = 0;           ///< infinite if no assignment has a finite cost
  std::vector<size_t> forms; ///< for each site the place of its form
  bool isOptimal = true;     ///< false where the search ended before it had proven that nothing is cheaper
};

/// The sites of a graph with the costs of their forms, and terms for pairs of forms: conversions that neighbouring
/// sites save, or an infinite cost for forms that exclude each other.
class FormGraph {
public:
  /// Adds a site and returns its number. `costs` has one entry for each form, and at least one; it is infinite for a
  /// form that is ruled out.
  size_t addSite(std::vector<double> costs);
  /// Adds `cost` for the given forms of two different sites; a negative cost is a saving.
  void addTerm(size_t site, size_t form, size_t otherSite, size_t otherForm, double cost);

  size_t getNumSites() const { return sites.size(); }
  double getCost(llvm::ArrayRef<size_t> forms) const;

  /// The cheapest assignment; the first one in lexical order among equals. Components that no term connects are solved
  /// separately. A connected component is searched by branch and bound, which is exact, starting from the result of a
  /// local search (iterated conditional modes; Besag, "On the Statistical Analysis of Dirty Pictures", 1986); after
  /// `maxSteps` partial assignments of a component the best one so far is returned.
  FormAssignment solve(int64_t maxSteps = 1 << 16) const;

private:
  struct Term {
    size_t other;                           ///< the other site
    std::vector<std::vector<double>> costs; ///< by own form and by the other's
  };
  struct Site {
    std::vector<double> costs;
    std::vector<Term> terms;
  };
  class Search;

  Term &getTerm(size_t site, size_t other);
  std::vector<std::vector<size_t>> listComponents() const;

  std::vector<Site> sites;
};

} // namespace tenon

#endif // TENON_PASSES_FORMS_FORMGRAPH_H
