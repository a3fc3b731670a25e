//===- Contraction.cpp - matrix products and einsum -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult importMatMul(Node &n) {
  Value x = n.input(0), y = n.input(1);
  if (n.rank(x) == 0 || n.rank(y) == 0)
    return n.invalid("multiplies a scalar; matrices or vectors are wanted");
  return n.setResult(n.matmul(x, y));
}

LogicalResult importGemm(Node &n) {
  Value a = n.input(0), b = n.input(1), c = n.optionalInput(2);
  if (n.rank(a) != 2 || n.rank(b) != 2)
    return n.invalid("needs two matrices, but its operands have " + Twine(n.rank(a)) + " and " + Twine(n.rank(b)) +
                     " dimensions");
  const int64_t m = 0, k = 2, columns = 1;
  Ints aDims = n.getBool("transA", false) ? Ints{k, m} : Ints{m, k};
  Ints bDims = n.getBool("transB", false) ? Ints{columns, k} : Ints{k, columns};
  double alpha = n.getFloat("alpha", 1), beta = n.getFloat("beta", 1);
  Value product = n.contract(a, b, aDims, bDims, {m, columns});
  if (alpha != 1)
    product = n.mul(product, n.scalarLike(alpha, product));
  if (!c || beta == 0)
    return n.setResult(product);
  if (beta != 1)
    c = n.mul(c, n.scalarLike(beta, c));
  return n.setResult(n.add(product, c));
}

/// Returns x minus its zero point in 32 bits, if there is one; a vector runs along `axis`.
Value centre(Node &n, Value x, size_t zeroPoint, int64_t axis) {
  Value zero = n.optionalInput(zeroPoint);
  if (!zero)
    return x;
  if (const ShapeValue *known = n.known(zeroPoint))
    if (std::optional<Dims> integers = known->getIntegers();
        integers && llvm::all_of(*integers, [](AffineExpr e) { return getConstant(e) == 0; }))
      return x;
  zero = n.cast(zero, n.i32());
  if (n.rank(zero) == 1)
    zero = n.alongAxis(zero, getConstant(n.dim(zero, 0)) == 1 ? n.rank(x) - 1 : axis, n.rank(x));
  return n.sub(n.cast(x, n.i32()), zero);
}

LogicalResult importMatMulInteger(Node &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.rank(a) == 0 || n.rank(b) == 0)
    return n.invalid("multiplies a scalar; matrices or vectors are wanted");
  a = centre(n, a, 2, std::max<int64_t>(n.rank(a) - 2, 0));
  b = centre(n, b, 3, n.rank(b) - 1);
  return n.setResult(n.matmul(a, b, n.i32()));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

/// A tensor with a letter for each dimension. Dimensions of an ellipsis have negative letters, from -1 for the last
/// one, because they broadcast from the end.
struct Term {
  Value value;
  Ints letters;
};

struct Equation {
  SmallVector<Term> terms;
  Ints result;
};

/// Parses the letters of one term of an equation. Fails on anything but letters and one ellipsis.
FailureOr<Ints> parseTerm(StringRef text, int64_t ellipsisRank) {
  Ints letters;
  bool hasEllipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ')
      continue;
    if (text.substr(i).starts_with("...") && !hasEllipsis) {
      for (int64_t d = ellipsisRank; d > 0; --d)
        letters.push_back(-d);
      hasEllipsis = true;
      i += 2;
    } else if (llvm::isAlpha(text[i])) {
      letters.push_back(text[i]);
    } else {
      return failure();
    }
  }
  return letters;
}

int64_t countLetters(StringRef text) {
  return llvm::count_if(text, [](char c) { return llvm::isAlpha(c); });
}

/// Without an arrow, the result has the ellipsis, then the letters that occur once, in alphabetical order.
Ints implicitResult(ArrayRef<Term> terms) {
  std::map<int64_t, int> counts;
  for (const Term &term : terms)
    for (int64_t letter : term.letters)
      ++counts[letter];
  Ints result;
  for (auto [letter, count] : counts)
    if (letter < 0 || count == 1)
      result.push_back(letter);
  return result;
}

std::optional<Equation> parseEquation(Node &n, const std::string &text) {
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  auto refuse = [&](const Twine &why) {
    (void)n.invalid("its equation '" + text + "' " + why);
    return std::nullopt;
  };
  if (parts.size() != n.getNumInputs())
    return refuse("has " + Twine(parts.size()) + " terms for " + Twine(n.getNumInputs()) + " inputs");
  Equation equation;
  int64_t widest = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value x = n.input(i);
    int64_t ellipsisRank = part.contains("...") ? n.rank(x) - countLetters(part) : 0;
    FailureOr<Ints> letters = parseTerm(part, ellipsisRank);
    if (failed(letters) || ellipsisRank < 0 || static_cast<int64_t>(letters->size()) != n.rank(x))
      return refuse("does not fit input " + Twine(i) + ", which has " + Twine(n.rank(x)) + " dimensions");
    widest = std::max(widest, ellipsisRank);
    equation.terms.push_back({x, *letters});
  }
  if (!StringRef(text).contains("->")) {
    equation.result = implicitResult(equation.terms);
    return equation;
  }
  FailureOr<Ints> result = parseTerm(right, widest);
  if (failed(result))
    return refuse("has a result that is no list of letters");
  equation.result = *result;
  for (int64_t letter : equation.result)
    if (llvm::none_of(equation.terms, [&](const Term &t) { return llvm::is_contained(t.letters, letter); }))
      return refuse("has a result with a letter that no input has");
  return equation;
}

