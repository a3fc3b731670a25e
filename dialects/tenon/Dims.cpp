//===- Dims.cpp - dimensions as expressions over symbols -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Dims.h"
#include "dialects/tenon/Indicator.h"
#include "dialects/tenon/Polynomial.h"
#include "dialects/tenon/Tenon.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;

/// A name that no model can give a symbol, since it would be printed in quotes.
static constexpr StringRef kUnknownName = "?";

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Dims tenon::getDims(RankedTensorType type) {
  if (auto shape = dyn_cast_or_null<ShapeAttr>(type.getEncoding())) {
    assert(static_cast<int64_t>(shape.getDims().size()) == type.getRank() &&
           "an encoding has each dimension of its tensor");
    return Dims(shape.getDims().begin(), shape.getDims().end());
  }
  Dims dims;
  for (int64_t size : type.getShape())
    dims.push_back(ShapedType::isDynamic(size) ? getUnknownDim(type.getContext())
                                               : getDimConstant(type.getContext(), size));
  return dims;
}

AffineExpr tenon::getDim(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  assert(dim >= 0 && dim < type.getRank() && "a tensor has a dimension of this number");
  if (!type.isDynamicDim(dim))
    return getDimConstant(type.getContext(), type.getDimSize(dim));
  return getDims(type)[dim];
}

RankedTensorType tenon::getTensorType(ArrayRef<AffineExpr> dims, Type elementType) {
  SmallVector<int64_t> shape;
  for (AffineExpr dim : dims) {
    assert(dim && "an extent that is not known is the unknown one, not null");
    shape.push_back(getConstant(dim).value_or(ShapedType::kDynamic));
  }
  if (!ShapedType::isDynamicShape(shape))
    return RankedTensorType::get(shape, elementType);
  return RankedTensorType::get(shape, elementType, ShapeAttr::get(elementType.getContext(), dims));
}

AffineExpr tenon::getDimConstant(MLIRContext *context, int64_t value) { return getAffineConstantExpr(value, context); }

AffineExpr tenon::getDimSymbol(MLIRContext *context, StringRef name) {
  auto *dialect = context->getOrLoadDialect<TenonDialect>();
  return getAffineSymbolExpr(dialect->internSymbol(name), context);
}

AffineExpr tenon::getUnknownDim(MLIRContext *context) { return getDimSymbol(context, kUnknownName); }

bool tenon::isUnknownDim(AffineExpr dim) {
  AffineExpr unknown = getUnknownDim(dim.getContext());
  bool found = false;
  dim.walk([&](AffineExpr e) { found |= e == unknown; });
  return found;
}

