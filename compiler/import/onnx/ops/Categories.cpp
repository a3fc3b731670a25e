//===- Categories.cpp - what maps categories, of domain ai.onnx.ml --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// A list of strings or of numbers.
struct Categories {
  std::optional<Texts> texts;
  ElementsAttr numbers;

  int64_t size() const { return texts ? static_cast<int64_t>(texts->size()) : numbers ? numbers.getNumElements() : -1; }
};

ElementsAttr toNumbers(Node &n, IntsRef ints) {
  return makeElements(RankedTensorType::get(static_cast<int64_t>(ints.size()), n.i64()), ints);
}

/// A list by one of the attributes that may hold it.
Categories readList(Node &n, StringRef prefix) {
  if (std::optional<Texts> texts = n.getStrings((prefix + "_strings").str()))
    return {texts, {}};
  if (std::optional<StringTensor> strings = n.getStringTensor((prefix + "_tensor").str()))
    return {strings->texts, {}};
  if (std::optional<Ints> ints = n.getInts((prefix + "_int64s").str()))
    return {{}, toNumbers(n, *ints)};
  if (std::optional<SmallVector<double>> floats = n.getFloats((prefix + "_floats").str()))
    return {{}, makeElements(RankedTensorType::get(static_cast<int64_t>(floats->size()), n.f32()), ArrayRef(*floats))};
  ElementsAttr tensor = n.getTensor((prefix + "_tensor").str());
  return {{}, tensor ? toDense(tensor) : tensor};
}

/// Reads the default category for unknown keys, which has the type of the values. Null if it has another type.
std::optional<Categories> readFallback(Node &n, const Categories &values, StringRef text) {
  if (values.texts) {
    std::optional<StringTensor> given = n.getStringTensor("default_tensor");
    return Categories{Texts{given && !given->texts.empty() ? given->texts[0] : n.getString("default_string", text)},
                      {}};
  }
  Type type = values.numbers.getElementType();
  auto one = RankedTensorType::get({}, type);
  ElementsAttr given = n.getTensor("default_tensor");
  if (given && (given.getElementType() != type || given.getNumElements() != 1)) {
    (void)n.invalid("'default_tensor' has to be one element of the values' type");
    return std::nullopt;
  }
  if (given)
    return Categories{{}, DenseElementsAttr::get(one, *given.getValues<Attribute>().begin())};
  Builder b(n.getContext());
  TypedAttr number = isa<FloatType>(type) ? TypedAttr(b.getFloatAttr(type, n.getFloat("default_float", -0.0)))
                                          : TypedAttr(b.getIntegerAttr(type, n.getInt("default_int64", -1)));
  return Categories{{}, DenseElementsAttr::get(one, ArrayRef<Attribute>(number))};
}

/// True if one key comes before another; NaN comes last.
bool isKeyBefore(Attribute a, Attribute b) {
  if (auto x = dyn_cast<FloatAttr>(a)) {
    APFloat p = x.getValue(), q = cast<FloatAttr>(b).getValue();
    return p.isNaN() || q.isNaN() ? !p.isNaN() && q.isNaN() : p < q;
  }
  APInt p = cast<IntegerAttr>(a).getValue(), q = cast<IntegerAttr>(b).getValue();
  return cast<IntegerAttr>(a).getType().isUnsignedInteger() ? p.ult(q) : p.slt(q);
}

/// Returns the numbers of keys in ascending order. Of equal keys, the last one is kept.
template <typename Key, typename Before> Ints sortKeys(ArrayRef<Key> keys, Before isBefore) {
  Ints order = rangeOf(0, static_cast<int64_t>(keys.size())), result;
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return isBefore(keys[a], keys[b]); });
  for (int64_t k : order) {
    if (!result.empty() && !isBefore(keys[result.back()], keys[k]))
      result.pop_back();
    result.push_back(k);
  }
  return result;
}

template <typename T> SmallVector<T> permute(ArrayRef<T> list, IntsRef order) {
  SmallVector<T> result;
  for (int64_t k : order)
    result.push_back(list[k]);
  return result;
}

Value makeWeight(Node &n, ArrayRef<Attribute> elements, Type type) {
  auto list = RankedTensorType::get(static_cast<int64_t>(elements.size()), type);
  return n.weight(DenseElementsAttr::get(list, elements));
}

/// Returns for each element of input 0 the number of its key, or -1, by a search among the sorted keys.
Value findNumbers(Node &n, ElementsAttr keys) {
  Value x = n.input(0), missing = n.constantInts(-1, {}, n.i64());
  if (n.elementType(x) != keys.getElementType()) {
    (void)n.invalid("has an input and keys of different types");
    return {};
  }
  SmallVector<Attribute> list(keys.getValues<Attribute>());
  Ints order = sortKeys(ArrayRef(list), isKeyBefore);
  if (order.empty())
    return n.broadcast(missing, n.dims(x));
  Value sorted = makeWeight(n, permute(ArrayRef(list), order), n.elementType(x));
  Value last = n.constantInts(static_cast<int64_t>(order.size()) - 1, {}, n.i64());
  Value place = n.min(n.searchSorted(x, sorted), last), key = n.gather(sorted, place, 0);
  Value isFound = n.equal(key, x);
  if (n.isFloat(x))
    isFound = n.bitOr(isFound, n.bitAnd(n.isNaN(key), n.isNaN(x)));
  return n.select(isFound, n.gather(n.constantInts(order), place, 0), missing);
}

