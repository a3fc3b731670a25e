//===- Calibration.h - weights quantized for the inputs of a model --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_CALIBRATION_H
#define TENON_COMPILER_DRIVER_CALIBRATION_H

#include "compiler/driver/Phases.h"
#include "passes/precision/StoredMatrix.h"

namespace tenon {

/// What --calibrate made of --weights.
struct CalibratedWeights {
  std::shared_ptr<const StoredMatrices> matrices; ///< null where nothing was calibrated
  std::vector<WeightPrecision::CalibrationData> data;
  uint64_t numRuns = 0;
};

/// Quantizes the constant matrices of an imported model, which it changes, for the inputs that the options have.
/// Matrices that do not depend on each other are quantized together, in the order in which the model computes with
/// them: the model runs on all inputs with what is quantized already, and beside it with its own weights; of both, the
/// moments of what products sum with are all that is kept (passes/precision/CalibrationGraph.h, CalibratedQuantizer.h).
llvm::Expected<CalibratedWeights> calibrateWeights(mlir::OwningOpRef<mlir::ModuleOp> model, const phases::Setup &setup,
                                                   PhaseRunner &runner);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_CALIBRATION_H
