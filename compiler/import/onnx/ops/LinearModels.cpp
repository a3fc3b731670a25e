//===- LinearModels.cpp - linear models and support vectors, of domain ai.onnx.ml ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Scores.h"
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

constexpr const char *kIntLabels = "classlabels_ints", *kStringLabels = "classlabels_strings";

/// Reads a list of floats as a matrix of `rows` rows; reports a fault if it is none.
std::optional<Value> readMatrix(Node &n, StringRef name, int64_t rows, Type type) {
  std::optional<SmallVector<double>> numbers = n.getFloats(name);
  int64_t count = numbers ? numbers->size() : 0;
  if (count && rows > 0 && count % rows == 0)
    return n.constantFloats(*numbers, {rows, count / rows}, type);
  (void)n.invalid("'" + name + "' has " + Twine(count) + " numbers, which are not " + Twine(rows) + " rows");
  return std::nullopt;
}

/// Multiplies the rows of two matrices: [a, k] x [b, k] -> [a, b].
Value multiplyRows(Node &n, Value x, Value y) { return n.contract(x, y, {0, 2}, {1, 2}, {0, 1}); }

Value addList(Node &n, Value x, StringRef name) {
  std::optional<SmallVector<double>> numbers = n.getFloats(name);
  if (!numbers || numbers->empty())
    return x;
  return n.add(x, n.constantFloats(*numbers, static_cast<int64_t>(numbers->size()), n.elementType(x)));
}

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

LogicalResult importLinearRegressor(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> x = readFeatures(n);
  std::optional<Value> rows = x ? readMatrix(n, "coefficients", n.getInt("targets", 1), n.f32()) : std::nullopt;
  if (!rows || !transform)
    return failure();
  Value scores = addList(n, multiplyRows(n, n.cast(*x, n.f32()), *rows), "intercepts");
  return n.setResult(transformTargets(n, scores, *transform));
}

LogicalResult importLinearClassifier(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> x = readFeatures(n);
  if (!x || !transform)
    return failure();
  size_t labels = countLabels(n, kIntLabels, kStringLabels);
  std::optional<int64_t> features = getConstant(n.dim(*x, 1));
  int64_t count = n.getFloats("coefficients").value_or(SmallVector<double>()).size();
  // One row for each class, or a single one for two.
  int64_t rows = features && *features > 0 ? count / *features : static_cast<int64_t>(labels);
  std::optional<Value> matrix = readMatrix(n, "coefficients", rows, n.f32());
  if (!matrix)
    return failure();
  Value scores = addList(n, multiplyRows(n, n.cast(*x, n.f32()), *matrix), "intercepts");
  if (rows > 1)
    return failure(failed(setLabels(n, n.argMax(scores, 1, false), kIntLabels, kStringLabels)) ||
                   failed(n.setOutput(1, transformScores(n, scores, *transform))));
  if (labels != 2)
    return n.invalid("has coefficients for one score, and " + Twine(labels) + " labels, which have to be two");
  Value isSecond = n.cast(n.greater(n.squeeze(scores, 1), n.scalarLike(0, scores)), n.i64());
  return failure(failed(setLabels(n, isSecond, kIntLabels, kStringLabels)) ||
                 failed(n.setOutput(1, pairScores(n, scores, *transform, /*sumToOne=*/true))));
}

//===----------------------------------------------------------------------===//
// Support vectors
//===----------------------------------------------------------------------===//

