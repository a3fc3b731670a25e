//===- FormGraph.cpp - one form for each site of a graph ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/FormGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace tenon;

static constexpr double kInfinite = std::numeric_limits<double>::infinity(); // math: a cost that is ruled out

size_t FormGraph::addSite(std::vector<double> costs) {
  assert(!costs.empty() && llvm::none_of(costs, [](double cost) { return std::isnan(cost) || cost == -kInfinite; }) &&
         "a site has forms, each with a cost");
  sites.push_back({std::move(costs), {}});
  return sites.size() - 1;
}

FormGraph::Term &FormGraph::getTerm(size_t site, size_t other) {
  std::vector<Term> &terms = sites[site].terms;
  auto it = llvm::find_if(terms, [&](const Term &term) { return term.other == other; });
  if (it != terms.end())
    return *it;
  std::vector<double> row(sites[other].costs.size(), 0);
  terms.push_back({other, std::vector<std::vector<double>>(sites[site].costs.size(), row)});
  return terms.back();
}

void FormGraph::addTerm(size_t site, size_t form, size_t otherSite, size_t otherForm, double cost) {
  assert(site != otherSite && form < sites[site].costs.size() && otherForm < sites[otherSite].costs.size() &&
         "a term is about forms of two sites");
  getTerm(site, otherSite).costs[form][otherForm] += cost;
  getTerm(otherSite, site).costs[otherForm][form] += cost;
}

double FormGraph::getCost(llvm::ArrayRef<size_t> forms) const {
  assert(forms.size() == sites.size() && "each site has a form");
  double cost = 0;
  for (auto [i, site] : llvm::enumerate(sites)) {
    cost += site.costs[forms[i]];
    for (const Term &term : site.terms)
      cost += term.other < i ? term.costs[forms[i]][forms[term.other]] : 0;
  }
  return cost;
}

std::vector<std::vector<size_t>> FormGraph::listComponents() const {
  std::vector<std::vector<size_t>> components;
  std::vector<bool> isSeen(sites.size());
  for (size_t first = 0; first < sites.size(); ++first) {
    if (isSeen[first])
      continue;
    isSeen[first] = true;
    // Breadth-first order places neighbours close together, which tightens the bounds.
    std::vector<size_t> &component = components.emplace_back(1, first);
    for (size_t i = 0; i < component.size(); ++i)
      for (const Term &term : sites[component[i]].terms)
        if (!isSeen[term.other]) {
          isSeen[term.other] = true;
          component.push_back(term.other);
        }
  }
  return components;
}

/// The search of one component.
class FormGraph::Search {
public:
  Search(const FormGraph &graph, llvm::ArrayRef<size_t> order, int64_t maxSteps);

  /// Searches the component and writes the forms of its sites to `assignment`.
  void run(FormAssignment &assignment);

private:
  double getLocalCost(size_t place, size_t form, llvm::ArrayRef<size_t> forms, size_t known) const;
  double getCost(llvm::ArrayRef<size_t> forms) const;
  void keep(llvm::ArrayRef<size_t> forms, double cost);
  void improve(std::vector<size_t> forms);
  void setBounds();
  void branch(size_t place, double cost);

  /// A term with another site of the component: its position in the search order.
  struct Edge {
    size_t other;
    const std::vector<std::vector<double>> *costs;
  };

  const FormGraph &graph;
  llvm::ArrayRef<size_t> order;
  int64_t stepsLeft;
  std::vector<std::vector<Edge>> edges; ///< by place
  std::vector<double> bounds;           ///< by place: a lower bound for what it and all later places cost
  std::vector<size_t> current, best;
  double bestCost = kInfinite;
};

FormGraph::Search::Search(const FormGraph &graph, llvm::ArrayRef<size_t> order, int64_t maxSteps)
    : graph(graph), order(order), stepsLeft(maxSteps), edges(order.size()), current(order.size()), best(order.size()) {
  std::vector<size_t> placeOf(graph.sites.size());
  for (auto [place, site] : llvm::enumerate(order))
    placeOf[site] = place;
  for (auto [place, site] : llvm::enumerate(order))
    for (const Term &term : graph.sites[site].terms)
      edges[place].push_back({placeOf[term.other], &term.costs});
}

