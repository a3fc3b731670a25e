//===- QuantizeWeights.h - constant matrices in the bits that a user wants ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_QUANTIZEWEIGHTS_H
#define TENON_PASSES_PRECISION_QUANTIZEWEIGHTS_H

#include "mlir/Pass/Pass.h"
#include "passes/precision/StoredMatrix.h"

namespace tenon {

struct WeightPrecision;

/// `tenon-quantize-weights` that tells what it has done, and takes those matrices from `calibrated` that are there.
/// Both may be null.
std::unique_ptr<mlir::Pass> createQuantizeWeights(llvm::ArrayRef<std::string> rules,
                                                  std::shared_ptr<WeightPrecision> report,
                                                  std::shared_ptr<const StoredMatrices> calibrated);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_QUANTIZEWEIGHTS_H