/// Evaluates the kernel function for each row of `x` with each of `vectors`: [rows, vectors].
std::optional<Value> applyKernel(Node &n, Value x, Value vectors) {
  std::string kernel = n.getString("kernel_type", "LINEAR");
  SmallVector<double> params = n.getFloats("kernel_params").value_or(SmallVector<double>());
  params.resize(3, 0);
  auto number = [&](double value) { return n.scalarLike(value, x); };
  if (kernel == "RBF") {
    Value difference = n.sub(n.unsqueeze(x, 1), n.unsqueeze(vectors, 0));
    Value distance = n.reduceSum(n.mul(difference, difference), 2, false);
    return n.exp(n.mul(number(-params[0]), distance));
  }
  Value product = multiplyRows(n, x, vectors);
  Value scaled = n.add(n.mul(product, number(params[0])), number(params[1]));
  if (kernel == "LINEAR")
    return product;
  if (kernel == "POLY")
    return n.pow(scaled, number(params[2]));
  if (kernel == "SIGMOID")
    return n.tanh(scaled);
  (void)n.invalid("'kernel_type' has to be LINEAR, POLY, RBF or SIGMOID, not '" + kernel + "'");
  return std::nullopt;
}

SmallVector<double> readRho(Node &n, size_t count) {
  SmallVector<double> rho = n.getFloats("rho").value_or(SmallVector<double>());
  if (rho.size() < count)
    (void)n.invalid("'rho' has " + Twine(rho.size()) + " numbers, " + Twine(count) + " are wanted");
  rho.resize(std::max(count, rho.size()), 0);
  return rho;
}

LogicalResult importSvmRegressor(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> x = readFeatures(n);
  std::optional<Value> weights = x ? readMatrix(n, "coefficients", 1, n.f32()) : std::nullopt;
  if (!weights || !transform)
    return failure();
  Value values = n.cast(*x, n.f32());
  if (int64_t supports = n.getInt("n_supports", 0)) {
    std::optional<Value> vectors = readMatrix(n, "support_vectors", supports, n.f32());
    std::optional<Value> kernels = vectors ? applyKernel(n, values, *vectors) : std::nullopt;
    if (!kernels)
      return failure();
    values = *kernels;
  }
  Value score = n.add(multiplyRows(n, values, *weights), n.scalar(readRho(n, 1)[0], n.f32()));
  if (n.getBool("one_class", false))
    score = n.select(n.greater(score, n.scalarLike(0, score)), n.scalarLike(1, score), n.scalarLike(-1, score));
  return n.setResult(transformTargets(n, score, *transform));
}

/// A support vector classifier: each pair of classes has a score, which votes for one of the two.
struct PairScores {
  Value scores; ///< [rows, pairs]
  Value votes;  ///< [rows, classes]
};

/// Returns the coefficients of the support vectors in the score of each pair, [pairs, vectors]: the vectors of class i
/// use row j - 1, those of class j row i.
std::optional<Value> readPairWeights(Node &n, IntsRef perClass, int64_t vectors) {
  int64_t classes = perClass.size(), pairs = classes * (classes - 1) / 2;
  std::optional<SmallVector<double>> numbers = n.getFloats("coefficients");
  if (!numbers || static_cast<int64_t>(numbers->size()) != (classes - 1) * vectors) {
    (void)n.invalid("'coefficients' has to have a number for each of " + Twine(vectors) + " support vectors and " +
                    Twine(classes - 1) + " other classes");
    return std::nullopt;
  }
  SmallVector<double> weights(pairs * vectors, 0);
  Ints start{0};
  for (int64_t count : perClass)
    start.push_back(start.back() + count);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for (int64_t v = start[i]; v < start[i + 1]; ++v)
        weights[pair * vectors + v] = (*numbers)[(j - 1) * vectors + v];
      for (int64_t v = start[j]; v < start[j + 1]; ++v)
        weights[pair * vectors + v] = (*numbers)[i * vectors + v];
    }
  return n.constantFloats(weights, {pairs, vectors}, n.f32());
}

/// Returns for each pair a 1 at the class that a positive (or negative) score votes for, [pairs, classes].
Value makeVotes(Node &n, int64_t classes, bool positive) {
  SmallVector<double> votes;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j)
      for (int64_t c = 0; c < classes; ++c)
        votes.push_back(c == (positive ? i : j));
  return n.constantFloats(votes, {classes * (classes - 1) / 2, classes}, n.f32());
}

