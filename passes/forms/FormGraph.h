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

/// Sites of a graph with the costs of their forms, and what two forms cost together beyond that: conversions that
/// neighbours save each other, or an infinite cost where one excludes the other.
class FormGraph {
public:
  /// Adds a site and returns its place. `costs`: of its forms, at least one; infinite for one that is ruled out.
  size_t addSite(std::vector<double> costs);
  /// The forms of two different sites cost so much more together; less than 0 if they save something.
  void addTerm(size_t site, size_t form, size_t otherSite, size_t otherForm, double cost);

  size_t getNumSites() const { return sites.size(); }
  double getCost(llvm::ArrayRef<size_t> forms) const;

  /// The cheapest assignment; of several the first in lexical order of the forms. Sites that no term connects are
  /// decided apart. A connected component is searched by branch and bound, which is exact, from what local search finds
  /// (iterated conditional modes; Besag, "On the Statistical Analysis of Dirty Pictures", 1986) on; after `maxSteps`
  /// partial assignments of a component the best one so far counts.
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
