//===- Trees.cpp - ensembles of decision trees, of domain ai.onnx.ml -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Forest.h"
#include "compiler/import/onnx/ops/Scores.h"
#include "llvm/ADT/StringSwitch.h"
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// The comparison of a node, numbered as in the dialect's tree_ensemble; set membership becomes a chain of equalities.
enum Mode : int64_t { lessOrEqual, less, greaterOrEqual, greater, equal, notEqual, member, tracksMissing = 8 };

/// Checks the conditions that hold for trees in any representation.
LogicalResult checkForest(Node &n, const Forest &f, Value x, int64_t targets) {
  std::optional<int64_t> features = getConstant(n.dim(x, 1));
  for (int64_t feature : f.features)
    if (features && feature >= *features)
      return n.invalid("a node tests feature " + Twine(feature) + " of " + Twine(*features));
  if (!features && !f.features.empty())
    n.require(subDims(n.dim(x, 1), n.constantDim(*llvm::max_element(f.features) + 1)),
              "tests more features than there are");
  for (const LeafScore &score : f.scores)
    if (score.target < 0 || score.target >= targets)
      return n.invalid("a leaf adds to score " + Twine(score.target) + " of " + Twine(targets));
  if (hasCycle(f))
    return n.invalid("its trees have a cycle of nodes");
  return f.roots.empty() ? n.invalid("has no trees") : success();
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

enum class Aggregate { average, sum, min, max };

Value reduceLeaves(Node &n, Value x, IntsRef axes, Aggregate aggregate) {
  if (aggregate == Aggregate::min)
    return n.reduceMin(x, axes, false);
  return aggregate == Aggregate::max ? n.reduceMax(x, axes, false) : n.reduceSum(x, axes, false);
}

/// What a target starts from.
double getStart(Aggregate aggregate, Type type) {
  double largest = type.isF64() ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return aggregate == Aggregate::min ? largest : aggregate == Aggregate::max ? -largest : 0;
}

Value makeTable(Node &n, IntsRef values) { return n.constantInts(values, values.size(), n.i64()); }

/// Returns the leaf at which each row's walk through each tree ends, [rows, dimensions of `roots`...].
Value walk(Node &n, const Forest &f, Value x, Value roots) {
  int64_t nodes = f.features.size();
  return n.treeEnsemble(x, roots,
                        {makeTable(n, f.features), n.constantFloats(f.thresholds, nodes, n.elementType(x)),
                         makeTable(n, f.modes), makeTable(n, f.ifTrue), makeTable(n, f.ifFalse)});
}

/// Returns scores [rows, targets] if each tree adds to a single target.
Value joinTreeScores(Node &n, const Forest &f, const TreesByTarget &trees, Value x, Aggregate aggregate) {
  int64_t targets = trees.targets, places = trees.roots.size() / targets;
  assert(trees.roots.size() % targets == 0 && "each target has the same number of places");
  Value end = walk(n, f, x, n.constantInts(trees.roots, {places, targets}, n.i64()));
  Value weights = n.constantFloats(trees.weights, trees.weights.size(), n.elementType(x));
  return reduceLeaves(n, n.gather(weights, end, 0), 1, aggregate);
}

/// Returns scores [rows, targets] if a leaf may add to any number of targets.
Value joinLeafScores(Node &n, const Forest &f, Value x, int64_t targets, Aggregate aggregate) {
  Type type = n.elementType(x);
  double start = getStart(aggregate, type);
  Value leaves = n.gather(makeTable(n, f.leafOf), walk(n, f, x, n.constantInts(f.roots)), 0);
  if (isDense(f, targets)) {
    Value table = n.constantFloats(makeDenseWeights(f, targets, start), {f.leafCount, targets}, type);
    return reduceLeaves(n, n.gather(table, leaves, 0), 1, aggregate);
  }
  LeafTable table = makeLeafTable(f);
  Value target = n.gather(n.constantInts(table.targets, {f.leafCount, table.width}, n.i64()), leaves, 0);
  Value weight = n.gather(n.constantFloats(table.weights, {f.leafCount, table.width}, type), leaves, 0);
  Value isOwn = n.equal(n.unsqueeze(target, 3), n.iota(n.constantDim(targets), 0, n.i64()));
  return reduceLeaves(n, n.select(isOwn, n.unsqueeze(weight, 3), n.scalar(start, type)), {1, 2}, aggregate);
}

Value computeScores(Node &n, Forest &f, Value x, int64_t targets, Aggregate aggregate) {
  Type type = n.elementType(x);
  std::optional<TreesByTarget> trees = groupByTarget(f, targets, getStart(aggregate, type));
  Value scores = trees ? joinTreeScores(n, f, *trees, x, aggregate) : joinLeafScores(n, f, x, targets, aggregate);
  if (aggregate != Aggregate::average)
    return scores;
  return n.div(scores, n.scalar(static_cast<double>(f.roots.size()), type));
}

//===----------------------------------------------------------------------===//
// TreeEnsembleClassifier and TreeEnsembleRegressor: nodes by the numbers of trees and nodes
//===----------------------------------------------------------------------===//

/// Reads floats from an attribute, or from a tensor attribute with a suffixed name.
std::optional<SmallVector<double>> readFloats(Node &n, StringRef name) {
  ElementsAttr tensor = n.getTensor((name + "_as_tensor").str());
  if (!tensor)
    return n.getFloats(name);
  SmallVector<double> numbers;
  if (!isa<FloatType>(tensor.getElementType())) {
    (void)n.invalid("'" + name + "_as_tensor' has to hold floats");
    return std::nullopt;
  }
  for (APFloat number : toDense(tensor).getValues<APFloat>())
    numbers.push_back(tensor.getElementType().isF64() ? number.convertToDouble() : number.convertToFloat());
  return numbers;
}

std::optional<int64_t> parseMode(StringRef text) {
  constexpr int64_t kLeaf = -1;
  return llvm::StringSwitch<std::optional<int64_t>>(text)
      .Case("BRANCH_LEQ", lessOrEqual)
      .Case("BRANCH_LT", less)
      .Case("BRANCH_GTE", greaterOrEqual)
      .Case("BRANCH_GT", greater)
      .Case("BRANCH_EQ", equal)
      .Case("BRANCH_NEQ", notEqual)
      .Case("LEAF", kLeaf)
      .Default(std::nullopt);
}

/// An ordered map, because the keys are arbitrary numbers of the model, and LLVM's hash map reserves some.
using NodeIndex = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// The lists with one entry per node, all of the same length.
struct NodeLists {
  Ints trees, nodes, features, ifTrue, ifFalse, missing;
  SmallVector<double> values;
  SmallVector<std::string> modes;
};

std::optional<NodeLists> readNodeLists(Node &n) {
  auto ints = [&](StringRef name) { return n.getInts(name).value_or(Ints()); };
  NodeLists l{ints("nodes_treeids"),
              ints("nodes_nodeids"),
              ints("nodes_featureids"),
              ints("nodes_truenodeids"),
              ints("nodes_falsenodeids"),
              ints("nodes_missing_value_tracks_true"),
              readFloats(n, "nodes_values").value_or(SmallVector<double>()),
              n.getStrings("nodes_modes").value_or(SmallVector<std::string>())};
  size_t count = l.trees.size();
  if (l.missing.empty())
    l.missing.assign(count, 0);
  for (size_t size : {l.nodes.size(), l.features.size(), l.ifTrue.size(), l.ifFalse.size(), l.missing.size(),
                      l.values.size(), l.modes.size()})
    if (size != count) {
      (void)n.invalid("lists of nodes have " + Twine(count) + " and " + Twine(size) +
                      " entries, which have to be as many");
      return std::nullopt;
    }
  return l;
}

LogicalResult addNodes(Node &n, const NodeLists &l, Forest &f, NodeIndex &index) {
  for (size_t i = 0; i < l.trees.size(); ++i)
    if (!index.try_emplace({l.trees[i], l.nodes[i]}, i).second)
      return n.invalid("node " + Twine(l.nodes[i]) + " of tree " + Twine(l.trees[i]) + " is there twice");
  std::set<int64_t> rooted;
  for (size_t i = 0; i < l.trees.size(); ++i) {
    std::optional<int64_t> mode = parseMode(l.modes[i]);
    if (!mode)
      return n.invalid("'nodes_modes' has no '" + l.modes[i] + "'");
    // The first node of a tree is its root.
    if (rooted.insert(l.trees[i]).second)
      f.roots.push_back(i);
    if (*mode < 0) {
      f.addLeaf();
      continue;
    }
    auto yes = index.find({l.trees[i], l.ifTrue[i]}), no = index.find({l.trees[i], l.ifFalse[i]});
    if (yes == index.end() || no == index.end() || l.features[i] < 0)
      return n.invalid("node " + Twine(l.nodes[i]) + " of tree " + Twine(l.trees[i]) +
                       " leads to a node that is not there");
    f.addNode(l.features[i], *mode | (l.missing[i] ? tracksMissing : 0), l.values[i], yes->second, no->second);
  }
  return success();
}

/// What leaves add: `prefix` is class or target.
LogicalResult addScores(Node &n, StringRef prefix, const NodeIndex &index, Forest &f) {
  auto ints = [&](StringRef name) { return n.getInts((prefix + name).str()).value_or(Ints()); };
  Ints trees = ints("_treeids"), nodes = ints("_nodeids"), targets = ints("_ids");
  SmallVector<double> weights = readFloats(n, (prefix + "_weights").str()).value_or(SmallVector<double>());
  if (nodes.size() != trees.size() || targets.size() != trees.size() || weights.size() != trees.size())
    return n.invalid("lists of weights have different lengths");
  for (size_t i = 0; i < trees.size(); ++i) {
    auto it = index.find({trees[i], nodes[i]});
    if (it == index.end() || !f.isLeaf(it->second))
      return n.invalid("weight number " + Twine(i) + " belongs to no leaf");
    f.scores.push_back({f.leafOf[it->second], targets[i], weights[i]});
  }
  return success();
}

std::optional<Forest> readForest(Node &n, StringRef prefix) {
  std::optional<NodeLists> lists = readNodeLists(n);
  Forest f;
  NodeIndex index;
  if (!lists || failed(addNodes(n, *lists, f, index)) || failed(addScores(n, prefix, index, f)))
    return std::nullopt;
  return f;
}

/// Returns the features in the type of the thresholds: f64 if the input or a tensor of thresholds is f64.
std::optional<Value> readTreeFeatures(Node &n) {
  std::optional<Value> x = readFeatures(n);
  ElementsAttr thresholds = n.getTensor("nodes_values_as_tensor");
  if (x && thresholds && thresholds.getElementType().isF64())
    return n.cast(*x, n.f64());
  return x;
}

Value addBase(Node &n, Value scores, int64_t targets) {
  std::optional<SmallVector<double>> base = readFloats(n, "base_values");
  int64_t count = base ? base->size() : 0;
  if (count && count != 1 && count != targets)
    (void)n.invalid("'base_values' has " + Twine(count) + " numbers for " + Twine(targets) + " scores");
  return count ? n.add(scores, n.constantFloats(*base, count, n.elementType(scores))) : scores;
}

LogicalResult importRegressor(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> x = readTreeFeatures(n);
  std::optional<Forest> f = x ? readForest(n, "target") : std::nullopt;
  if (!f || !transform)
    return failure();
  std::string name = n.getString("aggregate_function", "SUM");
  auto aggregate = llvm::StringSwitch<std::optional<Aggregate>>(name)
                       .Case("AVERAGE", Aggregate::average)
                       .Case("SUM", Aggregate::sum)
                       .Case("MIN", Aggregate::min)
                       .Case("MAX", Aggregate::max)
                       .Default(std::nullopt);
  int64_t targets = n.getInt("n_targets", 1);
  if (!aggregate || targets < 1)
    return n.invalid("'aggregate_function' has to be AVERAGE, SUM, MIN or MAX, and 'n_targets' at least 1");
  if (failed(checkForest(n, *f, *x, targets)))
    return failure();
  Value scores = addBase(n, computeScores(n, *f, *x, targets, *aggregate), targets);
  return n.setResult(n.cast(transformTargets(n, scores, *transform), n.f32()));
}

constexpr const char *kIntLabels = "classlabels_int64s", *kStringLabels = "classlabels_strings";

/// Handles one score for two classes: a probability if no weight is negative, otherwise a signed distance.
LogicalResult setBinaryScores(Node &n, const Forest &f, Value score, PostTransform transform) {
  bool isProbability = llvm::all_of(f.scores, [](const LeafScore &s) { return s.weight >= 0; });
  Value isSecond = n.greater(n.squeeze(score, 1), n.scalarLike(isProbability ? 0.5 : 0, score));
  return failure(failed(setLabels(n, n.cast(isSecond, n.i64()), kIntLabels, kStringLabels)) ||
                 failed(n.setOutput(1, n.cast(pairScores(n, score, transform, isProbability), n.f32()))));
}

/// Handles a single label: the result is 1 if the score is positive, otherwise 0.
LogicalResult setSingleScore(Node &n, Value score, PostTransform transform) {
  Value isPositive = n.greater(n.squeeze(score, 1), n.scalarLike(0, score));
  return failure(failed(n.setOutput(0, n.cast(isPositive, n.i64()))) ||
                 failed(n.setOutput(1, n.cast(transformTargets(n, score, transform), n.f32()))));
}

LogicalResult importClassifier(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> x = readTreeFeatures(n);
  std::optional<Forest> f = x ? readForest(n, "class") : std::nullopt;
  if (!f || !transform)
    return failure();
  int64_t classes = countLabels(n, kIntLabels, kStringLabels);
  if (classes < 1)
    return n.invalid("has no labels");
  if (failed(checkForest(n, *f, *x, classes)))
    return failure();
  bool isBinary = classes == 2 && llvm::all_of(f->scores, [](const LeafScore &s) { return s.target == 0; });
  int64_t columns = isBinary ? 1 : classes;
  Value scores = addBase(n, computeScores(n, *f, *x, columns, Aggregate::sum), columns);
  if (isBinary)
    return setBinaryScores(n, *f, scores, *transform);
  if (classes == 1)
    return setSingleScore(n, scores, *transform);
  return failure(failed(setLabels(n, n.argMax(scores, 1, false), kIntLabels, kStringLabels)) ||
                 failed(n.setOutput(1, n.cast(transformScores(n, scores, *transform), n.f32()))));
}

//===----------------------------------------------------------------------===//
// TreeEnsemble: nodes and leaves by their places
//===----------------------------------------------------------------------===//

SmallVector<double> readTensor(Node &n, StringRef name) {
  SmallVector<double> numbers;
  ElementsAttr tensor = n.getTensor(name);
  if (!tensor)
    return numbers;
  if (auto type = dyn_cast<FloatType>(tensor.getElementType())) {
    for (APFloat number : toDense(tensor).getValues<APFloat>()) {
      bool lost;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      numbers.push_back(number.convertToDouble());
    }
    return numbers;
  }
  for (APInt number : toDense(tensor).getValues<APInt>())
    numbers.push_back(static_cast<double>(number.getZExtValue()));
  return numbers;
}

/// Reads the members of each set, which are terminated by NaN, in the order of their nodes.
SmallVector<SmallVector<double>> readSets(Node &n) {
  SmallVector<SmallVector<double>> sets(1);
  for (double value : readTensor(n, "membership_values")) {
    if (std::isnan(value))
      sets.emplace_back();
    else
      sets.back().push_back(value);
  }
  sets.pop_back();
  return sets;
}

/// Appends a chain of equalities for the set of node `first` to the end of the tables.
void expandSet(Forest &f, int64_t first, ArrayRef<double> values) {
  assert(first < static_cast<int64_t>(f.features.size()) && !f.isLeaf(first) &&
         "a set is tested by a node that branches");
  int64_t flags = f.modes[first] & tracksMissing;
  f.modes[first] = equal | flags;
  f.thresholds[first] = values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.front();
  int64_t last = first, otherwise = f.ifFalse[first];
  for (double value : values.drop_front(values.empty() ? 0 : 1)) {
    int64_t next = f.addNode(f.features[first], equal, value, f.ifTrue[first], otherwise);
    f.ifFalse[last] = next;
    last = next;
  }
}

std::optional<Forest> readPlacedForest(Node &n) {
  auto ints = [&](StringRef name) { return n.getInts(name).value_or(Ints()); };
  Ints features = ints("nodes_featureids"), ifTrue = ints("nodes_truenodeids"), ifFalse = ints("nodes_falsenodeids"),
       trueLeaf = ints("nodes_trueleafs"), falseLeaf = ints("nodes_falseleafs"), targets = ints("leaf_targetids"),
       missing = ints("nodes_missing_value_tracks_true");
  SmallVector<double> splits = readTensor(n, "nodes_splits"), modes = readTensor(n, "nodes_modes"),
                      weights = readTensor(n, "leaf_weights");
  int64_t nodes = features.size(), leaves = targets.size();
  missing.resize(missing.empty() ? nodes : missing.size(), 0);
  for (size_t size :
       {ifTrue.size(), ifFalse.size(), trueLeaf.size(), falseLeaf.size(), splits.size(), modes.size(), missing.size()})
    if (static_cast<int64_t>(size) != nodes || static_cast<int64_t>(weights.size()) != leaves) {
      (void)n.invalid("lists of nodes have " + Twine(nodes) + " and " + Twine(size) + " entries, those of leaves " +
                      Twine(leaves) + " and " + Twine(weights.size()));
      return std::nullopt;
    }
  Forest f;
  // Leaves stand after the nodes.
  auto isChild = [&](int64_t child, int64_t isLeaf) { return child >= 0 && child < (isLeaf ? leaves : nodes); };
  for (int64_t i = 0; i < nodes; ++i) {
    if (!isChild(ifTrue[i], trueLeaf[i]) || !isChild(ifFalse[i], falseLeaf[i]) || features[i] < 0 ||
        modes[i] > double(member)) {
      (void)n.invalid("node " + Twine(i) + " leads to a node that is not there, or compares in no known way");
      return std::nullopt;
    }
    f.addNode(features[i], static_cast<int64_t>(modes[i]) | (missing[i] ? tracksMissing : 0), splits[i],
              ifTrue[i] + (trueLeaf[i] ? nodes : 0), ifFalse[i] + (falseLeaf[i] ? nodes : 0));
  }
  for (int64_t i = 0; i < leaves; ++i)
    f.scores.push_back({f.leafOf[f.addLeaf()], targets[i], weights[i]});
  SmallVector<SmallVector<double>> sets = readSets(n);
  size_t next = 0;
  for (int64_t i = 0; i < nodes; ++i)
    if ((f.modes[i] & ~tracksMissing) == member) {
      if (next == sets.size()) {
        (void)n.invalid("'membership_values' has " + Twine(next) + " sets, each ended by NaN, which are too few");
        return std::nullopt;
      }
      expandSet(f, i, sets[next++]);
    }
  f.roots = ints("tree_roots");
  for (int64_t root : f.roots)
    if (root < 0 || root >= nodes) {
      (void)n.invalid("a tree begins at node " + Twine(root) + " of " + Twine(nodes));
      return std::nullopt;
    }
  return f;
}

LogicalResult importEnsemble(Node &n) {
  Value x = n.input(0);
  std::optional<Forest> f = readPlacedForest(n);
  int64_t aggregate = n.getInt("aggregate_function", 1), transform = n.getInt("post_transform", 0),
          targets = n.getInt("n_targets", 1);
  if (!f)
    return failure();
  if (n.rank(x) != 2 || aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4 || targets < 1)
    return n.invalid("needs an input [rows, features], 'aggregate_function' from 0 to 3, 'post_transform' from 0 to 4 "
                     "and 'n_targets' of at least 1");
  if (failed(checkForest(n, *f, x, targets)))
    return failure();
  Value scores = computeScores(n, *f, x, targets, static_cast<Aggregate>(aggregate));
  return n.setResult(transformTargets(n, scores, static_cast<PostTransform>(transform)));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getTreeOps() {
  static const OpEntry ops[] = {
      {"TreeEnsemble", importEnsemble},
      {"TreeEnsembleClassifier", importClassifier},
      {"TreeEnsembleRegressor", importRegressor},
  };
  return ops;
}
