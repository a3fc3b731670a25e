//===- ContractionEmitter.h - the loops of a contraction ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The structure is that of all fast matmuls (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008): a block of rows x vectors of the result stays in registers while the summed loops run; each
// step loads a few vectors of the RHS, and multiplies them with elements of the LHS. A micro-kernel (MicroKernel.h)
// decides which instructions a step consists of.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H
#define TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H

#include "passes/kernel/contract/ContractionProblem.h"

namespace tenon {

/// True if a registered micro-kernel can compute the contraction.
bool canEmitContraction(const ContractionProblem &problem);

/// Emits the loops of a contraction, for which there is a micro-kernel, before its operation. The elementwise
/// operations that follow become part of the loops, and are erased.
void emitContraction(const ContractionProblem &problem);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_CONTRACTIONEMITTER_H
