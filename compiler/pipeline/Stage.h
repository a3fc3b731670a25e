//===- Stage.h - how far IR has come ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_STAGE_H
#define TENON_COMPILER_PIPELINE_STAGE_H

#include "mlir/IR/BuiltinOps.h"

namespace tenon {

/// The stage that IR has reached between a model and code, in the order of the passes.
enum class Stage {
  model,           ///< functions in tenon operations, in dispatch regions or not
  launches,        ///< launches of kernels in tenon operations
  inPlaceOperands, ///< such launches, of which some write over an operand: their order stays
  loweredKernels,  ///< launches of kernels in linalg
  tiledKernels,    ///< launches of kernels that loop over tiles
  programs,        ///< plans, whose activations may have places, and tiled kernels on tensors
  buffers,         ///< plans with places, and kernels on buffers, each in a module of its own
  kernelsAlone,    ///< kernels without anything that launches them
};

/// Returns the stage of a module, or of the target modules in it, from its operations.
Stage findStage(mlir::ModuleOp module);

/// True for a module that contains a single kernel, whose name it has.
bool isKernelModule(mlir::ModuleOp module);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_STAGE_H
