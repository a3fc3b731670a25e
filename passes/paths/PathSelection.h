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

/// A path that an operation took, and how far it is off; 0 for one that is as exact as the default implementation.
struct SelectedPath {
  std::string path;
  double error = 0;
};

/// The form that a site of the graph took, with all that it could have taken. What forms are is in passes/forms.
struct SelectedForm {
  std::string fingerprint; ///< of the site's region
  std::vector<std::string> nodes;
  size_t form = 0, own = 0;                           ///< its place in `cycles`, and that of the default form
  std::vector<std::pair<std::string, double>> cycles; ///< of all forms by estimate; the first is the graph as it stands
};

/// The paths that operations took for each target, and before that the forms of the graph. In a copy of the graph the
/// operation at the same place of the function of the same name takes the same path, whatever the machine that the copy
/// is for. Several threads may use it.
class PathSelection {
public:
  /// Where an operation is: the function that it is in, and how many operations of the dialect stand before it.
  using Place = std::pair<std::string, size_t>;

  void add(llvm::StringRef target, llvm::StringRef function, size_t index, SelectedPath selected);
  std::optional<SelectedPath> find(llvm::StringRef target, llvm::StringRef function, size_t index) const;
  /// The result of an operation is rounded to bf16 before anything reads it.
  void addRounded(llvm::StringRef target, llvm::StringRef function, size_t index);
  bool isRounded(llvm::StringRef target, llvm::StringRef function, size_t index) const;
  /// Sites are counted in the order of their sources.
  void addForm(llvm::StringRef target, llvm::StringRef function, size_t site, SelectedForm selected);
  /// The place of the form that a site took; nothing where none was selected.
  std::optional<size_t> findForm(llvm::StringRef target, llvm::StringRef function, size_t site) const;
  /// The forms of all sites of a target, by function and site.
  std::vector<SelectedForm> listForms(llvm::StringRef target) const;
  /// What all sites and operations of a target took; equal texts are the same selection.
  std::string describe(llvm::StringRef target) const;
  void clear();

private:
  mutable std::mutex mutex;
  std::map<std::string, std::map<Place, SelectedPath>, std::less<>> byTarget;
  std::map<std::string, std::set<Place>, std::less<>> rounded; ///< by target
  std::map<std::string, std::map<Place, SelectedForm>, std::less<>> forms;
};

} // namespace tenon

#endif // TENON_PASSES_PATHS_PATHSELECTION_H
