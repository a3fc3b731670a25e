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

/// What has to be done because values are no results of kernels of their own any more, but slices of a larger one along
/// an axis. Most readers find the elements of a slice where they are: a slice that is contiguous is a view, attention
/// and whatever computes element by element has it as an index map.
class PartReads {
public:
  /// A value that becomes a slice along `axis`.
  void add(mlir::Value value, int64_t axis);

  /// Cycles of all cores together: those of copies, and of kernels for what were epilogues of the values.
  double estimateCycles(const Machine &machine) const;
  /// "2 copied, 1 without epilogue": what estimates follow from.
  std::string describe() const;

private:
  void addReader(mlir::Value value, mlir::Operation *reader);

  llvm::SetVector<mlir::Value> copied;        ///< what a kernel reads that needs a tensor of its own
  llvm::SetVector<mlir::Operation *> kernels; ///< the ends of elementwise operations that followed the values
};

} // namespace tenon

#endif // TENON_PASSES_FORMS_PARTREADS_H
