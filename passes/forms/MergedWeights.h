//===- MergedWeights.h - constant tensors side by side ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_MERGEDWEIGHTS_H
#define TENON_PASSES_FORMS_MERGEDWEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace tenon {

/// True if the elements of a constant can be copied as bytes, because each takes a whole number of them.
bool isMergeable(mlir::ElementsAttr elements);

/// Concatenates constants along an axis. All are mergeable, and have the same element type and the same extents but
/// along the axis.
mlir::ElementsAttr mergeElements(llvm::ArrayRef<mlir::ElementsAttr> parts, int64_t axis);

} // namespace tenon

#endif // TENON_PASSES_FORMS_MERGEDWEIGHTS_H
