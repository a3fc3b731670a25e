//===- Attributes.cpp - enums and typed attributes ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

#include "TenonEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "TenonAttrs.cpp.inc"

void TenonDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TenonAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #tenon.machine
//===----------------------------------------------------------------------===//

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t vectorBytes,
                                  int64_t vectorRegisters, int64_t amxInt8, int64_t amxBf16, int64_t bf16Pairs,
                                  int64_t f16Fma, int64_t multiplyAdds, int64_t l2Bound, int64_t panelColumns,
                                  int64_t l1Ways, int64_t l2Bytes, int64_t llcBytes, int64_t int8Dot) {
  struct Figure {
    StringLiteral name;
    int64_t value, smallest, largest;
  };
  // Values that choices can be made with.
  constexpr int64_t kMostBytes = int64_t(1) << 40; // limit: more than a cache has
  const Figure figures[] = {
      {"vector_bytes", vectorBytes, 4, 1024},
      {"vector_registers", vectorRegisters, 1, 1024},
      {"amx_int8", amxInt8, 1, 1},
      {"amx_bf16", amxBf16, 1, 1},
      {"bf16_pairs", bf16Pairs, 1, 1},
      {"f16_fma", f16Fma, 1, 1},
      {"multiply_adds", multiplyAdds, 1, 64},
      {"l2_bound", l2Bound, 1, 1},
      {"panel_columns", panelColumns, 1, 1024},
      {"l1_ways", l1Ways, 1, 1024},
      {"l2_bytes", l2Bytes, 1, kMostBytes},
      {"llc_bytes", llcBytes, 1, kMostBytes},
  };
  for (const Figure &figure : figures)
    if (figure.value != 0 && (figure.value < figure.smallest || figure.value > figure.largest))
      return emitError() << "has " << figure.value << " for '" << figure.name << "', expected " << figure.smallest
                         << " to " << figure.largest << ", or 0 where it is not known";
  if (!llvm::is_contained({0, 1, 2, 4}, int8Dot))
    return emitError() << "has " << int8Dot << " for 'int8_dot', expected 1, 2 or 4, or 0 where it is not known";
  return success();
}

//===----------------------------------------------------------------------===//
// #tenon.shape
//===----------------------------------------------------------------------===//

static ParseResult parseSum(AsmParser &parser, AffineExpr &result);

/// factor ::= integer | name | string | `?` | `(` sum `)`
static ParseResult parseFactor(AsmParser &parser, AffineExpr &result) {
  MLIRContext *context = parser.getContext();
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parseSum(parser, result) || parser.parseRParen());
  if (succeeded(parser.parseOptionalQuestion())) {
    result = getUnknownDim(context);
    return success();
  }
  int64_t value;
  OptionalParseResult integer = parser.parseOptionalInteger(value);
  if (integer.has_value()) {
    result = getDimConstant(context, value);
    return *integer;
  }
  std::string quoted;
  StringRef name;
  if (succeeded(parser.parseOptionalString(&quoted)))
    name = quoted;
  else if (failed(parser.parseOptionalKeyword(&name)))
    return parser.emitError(parser.getCurrentLocation(), "expected an integer, a symbol or '('");
  result = getDimSymbol(context, name);
  return success();
}

/// product ::= factor ((`*` | `floordiv` | `ceildiv` | `mod`) factor)*
static ParseResult parseProduct(AsmParser &parser, AffineExpr &result) {
  if (parseFactor(parser, result))
    return failure();
  while (true) {
    AffineExpr rhs;
    AffineExprKind kind;
    if (succeeded(parser.parseOptionalStar()))
      kind = AffineExprKind::Mul;
    else if (succeeded(parser.parseOptionalKeyword("floordiv")))
      kind = AffineExprKind::FloorDiv;
    else if (succeeded(parser.parseOptionalKeyword("ceildiv")))
      kind = AffineExprKind::CeilDiv;
    else if (succeeded(parser.parseOptionalKeyword("mod")))
      kind = AffineExprKind::Mod;
    else
      return success();
    if (parseFactor(parser, rhs))
      return failure();
    result = simplifyDim(getAffineBinaryOpExpr(kind, result, rhs));
  }
}

/// sum ::= product (`+` product)*; a difference is a product with a negative constant.
static ParseResult parseSum(AsmParser &parser, AffineExpr &result) {
  if (parseProduct(parser, result))
    return failure();
  while (succeeded(parser.parseOptionalPlus())) {
    AffineExpr rhs;
    if (parseProduct(parser, rhs))
      return failure();
    result = addDims(result, rhs);
  }
  return success();
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  Dims dims;
  auto parseDim = [&] { return parseSum(parser, dims.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseDim))
    return {};
  return ShapeAttr::get(parser.getContext(), dims);
}

LogicalResult ShapeAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                        function_ref<InFlightDiagnostic()> emitError) const {
  if (getDims().size() != shape.size())
    return emitError() << "has " << getDims().size() << " dimensions in " << *this << " for a tensor of rank "
                       << shape.size();
  for (auto [i, dim, extent] : llvm::enumerate(getDims(), shape))
    if (getConstant(dim).value_or(ShapedType::kDynamic) != extent) {
      InFlightDiagnostic diagnostic = emitError() << "has an extent of ";
      if (ShapedType::isDynamic(extent))
        diagnostic << "'?'";
      else
        diagnostic << extent;
      return diagnostic << " in dimension " << i << ", which is " << dimsToString(dim) << " in its #tenon.shape";
    }
  return success();
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getDims(), printer, [&](AffineExpr dim) { printDim(printer.getStream(), dim); });
  printer << '>';
}