std::optional<PairScores> scorePairs(Node &n, Value x, IntsRef perClass) {
  int64_t vectors = 0, classes = perClass.size();
  for (int64_t count : perClass)
    if (count < 0 || __builtin_add_overflow(vectors, count, &vectors)) {
      (void)n.invalid("'vectors_per_class' has a number that cannot be");
      return std::nullopt;
    }
  std::optional<Value> table = readMatrix(n, "support_vectors", vectors, n.f32());
  std::optional<Value> weights = table ? readPairWeights(n, perClass, vectors) : std::nullopt;
  std::optional<Value> kernels = weights ? applyKernel(n, x, *table) : std::nullopt;
  if (!kernels)
    return std::nullopt;
  size_t pairs = classes * (classes - 1) / 2;
  SmallVector<double> rho = readRho(n, pairs);
  rho.truncate(pairs);
  Value scores =
      n.add(multiplyRows(n, *kernels, *weights), n.constantFloats(rho, static_cast<int64_t>(pairs), n.f32()));
  Value isPositive = n.greater(scores, n.scalarLike(0, scores));
  Value wins = n.matmul(n.cast(isPositive, n.f32()), makeVotes(n, classes, true));
  Value losses = n.matmul(n.cast(n.bitNot(isPositive), n.f32()), makeVotes(n, classes, false));
  return PairScores{scores, n.add(wins, losses)};
}

/// Computes probabilities of classes from those of pairs by the second method of Wu, Lin and Weng (Probability
/// estimates for multi-class classification by pairwise coupling, 2004): the minimum of sum (r_ji p_i - r_ij p_j)^2.
/// The linear system is solved exactly; libsvm and ONNX Runtime iterate to an error of 0.005 / classes.
Value couplePairs(Node &n, Value scores, ArrayRef<double> a, ArrayRef<double> b, int64_t classes) {
  Type type = n.f64();
  int64_t pairs = classes * (classes - 1) / 2;
  auto number = [&](double value) { return n.scalar(value, type); };
  Value s = n.cast(scores, type);
  Value logit = n.add(n.mul(s, n.constantFloats(a, pairs, type)), n.constantFloats(b, pairs, type));
  Value r = n.min(n.max(n.sigmoid(n.neg(logit)), number(1e-7)), number(1 - 1e-7));
  // [rows, classes, classes]: the probability of class i against class j.
  SmallVector<Value> elements;
  auto column = [&](int64_t pair) { return n.sliceAxis(r, 1, n.constantDim(pair), n.constantDim(1)); };
  Value none = n.mul(column(0), number(0));
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = 0; j < classes; ++j) {
      int64_t low = std::min(i, j), high = std::max(i, j), pair = low * (2 * classes - low - 1) / 2 + high - low - 1;
      elements.push_back(i == j ? none : i < j ? column(pair) : n.sub(number(1), column(pair)));
    }
  AffineExpr count = n.constantDim(classes);
  Value against = n.reshape(n.concat(elements, 1), {n.dim(scores, 0), count, count});
  Value backwards = n.transpose(against, {0, 2, 1});
  Dims square{count, count};
  Value isDiagonal = n.equal(n.iota(square, 0, n.i64()), n.iota(square, 1, n.i64()));
  Value diagonal = n.reduceSum(n.mul(backwards, backwards), 2);
  // If the pairs are consistent, the matrix is singular, and the solution is in its kernel: a small addition to the
  // diagonal makes it solvable.
  Value system = n.select(isDiagonal, n.add(diagonal, number(1e-9)), n.neg(n.mul(against, backwards)));
  Value p = n.broadcast(number(1), {n.dim(scores, 0), count, n.constantDim(1)});
  for (int64_t k = 0; k < classes; ++k) {
    auto row = [&](Value x) { return n.sliceAxis(x, 1, n.constantDim(k), n.constantDim(1)); };
    Value pivot = n.sliceAxis(row(system), 2, n.constantDim(k), n.constantDim(1));
    Value factor = n.div(n.sliceAxis(system, 2, n.constantDim(k), n.constantDim(1)), pivot);
    Value isOther = n.unsqueeze(n.notEqual(n.iota(count, 0, n.i64()), n.scalar(k, n.i64())), 1);
    factor = n.select(isOther, factor, number(0));
    Value nextP = n.sub(p, n.mul(factor, row(p)));
    system = n.sub(system, n.mul(factor, row(system)));
    p = nextP;
  }
  p = n.div(p, n.reduceSum(n.select(isDiagonal, system, number(0)), 2));
  p = n.squeeze(p, 2);
  return n.cast(n.div(p, n.reduceSum(p, 1)), n.f32());
}

