//===- Features.cpp - what prepares features, of domain ai.onnx.ml -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// An attribute with one number, or one for each feature, which are the last dimension of `x`.
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

/// Elements of the last dimension. A vector becomes one row.
LogicalResult importArrayFeatureExtractor(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  if (n.rank(x) < 1)
    return n.invalid("needs an input of at least one dimension");
  if (n.rank(x) == 1)
    x = n.unsqueeze(x, 0);
  indices = n.reshape(indices, getElementCount(n.getContext(), n.dims(indices)));
  return n.setResult(n.gather(x, indices, n.rank(x) - 1));
}

/// Columns side by side; each input is cut at, or filled with zeros up to, its number of columns.
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
    columns.push_back(shape == n.dims(x) ? x
                                         : n.pad("constant", x, n.scalarLike(0, x), zeros, {0, 0}, shape));
    columns.back() = n.cast(columns.back(), n.f32());
  }
  if (columns.empty())
    return n.invalid("has no inputs");
  return n.setResult(n.concat(columns, 1));
}

//===----------------------------------------------------------------------===//
// Categories
//===----------------------------------------------------------------------===//

LogicalResult importOneHotEncoder(Node &n) {
  std::optional<Ints> categories = n.getInts("cats_int64s");
  if (!categories)
    return n.unsupported("its categories are strings, which are not supported");
  if (!n.getBool("zeros", true))
    return n.unsupported("'zeros' is 0: a check of each value against the categories is not supported");
  Value x = n.input(0);
  // Numbers that are no integers are cut to integers first.
  Value value = n.unsqueeze(n.cast(x, n.i64()), n.rank(x));
  return n.setResult(n.cast(n.equal(value, n.constantInts(*categories)), n.f32()));
}

/// Keys and values of a map, and what other keys become.
struct Mapping {
  ElementsAttr keys, values;
  TypedAttr fallback;
};

/// A list of numbers by one of the attributes that may hold it.
ElementsAttr readNumbers(Node &n, StringRef prefix) {
  if (std::optional<Ints> ints = n.getInts((prefix + "_int64s").str()))
    return makeElements(RankedTensorType::get(static_cast<int64_t>(ints->size()), n.i64()), IntsRef(*ints));
  if (std::optional<SmallVector<double>> floats = n.getFloats((prefix + "_floats").str()))
    return makeElements(RankedTensorType::get(static_cast<int64_t>(floats->size()), n.f32()),
                        ArrayRef<double>(*floats));
  ElementsAttr tensor = n.getTensor((prefix + "_tensor").str());
  return tensor ? toDense(tensor) : tensor;
}

std::optional<Mapping> readMapping(Node &n) {
  if (n.hasAttr("keys_strings") || n.hasAttr("values_strings") || n.hasAttr("classes_strings")) {
    (void)n.unsupported("maps strings, which are not supported");
    return std::nullopt;
  }
  Mapping m{readNumbers(n, "keys"), readNumbers(n, "values"), {}};
  if (n.hasFault())
    return std::nullopt;
  if (!m.keys || !m.values || m.keys.getNumElements() != m.values.getNumElements()) {
    (void)n.invalid("needs as many keys as values");
    return std::nullopt;
  }
  Builder b(n.getContext());
  Type type = m.values.getElementType();
  if (ElementsAttr given = n.getTensor("default_tensor"); given && given.getNumElements() == 1)
    m.fallback = cast<TypedAttr>(*given.getValues<Attribute>().begin());
  else if (isa<FloatType>(type))
    m.fallback = b.getFloatAttr(type, n.getFloat("default_float", -0.0));
  else
    m.fallback = b.getIntegerAttr(type, n.getInt("default_int64", -1));
  if (m.fallback.getType() == type)
    return m;
  (void)n.invalid("'default_tensor' has another type than the values");
  return std::nullopt;
}

/// Whether one key comes before another; NaN comes last.
bool isKeyBefore(Attribute a, Attribute b) {
  if (auto x = dyn_cast<FloatAttr>(a)) {
    APFloat p = x.getValue(), q = cast<FloatAttr>(b).getValue();
    return p.isNaN() || q.isNaN() ? !p.isNaN() && q.isNaN() : p < q;
  }
  APInt p = cast<IntegerAttr>(a).getValue(), q = cast<IntegerAttr>(b).getValue();
  return cast<IntegerAttr>(a).getType().isUnsignedInteger() ? p.ult(q) : p.slt(q);
}

/// A search among the sorted keys. Of equal keys the last counts.
LogicalResult importLabelEncoder(Node &n) {
  std::optional<Mapping> m = readMapping(n);
  if (!m)
    return failure();
  Value x = n.input(0);
  if (n.elementType(x) != m->keys.getElementType())
    return n.invalid("has an input and keys of different types");
  SmallVector<std::pair<Attribute, Attribute>> entries;
  for (auto [key, value] : llvm::zip(m->keys.getValues<Attribute>(), m->values.getValues<Attribute>()))
    entries.emplace_back(key, value);
  llvm::stable_sort(entries, [](auto &a, auto &b) { return isKeyBefore(a.first, b.first); });
  SmallVector<Attribute> keys, values;
  for (auto [key, value] : entries) {
    if (!keys.empty() && !isKeyBefore(keys.back(), key)) {
      values.back() = value;
      continue;
    }
    keys.push_back(key);
    values.push_back(value);
  }
  auto makeList = [&](ArrayRef<Attribute> elements, Type type) {
    auto listType = RankedTensorType::get(static_cast<int64_t>(elements.size()), type);
    return n.weight(DenseElementsAttr::get(listType, elements));
  };
  Type type = m->values.getElementType();
  Value fallback =
      n.weight(DenseElementsAttr::get(RankedTensorType::get({}, type), ArrayRef<Attribute>(m->fallback)));
  if (keys.empty())
    return n.setResult(n.broadcast(fallback, n.dims(x)));
  Value sorted = makeList(keys, n.elementType(x)),
        last = n.scalar(static_cast<double>(keys.size() - 1), n.i64());
  Value place = n.min(n.search(x, sorted), last), key = n.gather(sorted, place, 0);
  Value isFound = n.equal(key, x);
  if (n.isFloat(x))
    isFound = n.bitOr(isFound, n.bitAnd(n.isNaN(key), n.isNaN(x)));
  return n.setResult(n.select(isFound, n.gather(makeList(values, type), place, 0), fallback));
}

LogicalResult importZipMap(Node &n) {
  return n.unsupported(
      "makes a sequence of maps; use its input instead, as an export without ZipMap gives it");
}

} // namespace

ArrayRef<OpEntry> onnx_import::getFeatureOps() {
  static const OpEntry ops[] = {
      {"ArrayFeatureExtractor", importArrayFeatureExtractor},
      {"Binarizer", importBinarizer},
      {"FeatureVectorizer", importFeatureVectorizer},
      {"Imputer", importImputer},
      {"LabelEncoder", importLabelEncoder, 2},
      {"Normalizer", importNormalizer},
      {"OneHotEncoder", importOneHotEncoder},
      {"Scaler", importScaler},
      {"ZipMap", importZipMap},
  };
  return ops;
}
