//===- Interfaces.h - what operations say about themselves ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interfaces.td says what each trait and interface means.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_INTERFACES_H
#define TENON_DIALECTS_TENON_INTERFACES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace tenon {

template <typename OpT> class Elementwise : public mlir::OpTrait::TraitBase<OpT, Elementwise> {};
template <typename OpT> class ElementAccess : public mlir::OpTrait::TraitBase<OpT, ElementAccess> {};
template <typename OpT> class NoKernel : public mlir::OpTrait::TraitBase<OpT, NoKernel> {};
template <typename OpT> class Recomputable : public mlir::OpTrait::TraitBase<OpT, Recomputable> {};
template <typename OpT> class SingleInstruction : public mlir::OpTrait::TraitBase<OpT, SingleInstruction> {};
template <typename OpT> class Discontinuous : public mlir::OpTrait::TraitBase<OpT, Discontinuous> {};
template <typename OpT> class BitwiseLogic : public mlir::OpTrait::TraitBase<OpT, BitwiseLogic> {};
template <typename OpT> class DataMovement : public mlir::OpTrait::TraitBase<OpT, DataMovement> {};
template <typename OpT> class Unpacking : public mlir::OpTrait::TraitBase<OpT, Unpacking> {};
template <typename OpT> class FixedElementTypes : public mlir::OpTrait::TraitBase<OpT, FixedElementTypes> {};
template <typename OpT> class LaunchLike : public mlir::OpTrait::TraitBase<OpT, LaunchLike> {};
template <typename OpT> class Ordered : public mlir::OpTrait::TraitBase<OpT, Ordered> {};
template <typename OpT> class ViewLike : public mlir::OpTrait::TraitBase<OpT, ViewLike> {};
template <typename OpT> class RunTimeOnly : public mlir::OpTrait::TraitBase<OpT, RunTimeOnly> {};

/// Which operations a loop nest may compute, element by element, while it reads their results.
enum class OperandFusion {
  None,         ///< it reads memory as it is
  Movement,     ///< those that change indices alone, or unpack a weight
  Recomputable, ///< those that are recomputable
  Any           ///< all that are no loop nests
};

/// Receives what an operation takes for granted of extents. Each method adds a condition that sizes have to meet when
/// the model runs, unless it is known to hold, or nothing is known of one of the extents.
class ExtentRequirements {
public:
  virtual ~ExtentRequirements() = default;
  virtual void addSame(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b) = 0;
  /// Two extents that may broadcast: if one is 1 there is no condition.
  virtual void addEqual(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b) = 0;
  /// a <= b, unless `count`, where it is given, is 0.
  virtual void addAtMost(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b, mlir::AffineExpr count = {}) = 0;
};

/// How kernels compute an operation.
enum class ComputeKind {
  Elementwise,   ///< the trait `Elementwise`
  ElementAccess, ///< the trait `ElementAccess`
  LoopNest,      ///< `LoopNestOpInterface`
  Decomposed,    ///< `CompositeOpInterface` alone: kernels compute what it is decomposed into
  NoKernel       ///< the trait `NoKernel` alone
};

/// The kind that an operation of the dialect declares; none if it declares no kind, or several that exclude each other.
std::optional<ComputeKind> getComputeKind(mlir::OperationName name);

/// The indices at which `operand`, broadcast to the shape of `result`, is read for the element of that at `indices`.
llvm::SmallVector<mlir::AffineExpr> getOperandIndices(mlir::Value operand, mlir::Value result,
                                                      llvm::ArrayRef<mlir::AffineExpr> indices);

/// The result type of an elementwise operation whose operands have one element type: theirs, of the shape that they
/// broadcast to. Fails, with an error at `loc` where there is one, if types or shapes do not fit.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> loc, mlir::ValueRange operands,
                                     llvm::SmallVectorImpl<mlir::Type> &types);
/// The same with a result of booleans.
mlir::LogicalResult inferPredicate(std::optional<mlir::Location> loc, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace tenon

#include "TenonInterfaces.h.inc"

#endif // TENON_DIALECTS_TENON_INTERFACES_H
