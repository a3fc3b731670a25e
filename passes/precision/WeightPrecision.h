//===- WeightPrecision.h - what the formats of weights cost and save -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_WEIGHTPRECISION_H
#define TENON_PASSES_PRECISION_WEIGHTPRECISION_H

#include <cstdint>
#include <string>
#include <vector>

namespace tenon {

/// What `tenon-quantize-weights` did.
struct WeightPrecision {
  struct Matrix {
    std::string name, format; ///< "int4 (group 32)"
    std::vector<int64_t> shape;
    uint64_t bytesBefore = 0, bytes = 0; ///< with scales and zero points
    double error = 0;                    ///< the root of the squared errors over that of the squares
  };
  std::vector<Matrix> matrices; ///< that are stored in another format than the model has
  uint64_t numMatrices = 0;     ///< that could be

  /// What the matrices were calibrated with.
  struct CalibrationData {
    std::string name; ///< of a file or folder, without those around it
    uint64_t xxh3;    ///< of a file's bytes, or of the inputs in a folder
  };
  std::vector<CalibrationData> calibration;
  uint64_t numCalibrationRuns = 0;
};

} // namespace tenon

#endif // TENON_PASSES_PRECISION_WEIGHTPRECISION_H
