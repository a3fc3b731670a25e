//===- Forest.h - decision trees as tables --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_OPS_FOREST_H
#define TENON_COMPILER_IMPORT_ONNX_OPS_FOREST_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::onnx_import {

/// What a leaf adds to the scores.
struct LeafScore {
  int64_t leaf, target;
  double weight;
};

/// All trees: one row per node, as in the dialect's tree_ensemble. A leaf has no feature; `leafOf` is its number among
/// the leaves.
struct Forest {
  llvm::SmallVector<int64_t> features, modes, ifTrue, ifFalse, roots, leafOf;
  llvm::SmallVector<double> thresholds;
  llvm::SmallVector<LeafScore> scores;
  int64_t leafCount = 0;

  int64_t addNode(int64_t feature, int64_t mode, double threshold, int64_t yes, int64_t no) {
    features.push_back(feature);
    modes.push_back(mode);
    thresholds.push_back(threshold);
    ifTrue.push_back(yes);
    ifFalse.push_back(no);
    leafOf.push_back(0);
    return features.size() - 1;
  }
  int64_t addLeaf() {
    int64_t node = addNode(-1, 0, 0, 0, 0);
    leafOf[node] = leafCount++;
    return node;
  }
  bool isLeaf(int64_t node) const { return features[node] < 0; }
};

/// Whether a walk may come back to a node.
bool hasCycle(const Forest &f);

/// The entries of each leaf as a row of `width`, padded with an invalid target.
struct LeafTable {
  int64_t width = 1;
  llvm::SmallVector<int64_t> targets;
  llvm::SmallVector<double> weights;
};

LeafTable makeLeafTable(const Forest &f);

/// True if a table of all leaves and all targets is not much larger than the model's entries.
bool isDense(const Forest &f, int64_t targets);

/// Returns the weight of each leaf for each target, [leaves, targets]; `start` if it has none.
std::vector<double> makeDenseWeights(const Forest &f, int64_t targets, double start);

/// The trees of a forest in which all leaves of a tree have the same target, as in a boosted classifier with one tree
/// per class and round.
struct TreesByTarget {
  int64_t targets;
  std::vector<int64_t> roots; ///< [places, targets]: the trees of a target in their order, then leaves that add nothing
  std::vector<double> weights; ///< of each node: what it adds where a walk ends there, to the target of its tree
};

/// Returns none if a tree has several targets, or if the numbers of trees per target differ so much that most entries
/// would be empty. May add a leaf. `f` must have no cycle, and `start` is the value of a target without any weight.
std::optional<TreesByTarget> groupByTarget(Forest &f, int64_t targets, double start);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_OPS_FOREST_H
