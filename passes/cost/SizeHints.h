//===- SizeHints.h - sizes that choices are made for ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_SIZEHINTS_H
#define TENON_PASSES_COST_SIZEHINTS_H

#include "dialects/tenon/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"

namespace tenon {

/// The values of symbols that choices are tuned for where dimensions are dynamic.
class SizeHints {
public:
  /// Reads the hints of the function or kernel.
  explicit SizeHints(mlir::func::FuncOp function) {
    auto values = function->getAttrOfType<mlir::DictionaryAttr>(kSizeHintsAttr);
    for (mlir::NamedAttribute value : values ? values : mlir::DictionaryAttr::get(function.getContext()))
      known[getDimSymbol(function.getContext(), value.getName())] =
          getDimConstant(function.getContext(), mlir::cast<mlir::IntegerAttr>(value.getValue()).getInt());
  }

  /// The value of a static extent, or the hint for a dynamic one, which is at least 1; nothing without a hint.
  std::optional<int64_t> get(mlir::AffineExpr dim) const {
    std::optional<int64_t> size = getConstant(dim);
    if (size || known.empty())
      return size;
    size = getConstant(simplifyDim(dim.replace(known)));
    return size ? std::max<int64_t>(*size, 1) : size;
  }

private:
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> known;
};

} // namespace tenon

#endif // TENON_PASSES_COST_SIZEHINTS_H
