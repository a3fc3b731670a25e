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

/// The operations whose results a loop nest may compute element by element as it reads them.
enum class OperandFusion {
  none,         ///< it reads memory as it is
  movement,     ///< those that change indices alone, or unpack a weight
  recomputable, ///< those that are recomputable
  any           ///< all that are no loop nests
};

/// Receives the requirements of an operation on extents. Each method adds a condition that is checked at run time,
/// unless it is known to hold, or one of the extents is unknown.
class ExtentRequirements {
public:
  virtual ~ExtentRequirements() = default;
  virtual void addSame(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b) = 0;
  /// Two extents that may broadcast: there is no condition if one is 1.
  virtual void addEqual(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b) = 0;
  /// a <= b, unless `count`, where it is given, is 0.
  virtual void addAtMost(mlir::Operation *op, mlir::AffineExpr a, mlir::AffineExpr b, mlir::AffineExpr count = {}) = 0;
};

/// How kernels compute an operation.
enum class ComputeKind {
  elementwise,   ///< the trait `Elementwise`
  elementAccess, ///< the trait `ElementAccess`
  loopNest,      ///< `LoopNestOpInterface`
  decomposed,    ///< `CompositeOpInterface` alone: kernels compute what it is decomposed into
  noKernel       ///< the trait `NoKernel` alone
};

/// Returns the compute kind that an operation of the dialect declares; none if it declares no kind, or several
/// exclusive ones.
std::optional<ComputeKind> getComputeKind(mlir::OperationName name);

/// Returns the indices at which `operand`, broadcast to the shape of `result`, is read for the result element at
/// `indices`.
llvm::SmallVector<mlir::AffineExpr> getOperandIndices(mlir::Value operand, mlir::Value result,
                                                      llvm::ArrayRef<mlir::AffineExpr> indices);

/// Infers the result type of an elementwise operation whose operands have the same element type: that type, and the
/// shape that they broadcast to. Fails, with an error at `loc` if it is given, if types or shapes do not match.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> loc, mlir::ValueRange operands,
                                     llvm::SmallVectorImpl<mlir::Type> &types);
/// The same with a result of booleans.
mlir::LogicalResult inferPredicate(std::optional<mlir::Location> loc, mlir::ValueRange operands,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace tenon

#include "TenonInterfaces.h.inc"

#endif // TENON_DIALECTS_TENON_INTERFACES_H