LogicalResult importSvmClassifier(Node &n) {
  std::optional<PostTransform> transform = readPostTransform(n);
  std::optional<Value> features = readFeatures(n);
  if (!features || !transform)
    return failure();
  Value x = n.cast(*features, n.f32());
  Ints perClass = n.getInts("vectors_per_class").value_or(Ints());
  int64_t labels = countLabels(n, kIntLabels, kStringLabels);
  SmallVector<double> weights = n.getFloats("coefficients").value_or(SmallVector<double>());
  bool isPositive = llvm::all_of(weights, [](double weight) { return weight >= 0; });
  Value scores, votes;
  bool hasProbabilities = false;
  if (perClass.empty()) {
    std::optional<Value> rows = readMatrix(n, "coefficients", std::max<int64_t>(labels, 1), n.f32());
    if (!rows)
      return failure();
    scores = n.add(multiplyRows(n, x, *rows), n.scalar(readRho(n, 1)[0], n.f32()));
    votes = scores;
  } else {
    if (perClass.size() > 128)
      return n.unsupported("has " + Twine(perClass.size()) + " classes; 128 are supported");
    if (perClass.size() < 2 || (labels && labels != static_cast<int64_t>(perClass.size())))
      return n.invalid("has " + Twine(labels) + " labels, and support vectors of " + Twine(perClass.size()) +
                       " classes");
    std::optional<PairScores> pairs = scorePairs(n, x, perClass);
    if (!pairs)
      return failure();
    SmallVector<double> a = n.getFloats("prob_a").value_or(SmallVector<double>()),
                        b = n.getFloats("prob_b").value_or(SmallVector<double>());
    size_t pairCount = perClass.size() * (perClass.size() - 1) / 2;
    hasProbabilities = !a.empty();
    if (hasProbabilities && (a.size() != pairCount || b.size() != pairCount || perClass.size() > 64))
      return n.invalid("'prob_a' and 'prob_b' have to have a number for each of " + Twine(pairCount) +
                       " pairs, of at most 64 classes");
    votes = pairs->votes;
    scores = hasProbabilities ? couplePairs(n, pairs->scores, a, b, perClass.size()) : pairs->scores;
  }
  Value best = n.argMax(votes, 1, false);
  if (labels == 2 && !hasProbabilities && isPositive) {
    // With the scores of a single class, the second label is chosen above a threshold.
    Value isEnough = n.greaterOrEqual(n.reduceMax(votes, 1, false), n.scalarLike(0.5, votes));
    best = n.select(isEnough, n.scalar(1, n.i64()), best);
  }
  bool isSingle = getConstant(n.dim(scores, 1)) == 1;
  scores = !isSingle ? transformScores(n, scores, *transform)
           : *transform == PostTransform::softmax || *transform == PostTransform::softmaxZero
               ? transformScores(n, pairScores(n, scores, PostTransform::none, false), *transform)
               : pairScores(n, scores, *transform, false);
  return failure(failed(setLabels(n, best, kIntLabels, kStringLabels)) || failed(n.setOutput(1, scores)));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getLinearModelOps() {
  static const OpEntry ops[] = {
      {"LinearClassifier", importLinearClassifier},
      {"LinearRegressor", importLinearRegressor},
      {"SVMClassifier", importSvmClassifier},
      {"SVMRegressor", importSvmRegressor},
  };
  return ops;
}