/// Takes the diagonal of dimensions that share a letter: every (n+1)st of n x n elements.
void takeDiagonals(Node &n, Term &term) {
  for (size_t i = 0; i < term.letters.size(); ++i)
    for (size_t j = i + 1; j < term.letters.size(); ++j) {
      if (term.letters[i] != term.letters[j])
        continue;
      // The two dimensions are moved to the end, so that one reshape merges them.
      Ints permutation;
      for (size_t d = 0; d < term.letters.size(); ++d)
        if (d != i && d != j)
          permutation.push_back(d);
      Ints letters;
      for (int64_t d : permutation)
        letters.push_back(term.letters[d]);
      letters.push_back(term.letters[i]);
      permutation.append({static_cast<int64_t>(i), static_cast<int64_t>(j)});
      AffineExpr size = n.dim(term.value, i), other = n.dim(term.value, j);
      for (AffineExpr difference : {subDims(size, other), subDims(other, size)})
        n.require(difference, "takes the diagonal of dimensions that differ");
      Dims joined = n.dims(n.transpose(term.value, permutation));
      joined.pop_back_n(2);
      joined.push_back(mulDims(size, other));
      Value flat = n.reshape(n.transpose(term.value, permutation), joined);
      Value step = n.size(addDims(other, n.constantDim(1)), n.i64());
      term = {n.gather(flat, n.mul(n.iota(size, 0, n.i64()), step), joined.size() - 1), letters};
      j = i;
    }
}

/// Sums over the letters that are no longer needed, and orders the rest as `wanted`.
Value finish(Node &n, Term term, IntsRef wanted) {
  Ints gone, kept, permutation;
  for (auto [d, letter] : llvm::enumerate(term.letters))
    if (llvm::is_contained(wanted, letter))
      kept.push_back(letter);
    else
      gone.push_back(d);
  Value x = gone.empty() ? term.value : n.reduceSum(term.value, gone, false);
  for (int64_t letter : wanted)
    permutation.push_back(llvm::find(kept, letter) - kept.begin());
  return n.transpose(x, permutation);
}

LogicalResult importEinsum(Node &n) {
  std::optional<Equation> equation = parseEquation(n, n.getString("equation", ""));
  if (!equation)
    return failure();
  for (Term &term : equation->terms)
    takeDiagonals(n, term);
  if (n.hasFault())
    return failure();
  // Terms are multiplied from left to right; a letter is summed over at its last term.
  Term joined = equation->terms[0];
  for (size_t i = 1; i < equation->terms.size(); ++i) {
    Term &next = equation->terms[i];
    Ints result;
    auto isNeeded = [&](int64_t letter) {
      return llvm::is_contained(equation->result, letter) ||
             llvm::any_of(ArrayRef(equation->terms).drop_front(i + 1),
                          [&](const Term &t) { return llvm::is_contained(t.letters, letter); });
    };
    bool isLast = i + 1 == equation->terms.size();
    if (isLast)
      result = equation->result;
    else
      for (int64_t letter : llvm::concat<int64_t>(joined.letters, next.letters))
        if (isNeeded(letter) && !llvm::is_contained(result, letter))
          result.push_back(letter);
    joined = {n.contract(joined.value, next.value, joined.letters, next.letters, result), result};
  }
  return n.setResult(finish(n, joined, equation->result));
}

/// Computes the product of U's diagonal, times the sign of the row permutation.
LogicalResult importDet(Node &n) {
  Value x = n.input(0);
  Type given = n.elementType(x);
  int64_t rank = n.rank(x);
  if (rank < 2)
    return n.invalid("needs square matrices, found " + dimsToString(n.dims(x)));
  auto [factors, sign] = n.lu(n.cast(x, given.isF64() ? n.f64() : n.f32()));
  AffineExpr size = n.dim(x, rank - 1);
  Dims joined = n.dims(x);
  joined.truncate(rank - 2);
  joined.push_back(mulDims(size, size));
  Value step = n.size(addDims(size, n.constantDim(1)), n.i64());
  Value diagonal = n.gather(n.reshape(factors, joined), n.mul(n.iota(size, 0, n.i64()), step), rank - 2);
  return n.setResult(n.cast(n.mul(n.reduceProd(diagonal, rank - 2, false), sign), given));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getContractionOps() {
  static const OpEntry ops[] = {
      {"Det", importDet},
      {"Einsum", importEinsum},
      {"Gemm", importGemm},
      {"MatMul", importMatMul},
      {"MatMulInteger", importMatMulInteger},
  };
  return ops;
}