/// The same for strings.
Value findTexts(Node &n, const Texts &keys) {
  std::optional<Strings> x = stringsInput(n, 0);
  if (!x)
    return {};
  Ints order = sortKeys(ArrayRef(keys), std::less<std::string>());
  Value found = findStrings(n, *x, permute(ArrayRef(keys), order)), missing = n.constantInts(-1, {}, n.i64());
  if (order.empty())
    return n.broadcast(missing, n.dims(found));
  Value number = n.gather(n.constantInts(order), n.max(found, n.scalarLike(0, found)), 0);
  return n.select(n.less(found, n.scalarLike(0, found)), missing, number);
}

Value findKeys(Node &n, const Categories &keys) {
  return keys.texts ? findTexts(n, *keys.texts) : findNumbers(n, keys.numbers);
}

/// Maps input 0 from keys to values. `text` is the default for strings.
LogicalResult mapCategories(Node &n, const Categories &keys, const Categories &values, StringRef text) {
  if (n.hasFault())
    return failure();
  if (keys.size() < 0 || keys.size() != values.size())
    return n.invalid("needs as many keys as values");
  std::optional<Categories> fallback = readFallback(n, values, text);
  Value found = fallback ? findKeys(n, keys) : Value();
  if (!found || n.hasFault())
    return failure();
  Value isMissing = n.less(found, n.scalarLike(0, found));
  if (values.texts) {
    Texts texts = *values.texts;
    texts.append(*fallback->texts);
    int64_t count = static_cast<int64_t>(texts.size());
    Value number = n.select(isMissing, n.constantInts(count - 1, {}, n.i64()), found);
    return setStrings(n, 0, takeStrings(n, makeStrings(n, texts, count), number));
  }
  Value otherwise = n.weight(fallback->numbers);
  if (values.size() == 0)
    return n.setResult(n.broadcast(otherwise, n.dims(found)));
  SmallVector<Attribute> list(values.numbers.getValues<Attribute>());
  Value table = makeWeight(n, list, values.numbers.getElementType());
  Value value = n.gather(table, n.max(found, n.scalarLike(0, found)), 0);
  return n.setResult(n.select(isMissing, otherwise, value));
}

LogicalResult importLabelEncoder(Node &n) {
  return mapCategories(n, readList(n, "keys"), readList(n, "values"), "_Unused");
}

/// Maps strings to numbers or back, depending on the input's type.
LogicalResult mapBothWays(Node &n, const Categories &numbers, const Categories &texts) {
  ImportedValue *x = n.imported(0);
  bool fromText = x && x->strings;
  return mapCategories(n, fromText ? texts : numbers, fromText ? numbers : texts, "_Unused");
}

/// Up to version 1, classes are numbered.
LogicalResult importOldLabelEncoder(Node &n) {
  Categories texts{n.getStrings("classes_strings").value_or(Texts()), {}};
  return mapBothWays(n, {{}, toNumbers(n, rangeOf(0, texts.size()))}, texts);
}

LogicalResult importCategoryMapper(Node &n) {
  return mapBothWays(n, {{}, toNumbers(n, n.getInts("cats_int64s").value_or(Ints()))},
                     {n.getStrings("cats_strings").value_or(Texts()), {}});
}

LogicalResult importOneHotEncoder(Node &n) {
  if (!n.getBool("zeros", true))
    return n.unsupported("'zeros' is 0: a check of each value against the categories is not supported");
  Value number;
  Ints categories;
  if (std::optional<Texts> texts = n.getStrings("cats_strings"); texts && !texts->empty()) {
    number = findTexts(n, *texts);
    categories = rangeOf(0, static_cast<int64_t>(texts->size()));
  } else {
    // Numbers that are no integers are cut to integers first.
    number = n.cast(n.input(0), n.i64());
    categories = n.getInts("cats_int64s").value_or(Ints());
  }
  return n.setResult(n.cast(n.equal(n.unsqueeze(number, n.rank(number)), n.constantInts(categories)), n.f32()));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getCategoryOps() {
  static const OpEntry ops[] = {
      {"CategoryMapper", importCategoryMapper},
      {"LabelEncoder", importOldLabelEncoder, 1, 1},
      {"LabelEncoder", importLabelEncoder, 2},
      {"OneHotEncoder", importOneHotEncoder},
  };
  return ops;
}