/// Returns the cost of a form plus that of its terms with sites at positions before `known`.
double FormGraph::Search::getLocalCost(size_t place, size_t form, llvm::ArrayRef<size_t> forms, size_t known) const {
  double cost = graph.sites[order[place]].costs[form];
  for (const Edge &edge : edges[place])
    cost += edge.other < known ? (*edge.costs)[form][forms[edge.other]] : 0;
  return cost;
}

double FormGraph::Search::getCost(llvm::ArrayRef<size_t> forms) const {
  double cost = 0;
  for (size_t place = 0; place < order.size(); ++place)
    cost += getLocalCost(place, forms[place], forms, place);
  return cost;
}

/// Keeps an assignment if it is cheaper than the best one, or equally cheap and first in lexical order, so that the
/// result does not depend on the order of the search.
void FormGraph::Search::keep(llvm::ArrayRef<size_t> forms, double cost) {
  auto inSiteOrder = [&](llvm::ArrayRef<size_t> of) {
    std::vector<std::pair<size_t, size_t>> pairs;
    for (auto [site, form] : llvm::zip(order, of))
      pairs.emplace_back(site, form);
    llvm::sort(pairs);
    return pairs;
  };
  if (cost > bestCost || (cost == bestCost && inSiteOrder(forms) >= inSiteOrder(best)))
    return;
  bestCost = cost;
  best = forms.vec();
}

/// Changes the form of one site at a time to the cheapest one given all others, until nothing changes.
void FormGraph::Search::improve(std::vector<size_t> forms) {
  bool isChanged = true;
  for (size_t round = 0; isChanged && round <= order.size(); ++round) {
    isChanged = false;
    for (size_t place = 0; place < order.size(); ++place) {
      size_t own = forms[place];
      double least = getLocalCost(place, own, forms, order.size());
      for (size_t form = 0; form < graph.sites[order[place]].costs.size(); ++form)
        if (double cost = getLocalCost(place, form, forms, order.size()); cost < least) {
          least = cost;
          forms[place] = form;
        }
      isChanged |= forms[place] != own;
    }
  }
  keep(forms, getCost(forms));
}

/// A term is counted at the later one of its sites, with the cheapest form of the earlier one.
void FormGraph::Search::setBounds() {
  bounds.assign(order.size() + 1, 0);
  for (size_t place = order.size(); place-- > 0;) {
    double least = kInfinite;
    for (auto [form, own] : llvm::enumerate(graph.sites[order[place]].costs)) {
      double cost = own;
      for (const Edge &edge : edges[place])
        cost += edge.other < place ? *llvm::min_element((*edge.costs)[form]) : 0;
      least = std::min(least, cost);
    }
    bounds[place] = bounds[place + 1] + least;
  }
}

void FormGraph::Search::branch(size_t place, double cost) {
  if (place == order.size())
    return keep(current, cost);
  // An assignment of equal cost may precede the best one in lexical order.
  if (--stepsLeft < 0 || cost + bounds[place] > bestCost)
    return;
  std::vector<std::pair<double, size_t>> forms;
  for (size_t form = 0; form < graph.sites[order[place]].costs.size(); ++form)
    if (double own = getLocalCost(place, form, current, place); own < kInfinite)
      forms.emplace_back(own, form);
  llvm::sort(forms);
  for (auto [own, form] : forms) {
    current[place] = form;
    branch(place + 1, cost + own);
  }
}

void FormGraph::Search::run(FormAssignment &assignment) {
  size_t mostForms = 0;
  for (size_t site : order)
    mostForms = std::max(mostForms, graph.sites[site].costs.size());
  // Starting from assignments with the same form everywhere finds neighbours that only pay off if they change together.
  for (size_t form = 0; form < mostForms; ++form) {
    std::vector<size_t> forms;
    for (size_t site : order)
      forms.push_back(std::min(form, graph.sites[site].costs.size() - 1));
    improve(std::move(forms));
  }
  setBounds();
  branch(0, 0);
  assignment.cost += bestCost;
  assignment.isOptimal &= stepsLeft >= 0;
  for (auto [place, site] : llvm::enumerate(order))
    assignment.forms[site] = best[place];
}

FormAssignment FormGraph::solve(int64_t maxSteps) const {
  FormAssignment assignment;
  assignment.forms.resize(sites.size());
  for (const std::vector<size_t> &component : listComponents())
    Search(*this, component, maxSteps).run(assignment);
  return assignment;
}
