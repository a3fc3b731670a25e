//===- ImportModel.cpp - options of all importers -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ImportModel.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;

llvm::Error ImportOptions::parseShape(StringRef text, ImportOptions &options) {
  // The last '=': names may hold one.
  auto [name, dims] = text.rsplit('=');
  Shape shape{name.str(), {}};
  SmallVector<StringRef> parts;
  dims.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t number;
    bool isNumber = !part.getAsInteger(10, number);
    if (part.empty() || (isNumber && number < 0) || (!isNumber && llvm::isDigit(part.front())))
      name = "";
    shape.dims.push_back(part.str());
  }
  if (name.empty())
    return makeError(CompileStatus::misuse,
                     "'" + text + "' has to look like NAME=1x3xHxW, with a number or a symbol for each dimension");
  options.shapes.push_back(std::move(shape));
  return llvm::Error::success();
}

llvm::Error ImportOptions::parseRange(StringRef text, ImportOptions &options) {
  auto [name, bounds] = text.rsplit('=');
  auto [low, high] = bounds.split("..");
  Range range{name.str(), 0, 0};
  if (name.empty() || low.getAsInteger(10, range.min) || high.getAsInteger(10, range.max) || range.min < 0 ||
      range.max < range.min)
    return makeError(CompileStatus::misuse, "'" + text + "' has to look like H=32..640, the smaller number first");
  options.ranges.push_back(std::move(range));
  return llvm::Error::success();
}

llvm::Error ImportOptions::parseConstant(StringRef text, ImportOptions &options) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || value.empty())
    return makeError(CompileStatus::misuse, "'" + text + "' has to look like NAME=1,2 or NAME=@FILE");
  options.constants.push_back({name.str(), value.str()});
  return llvm::Error::success();
}
