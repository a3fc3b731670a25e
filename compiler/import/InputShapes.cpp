//===- InputShapes.cpp - the dimensions of a model's inputs ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/InputShapes.h"
#include "compiler/import/Report.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;

const ImportOptions::Shape *InputShapes::findShape(StringRef name) const {
  for (const ImportOptions::Shape &shape : options.shapes)
    if (shape.name == name)
      return &shape;
  return nullptr;
}

AffineExpr InputShapes::getSymbol(StringRef name) {
  auto it = overrides.find(name);
  if (it != overrides.end())
    return it->second;
  if (const ImportOptions::Shape *shape = findShape(name); shape && shape->dims.size() == 1)
    return parseDim(shape->dims[0]);
  symbols[name] = true;
  return getDimSymbol(context, name);
}

/// Parses a dimension of an option: a number, or the name of a symbol.
AffineExpr InputShapes::parseDim(StringRef text) {
  int64_t number;
  if (!text.getAsInteger(10, number))
    return getDimConstant(context, number);
  symbols[text] = true;
  return getDimSymbol(context, text);
}

void InputShapes::declareWithoutShape(StringRef input) { inputs[StringAttr::get(context, input)] = std::nullopt; }

void InputShapes::declare(StringRef input, ArrayRef<DeclaredDim> dims) {
  inputs[StringAttr::get(context, input)] = dims.vec();
  const ImportOptions::Shape *wanted = findShape(input);
  if (!wanted)
    return;
  if (dims.size() != wanted->dims.size()) {
    report.add(ImportFault::invalidModel, "input '" + input + "' has " + Twine(dims.size()) +
                                              " dimensions, but --shape gives " + Twine(wanted->dims.size()));
    return;
  }
  for (auto [i, declared, text] : llvm::enumerate(dims, wanted->dims)) {
    AffineExpr expr = parseDim(text);
    if (!declared.symbol.empty())
      overrides.try_emplace(declared.symbol, expr);
    else if (getConstant(expr) != declared.number)
      report.add(ImportFault::invalidModel, "dimension " + Twine(i) + " of input '" + input + "' is " +
                                                Twine(declared.number) + " in the model, and --shape cannot make it " +
                                                text);
  }
}

std::optional<Dims> InputShapes::getDims(StringRef input) {
  const std::optional<std::vector<DeclaredDim>> &declared = inputs[StringAttr::get(context, input)];
  Dims dims;
  if (declared) {
    for (const DeclaredDim &dim : *declared)
      dims.push_back(dim.symbol.empty() ? getDimConstant(context, dim.number) : getSymbol(dim.symbol));
    return dims;
  }
  const ImportOptions::Shape *wanted = findShape(input);
  if (!wanted) {
    report.add(ImportFault::unsupported,
               "input '" + input + "' has no shape; give it one with --shape " + input + "=1x3xHxW");
    return std::nullopt;
  }
  for (const std::string &text : wanted->dims)
    dims.push_back(parseDim(text));
  return dims;
}

static std::string listNames(const auto &names) {
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "" : ", ") + name.str();
  return text.empty() ? "none" : text;
}

void InputShapes::reportNoSymbol(StringRef symbol, StringRef option) {
  report.add(ImportFault::invalidModel, "has no symbol '" + symbol + "', which " + option + " names; its symbols are " +
                                            listNames(symbols.keys()));
}

void InputShapes::checkOptions() {
  auto declaresSymbol = [&](StringRef name) {
    return llvm::any_of(inputs, [&](const auto &input) {
      return input.second && llvm::any_of(*input.second, [&](const DeclaredDim &dim) { return dim.symbol == name; });
    });
  };
  for (const ImportOptions::Shape &shape : options.shapes)
    if (!inputs.contains(StringAttr::get(context, shape.name)) &&
        !(shape.dims.size() == 1 && declaresSymbol(shape.name)))
      report.add(ImportFault::invalidModel,
                 "has no input or symbol '" + shape.name + "', which --shape names; its inputs are " +
                     listNames(llvm::map_range(inputs, [](const auto &input) { return input.first.getValue(); })));
  for (const ImportOptions::Range &range : options.ranges)
    if (!symbols.contains(range.symbol))
      reportNoSymbol(range.symbol, "--range");
  for (const std::string &symbol : options.profiled)
    if (!symbols.contains(symbol))
      reportNoSymbol(symbol, "--specialize");
}

void InputShapes::setRanges(ModuleOp module) {
  Builder b(context);
  SmallVector<NamedAttribute> ranges;
  for (const ImportOptions::Range &range : options.ranges)
    ranges.push_back(b.getNamedAttr(range.symbol, b.getDenseI64ArrayAttr({range.min, range.max})));
  if (!ranges.empty())
    module->setAttr(kRangesAttr, b.getDictionaryAttr(ranges));
}
