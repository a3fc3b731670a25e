//===- Random.cpp - random numbers, and what drops at random -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/RandomSource.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Where numbers come from
//===----------------------------------------------------------------------===//

/// Returns the random numbers of one node: unused streams of the run's seed, or those of the node's seed attribute, so
/// that equal seeds yield equal numbers. The seed is a float, except for Dropout.
RandomSource makeSource(Node &n, bool isIntegerSeed = false) {
  if (!n.hasAttr("seed"))
    return RandomSource(n, n.runSeed(), n.importer.takeRandomStreams(RandomSource::kStreams));
  int64_t seed =
      isIntegerSeed ? n.getInt("seed", 0) : llvm::bit_cast<int32_t>(static_cast<float>(n.getFloat("seed", 0)));
  return RandomSource(n, n.constantInts(seed, {}, n.i64()), 0);
}

/// The `shape` attribute.
std::optional<Dims> readShape(Node &n) {
  std::optional<Ints> shape = n.getInts("shape");
  if (shape && llvm::all_of(*shape, [](int64_t size) { return size >= 0; }))
    return n.constantDims(*shape);
  (void)n.invalid("needs a 'shape' of numbers that are not negative");
  return std::nullopt;
}

/// The `dtype` attribute; it has to be a float.
Type readFloatType(Node &n, Type fallback) {
  Type type = n.getDataType("dtype", fallback);
  if (!n.hasFault() && !isa<FloatType>(type))
    (void)n.invalid("'dtype' has to be a float");
  return isa<FloatType>(type) ? type : n.f32();
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

LogicalResult setNormal(Node &n, ArrayRef<AffineExpr> shape, Type type) {
  Value z = makeSource(n).normal(shape, type);
  Value scaled = n.mul(z, n.scalarLike(n.getFloat("scale", 1), z));
  return n.setResult(n.cast(n.add(scaled, n.scalarLike(n.getFloat("mean", 0), z)), type));
}

LogicalResult setUniform(Node &n, ArrayRef<AffineExpr> shape, Type type) {
  double low = n.getFloat("low", 0), high = n.getFloat("high", 1);
  Value u = makeSource(n).uniform(shape, type);
  return n.setResult(n.add(n.mul(u, n.scalar(high - low, type)), n.scalar(low, type)));
}

using Distribution = LogicalResult (*)(Node &, ArrayRef<AffineExpr>, Type);

template <Distribution set> LogicalResult importRandom(Node &n) {
  std::optional<Dims> shape = readShape(n);
  return shape ? set(n, *shape, readFloatType(n, n.f32())) : failure();
}

template <Distribution set> LogicalResult importRandomLike(Node &n) {
  RankedTensorType like = n.inputType(0);
  return set(n, getDims(like), readFloatType(n, like.getElementType()));
}

LogicalResult importBernoulli(Node &n) {
  Value x = n.input(0);
  Type type = n.getDataType("dtype", n.elementType(x));
  Value drawn = makeSource(n).uniform(n.dims(x), n.elementType(x));
  return n.setResult(n.cast(n.less(drawn, x), type));
}

/// The class is the number of cumulative probabilities of a row that are below a random fraction of their total.
LogicalResult importMultinomial(Node &n) {
  Value x = n.input(0);
  int64_t samples = n.getInt("sample_size", 1);
  Type type = n.getDataType("dtype", n.i32());
  if (n.rank(x) != 2 || samples < 1)
    return n.invalid("needs logarithms [batch, class] and a 'sample_size' of at least 1, found " +
                     dimsToString(n.dims(x)) + " and " + Twine(samples));
  if (!n.elementType(x).isF64())
    x = n.cast(x, n.f32());
  AffineExpr batch = n.dim(x, 0), classes = n.dim(x, 1);
  Value sums = n.cumulativeSum(n.exp(n.sub(x, n.reduceMax(x, 1))), 1);
  Value total = n.sliceAxis(sums, 1, subDims(classes, n.constantDim(1)), n.constantDim(1));
  Value part = n.mul(makeSource(n).uniform({batch, n.constantDim(samples)}, n.elementType(x)), total);
  Value passed = n.lessOrEqual(n.unsqueeze(sums, 1), n.unsqueeze(part, 2));
  Value index = n.reduceSum(n.cast(passed, n.i64()), 2, false);
  Value last = n.size(subDims(classes, n.constantDim(1)), n.i64());
  return n.setResult(n.cast(n.min(index, last), type));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

LogicalResult setMask(Node &n, Value x, Value mask) {
  Type type = n.getOpset() < 10 ? n.elementType(x) : n.i1();
  if (!n.wantsOutput(1))
    return success();
  return n.setOutput(1, n.cast(n.broadcast(mask ? mask : n.scalar(1, n.i1()), n.dims(x)), type));
}

/// Drops elements, and scales the others so that the expected sum is unchanged. `training` is null if it is always
/// true.
LogicalResult dropElements(Node &n, Value x, Value ratio, Value training) {
  Type type = n.elementType(x);
  ratio = n.reshape(n.cast(ratio, type), IntsRef());
  Value keeps = n.greaterOrEqual(makeSource(n, /*isIntegerSeed=*/true).uniform(n.dims(x), type), ratio);
  Value scaled = n.div(x, n.sub(n.scalar(1, type), ratio));
  Value result = n.select(keeps, scaled, n.scalar(0, type));
  if (training) {
    training = n.reshape(training, IntsRef());
    keeps = n.bitOr(keeps, n.bitNot(training));
    result = n.select(training, result, x);
  }
  return failure(failed(setMask(n, x, keeps)) || failed(n.setResult(result)));
}

/// Opsets 1 and 6 train unless `is_test` is set; opsets 7 and 10 never do.
LogicalResult importOldDropout(Node &n) {
  Value x = n.input(0);
  if (n.getOpset() < 7 && !n.getBool("is_test", false))
    return dropElements(n, x, n.scalarLike(n.getFloat("ratio", 0.5), x), {});
  return failure(failed(setMask(n, x, {})) || failed(n.setResult(x)));
}

LogicalResult importDropout(Node &n) {
  Value x = n.input(0);
  const ShapeValue *known = n.hasInput(2) ? n.known(2) : nullptr;
  std::optional<SmallVector<double>> mode = known ? known->getNumbers() : std::nullopt;
  bool isCertain = !n.hasInput(2) || (mode && mode->size() == 1);
  if (isCertain && (!mode || mode->front() == 0))
    return failure(failed(setMask(n, x, {})) || failed(n.setResult(x)));
  Value ratio = n.hasInput(1) ? n.input(1) : n.scalarLike(0.5, x);
  return dropElements(n, x, ratio, isCertain ? Value() : n.input(2));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getRandomOps() {
  static const OpEntry ops[] = {
      {"Bernoulli", importBernoulli},
      {"Dropout", importOldDropout, 1, 11},
      {"Dropout", importDropout, 12},
      {"Multinomial", importMultinomial},
      {"RandomNormal", importRandom<setNormal>},
      {"RandomNormalLike", importRandomLike<setNormal>},
      {"RandomUniform", importRandom<setUniform>},
      {"RandomUniformLike", importRandomLike<setUniform>},
  };
  return ops;
}
