//===- UsualSizes.h - for which sizes a function is to be fastest ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_USUALSIZES_H
#define TENON_PASSES_COST_USUALSIZES_H

#include "dialects/tenon/Dims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"

namespace tenon {

/// The sizes that choices are made for where open ones allow any: what a profile calls the best value.
class UsualSizes {
public:
  /// Those of the function or kernel.
  explicit UsualSizes(mlir::func::FuncOp function) {
    auto values = function->getAttrOfType<mlir::DictionaryAttr>(kUsualAttr);
    for (mlir::NamedAttribute value : values ? values : mlir::DictionaryAttr::get(function.getContext()))
      known[getDimSymbol(function.getContext(), value.getName())] =
          getDimConstant(function.getContext(), mlir::cast<mlir::IntegerAttr>(value.getValue()).getInt());
  }

  /// What an extent is, or usually is, which is at least 1; nothing where that is not known.
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

#endif // TENON_PASSES_COST_USUALSIZES_H