std::optional<int64_t> tenon::getConstant(AffineExpr dim) {
  if (auto constant = dyn_cast<AffineConstantExpr>(dim))
    return constant.getValue();
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> tenon::getConstants(ArrayRef<AffineExpr> dims) {
  SmallVector<int64_t> values;
  for (AffineExpr dim : dims) {
    std::optional<int64_t> value = getConstant(dim);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

AffineExpr tenon::simplifyDim(AffineExpr dim) {
  assert(dim && "an extent that is not known is the unknown one, not null");
  if (isa<AffineConstantExpr, AffineSymbolExpr>(dim))
    return dim;
  return toExpr(toPolynomial(dim), dim.getContext());
}

// Works on polynomials, whose coefficients saturate.
AffineExpr tenon::addDims(AffineExpr a, AffineExpr b) {
  assert(a && b && "an extent that is not known is the unknown one, not null");
  return toExpr(addPolynomials(toPolynomial(a), toPolynomial(b)), a.getContext());
}
AffineExpr tenon::subDims(AffineExpr a, AffineExpr b) {
  assert(a && b && "an extent that is not known is the unknown one, not null");
  return toExpr(addPolynomials(toPolynomial(a), toPolynomial(b), -1), a.getContext());
}
AffineExpr tenon::mulDims(AffineExpr a, AffineExpr b) {
  assert(a && b && "an extent that is not known is the unknown one, not null");
  return toExpr(multiply(toPolynomial(a), toPolynomial(b)), a.getContext());
}
static AffineExpr divideDims(AffineExprKind kind, AffineExpr a, AffineExpr b) {
  assert(a && b && "an extent that is not known is the unknown one, not null");
  return toExpr(divide(kind, toPolynomial(a), toPolynomial(b), a.getContext()), a.getContext());
}

AffineExpr tenon::divDims(AffineExpr a, AffineExpr b) { return divideDims(AffineExprKind::FloorDiv, a, b); }
AffineExpr tenon::ceilDivDims(AffineExpr a, AffineExpr b) { return divideDims(AffineExprKind::CeilDiv, a, b); }
AffineExpr tenon::modDims(AffineExpr a, AffineExpr b) { return divideDims(AffineExprKind::Mod, a, b); }

AffineExpr tenon::getIndicator(AffineExpr dim) {
  assert(dim && "an extent that is not known is the unknown one, not null");
  dim = simplifyDim(dim);
  if (std::optional<int64_t> constant = getConstant(dim))
    return getDimConstant(dim.getContext(), *constant > 0);
  return toExpr(makeIndicator(toPolynomial(dim), dim.getContext()), dim.getContext());
}

AffineExpr tenon::getIndicated(AffineExpr expr) {
  std::optional<Polynomial> sum = getIndicatedSum(expr);
  return sum ? toExpr(*sum, expr.getContext()) : AffineExpr();
}

AffineExpr tenon::maxDims(AffineExpr a, AffineExpr b) {
  AffineExpr difference = subDims(a, b);
  return addDims(b, mulDims(difference, getIndicator(difference)));
}

AffineExpr tenon::minDims(AffineExpr a, AffineExpr b) {
  AffineExpr difference = subDims(a, b);
  return subDims(a, mulDims(difference, getIndicator(difference)));
}

AffineExpr tenon::getElementCount(MLIRContext *context, ArrayRef<AffineExpr> dims) {
  AffineExpr count = getDimConstant(context, 1);
  for (AffineExpr dim : dims)
    count = mulDims(count, dim);
  return count;
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

AffineExpr tenon::mulSaturating(AffineExpr a, AffineExpr b) {
  std::optional<int64_t> left = getConstant(a), right = getConstant(b);
  int64_t product;
  if (left && right && llvm::MulOverflow(*left, *right, product))
    return getDimConstant(a.getContext(), INT64_MAX);
  return mulDims(a, b);
}

AffineExpr tenon::getElementCount(Value value) {
  AffineExpr count = getDimConstant(value.getContext(), 1);
  for (AffineExpr dim : getDims(value))
    count = mulSaturating(count, dim);
  return count;
}

std::optional<int64_t> tenon::getStaticElementCount(Value value) {
  return getConstant(getElementCount(value.getContext(), getDims(value)));
}

FailureOr<AffineExpr> tenon::broadcastDim(AffineExpr a, AffineExpr b) {
  assert(a && b && "an extent that is not known is the unknown one, not null");
  std::optional<int64_t> x = getConstant(a), y = getConstant(b);
  if (a == b || y == 1)
    return a;
  if (x == 1)
    return b;
  if (x && y)
    return failure();
  return x ? a : y ? b : a;
}

FailureOr<Dims> tenon::broadcastDims(ArrayRef<Dims> shapes) {
  Dims result;
  for (const Dims &shape : shapes) {
    while (result.size() < shape.size())
      result.insert(result.begin(), shape[shape.size() - result.size() - 1]);
    for (size_t i = 1; i <= shape.size(); ++i) {
      AffineExpr &dim = result[result.size() - i];
      FailureOr<AffineExpr> joined = broadcastDim(dim, shape[shape.size() - i]);
      if (failed(joined))
        return failure();
      dim = *joined;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printSymbol(raw_ostream &os, StringRef name) {
  bool plain = !name.empty() && (llvm::isAlpha(name.front()) || name.front() == '_') &&
               llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (plain && name != "floordiv" && name != "ceildiv" && name != "mod")
    os << name;
  else if (name == kUnknownName)
    os << name;
  else {
    os << '"';
    llvm::printEscapedString(name, os);
    os << '"';
  }
}

static void printDim(raw_ostream &os, AffineExpr dim, bool isOperand) {
  if (std::optional<int64_t> constant = getConstant(dim)) {
    os << *constant;
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(dim)) {
    auto *dialect = dim.getContext()->getOrLoadDialect<TenonDialect>();
    printSymbol(os, dialect->getSymbolName(symbol.getPosition()));
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(dim);
  assert(dim.getKind() <= AffineExprKind::LAST_AFFINE_BINARY_OP && "constants and symbols are printed before");
  const char *op = dim.getKind() == AffineExprKind::Add        ? " + "
                   : dim.getKind() == AffineExprKind::Mul      ? " * "
                   : dim.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                   : dim.getKind() == AffineExprKind::CeilDiv  ? " ceildiv "
                                                               : " mod ";
  if (isOperand)
    os << '(';
  printDim(os, binary.getLHS(), true);
  os << op;
  printDim(os, binary.getRHS(), true);
  if (isOperand)
    os << ')';
}

void tenon::printDim(raw_ostream &os, AffineExpr dim) { ::printDim(os, dim, false); }

std::string tenon::dimsToString(ArrayRef<AffineExpr> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(dims, os, [&](AffineExpr dim) { ::printDim(os, dim, true); }, "x");
  return dims.empty() ? "scalar" : text;
}

bool tenon::areCompatible(TypeRange a, TypeRange b) {
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip(a, b)) {
    auto s = cast<RankedTensorType>(x), t = cast<RankedTensorType>(y);
    if (s.getElementType() != t.getElementType() || failed(verifyCompatibleShape(s, t)))
      return false;
  }
  return true;
}
