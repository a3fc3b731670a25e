//===- PartReads.h - what reading parts of a result costs ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_FORMS_PARTREADS_H
#define TENON_PASSES_FORMS_PARTREADS_H

#include "mlir/IR/Value.h"
#include "passes/cost/Machine.h"
#include "llvm/ADT/SetVector.h"

namespace tenon {

/// The extra work of reading values that are slices of a larger kernel's result along an axis, instead of results of
/// their own. Most users read a slice in place: a contiguous slice is a view, and attention and elementwise operations
/// read any slice through an index map.
class PartReads {
public:
  /// A value that becomes a slice along `axis`.
  void add(mlir::Value value, int64_t axis);

  /// Returns the cycles over all cores: those of copies, and of kernels for operations that were epilogues of the
  /// values.
  double estimateCycles(const Machine &machine) const;
  /// Returns a text such as "2 copied, 1 without epilogue", which estimates depend on.
  std::string describe() const;

private:
  void addReader(mlir::Value value, mlir::Operation *reader);

  llvm::SetVector<mlir::Value> copied;        ///< what a kernel reads that needs a tensor of its own
  llvm::SetVector<mlir::Operation *> kernels; ///< the ends of elementwise operations that followed the values
};

} // namespace tenon

#endif // TENON_PASSES_FORMS_PARTREADS_H
