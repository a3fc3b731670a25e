//===- PathSelection.h - which paths the operations of a graph took ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PATHS_PATHSELECTION_H
#define TENON_PASSES_PATHS_PATHSELECTION_H

#include "llvm/ADT/StringRef.h"
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon {

/// The path that an operation took, and its error; 0 if it is as exact as the default implementation.
struct SelectedPath {
  std::string path;
  double error = 0;
};

/// The form that a site of the graph took, and its alternatives (passes/forms).
struct SelectedForm {
  std::string fingerprint; ///< of the site's region
  std::vector<std::string> nodes;
  size_t form = 0, own = 0;                           ///< its place in `cycles`, and that of the default form
  std::vector<std::pair<std::string, double>> cycles; ///< of all forms by estimate; the first is the graph as it stands
};

/// The forms of the graph and the paths of operations that were chosen for each target. In a copy of the graph, the
/// operation at the same position of the function of the same name takes the same path, whatever the machine of the
/// copy is. The class is thread-safe.
class PathSelection {
public:
  /// The position of an operation: its function, and the number of operations of the dialect before it.
  using Place = std::pair<std::string, size_t>;

  void add(llvm::StringRef target, llvm::StringRef function, size_t index, SelectedPath selected);
  std::optional<SelectedPath> find(llvm::StringRef target, llvm::StringRef function, size_t index) const;
  /// Records that the result of an operation is rounded to bf16 before it is read.
  void addRounded(llvm::StringRef target, llvm::StringRef function, size_t index);
  bool isRounded(llvm::StringRef target, llvm::StringRef function, size_t index) const;
  /// Sites are counted in the order of their sources.
  void addForm(llvm::StringRef target, llvm::StringRef function, size_t site, SelectedForm selected);
  /// Returns the number of the form that a site took; none if no form was selected.
  std::optional<size_t> findForm(llvm::StringRef target, llvm::StringRef function, size_t site) const;
  /// Returns the forms of all sites of a target, by function and site.
  std::vector<SelectedForm> listForms(llvm::StringRef target) const;
  /// Describes the choices of all sites and operations of a target; equal texts mean equal selections.
  std::string describe(llvm::StringRef target) const;
  /// Adds what a step's choices for a function of a target cost by estimates and records, in the unit of blendCosts.
  void addCost(llvm::StringRef target, double cost);
  /// Returns the sum of a target; only a ratio of two selections of the same model means anything.
  double getCost(llvm::StringRef target) const;
  void clear();

private:
  mutable std::mutex mutex;
  std::map<std::string, std::map<Place, SelectedPath>, std::less<>> byTarget;
  std::map<std::string, std::set<Place>, std::less<>> rounded; ///< by target
  std::map<std::string, std::map<Place, SelectedForm>, std::less<>> forms;
  std::map<std::string, double, std::less<>> costs; ///< by target
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHSELECTION_H
