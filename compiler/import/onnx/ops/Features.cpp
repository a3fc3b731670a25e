//===- Features.cpp - what prepares features, of domain ai.onnx.ml -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Reads an attribute with one number, or one for each feature, which run along the last dimension of `x`.
Value readPerFeature(Node &n, StringRef name, double fallback, Value x) {
  SmallVector<double> numbers = n.getFloats(name).value_or(SmallVector<double>{fallback});
  std::optional<int64_t> features = n.rank(x) ? getConstant(n.dims(x).back()) : 1;
  int64_t count = numbers.size();
  if (count != 1 && features && count != *features)
    (void)n.invalid("'" + name + "' has " + Twine(count) + " numbers for " + Twine(*features) + " features");
  return n.constantFloats(numbers, count, n.elementType(x));
}

Value readFloats(Node &n, size_t i) {
  Value x = n.input(i);
  return n.isFloat(x) ? x : n.cast(x, n.f32());
}

LogicalResult importScaler(Node &n) {
  Value x = readFloats(n, 0);
  Value moved = n.sub(x, readPerFeature(n, "offset", 0, x));
  return n.setResult(n.cast(n.mul(moved, readPerFeature(n, "scale", 1, x)), n.f32()));
}

LogicalResult importNormalizer(Node &n) {
  Value x = readFloats(n, 0);
  std::string norm = n.getString("norm", "MAX");
  if (n.rank(x) != 1 && n.rank(x) != 2)
    return n.invalid("needs an input [rows, features], found " + dimsToString(n.dims(x)));
  int64_t axis = n.rank(x) - 1;
  Value size;
  if (norm == "MAX")
    size = n.reduceMax(n.abs(x), axis);
  else if (norm == "L1")
    size = n.reduceSum(n.abs(x), axis);
  else if (norm == "L2")
    size = n.sqrt(n.reduceSum(n.mul(x, x), axis));
  else
    return n.invalid("'norm' has to be MAX, L1 or L2, not '" + norm + "'");
  // Rows of zeros stay as they are.
  size = n.select(n.equal(size, n.scalarLike(0, x)), n.scalarLike(1, x), size);
  return n.setResult(n.cast(n.div(x, size), n.f32()));
}

LogicalResult importBinarizer(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.cast(n.greater(x, n.scalarLike(n.getFloat("threshold", 0), x)), n.elementType(x)));
}

LogicalResult importImputer(Node &n) {
  Value x = n.input(0), values, isMissing;
  if (n.isFloat(x)) {
    double missing = n.getFloat("replaced_value_float", 0);
    values = readPerFeature(n, "imputed_value_floats", 0, x);
    isMissing = std::isnan(missing) ? n.isNaN(x) : n.equal(x, n.scalarLike(missing, x));
  } else {
    Ints numbers = n.getInts("imputed_value_int64s").value_or(Ints{0});
    values = n.constantInts(numbers, static_cast<int64_t>(numbers.size()), n.elementType(x));
    isMissing = n.equal(x, n.constantInts(n.getInt("replaced_value_int64", 0), {}, n.elementType(x)));
  }
  return n.setResult(n.select(isMissing, values, x));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Selects elements of the last dimension. A vector becomes one row.
LogicalResult importArrayFeatureExtractor(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  if (n.rank(x) < 1)
    return n.invalid("needs an input of at least one dimension");
  if (n.rank(x) == 1)
    x = n.unsqueeze(x, 0);
  indices = n.reshape(indices, getElementCount(n.getContext(), n.dims(indices)));
  return n.setResult(n.gather(x, indices, n.rank(x) - 1));
}

/// Concatenates columns; each input is truncated, or padded with zeros, to its number of columns.
LogicalResult importFeatureVectorizer(Node &n) {
  Ints widths = n.getInts("inputdimensions").value_or(Ints());
  SmallVector<Value> columns;
  for (size_t i = 0; i < n.getNumInputs(); ++i) {
    Value x = readFloats(n, i);
    if (n.rank(x) == 1)
      x = n.unsqueeze(x, 1);
    if (n.rank(x) != 2)
      return n.invalid("needs inputs [rows, features], found " + dimsToString(n.dims(x)));
    Dims shape = n.dims(x);
    if (i < widths.size())
      shape[1] = n.constantDim(widths[i]);
    Dims zeros(2, n.constantDim(0));
    columns.push_back(shape == n.dims(x) ? x : n.pad("constant", x, n.scalarLike(0, x), zeros, {0, 0}, shape));
    columns.back() = n.cast(columns.back(), n.f32());
  }
  if (columns.empty())
    return n.invalid("has no inputs");
  return n.setResult(n.concat(columns, 1));
}

LogicalResult importZipMap(Node &n) {
  return n.unsupported("makes a sequence of maps; use its input instead, as an export without ZipMap gives it");
}

} // namespace

ArrayRef<OpEntry> onnx_import::getFeatureOps() {
  static const OpEntry ops[] = {
      {"ArrayFeatureExtractor", importArrayFeatureExtractor},
      {"Binarizer", importBinarizer},
      {"FeatureVectorizer", importFeatureVectorizer},
      {"Imputer", importImputer},
      {"Normalizer", importNormalizer},
      {"Scaler", importScaler},
      {"ZipMap", importZipMap, 1, 1000, /*isSupported=*/false},
  };
  return ops;
}
