//===- PmaddWd.h - int8 as dot products of two i16: vpmaddwd --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_PMADDWD_H
#define TENON_PASSES_KERNEL_CONTRACT_PMADDWD_H

#include "passes/kernel/contract/Int8Kernel.h"

namespace tenon {

/// Widens both operands to i16 in registers, right before they are multiplied.
class PmaddWd : public Int8Kernel {
public:
  using Int8Kernel::Int8Kernel;
  /// The parts of a group are in registers together.
  void limitBlock(BlockProblem &block) const override { block.registers -= 4; }

protected:
  mlir::VectorType getWideType() { return mlir::VectorType::get({2 * lanes}, b.getI16Type()); }
  llvm::SmallVector<mlir::Value> splitRhs(mlir::Value groups) override;
  llvm::SmallVector<mlir::Value> splitLhs(mlir::Value group) override;
  mlir::Value addProducts(mlir::Value sum, mlir::Value lhs, mlir::Value rhs) override;
};

/// Targets with VNNI have vpmaddwd, too.
inline bool hasPmaddWd(Int8Dot int8Dot) { return int8Dot == Int8Dot::pmaddWd || int8Dot == Int8Dot::vnni; }

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_PMADDWD_H
