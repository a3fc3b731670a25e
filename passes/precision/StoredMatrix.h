//===- StoredMatrix.h - a constant matrix in another format ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_STOREDMATRIX_H
#define TENON_PASSES_PRECISION_STOREDMATRIX_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "passes/precision/ConstantMatrices.h"
#include "passes/precision/WeightFormat.h"
#include <map>

namespace tenon {

class CalibratedQuantizer;

/// What takes the place of a matrix: elements that its context owns.
struct StoredMatrix {
  mlir::ElementsAttr numbers, scales, zeros; ///< floats are `numbers`; null where the format has none
  QuantizationError error;
  uint64_t bytes = 0; ///< where kernels read it: numbers of four bits share bytes
  bool isCalibrated = false;
};

/// By the names of the matrices.
using StoredMatrices = std::map<std::string, StoredMatrix>;

/// The format that rules ask for, for each of the matrices; nothing where none does. Fails with a message for users.
llvm::Expected<std::vector<std::optional<WeightFormat>>> chooseFormats(llvm::ArrayRef<ConstantMatrix> matrices,
                                                                       llvm::ArrayRef<std::string> rules);

/// Whether a matrix has the format already.
bool isStoredSo(const ConstantMatrix &matrix, const WeightFormat &format);

/// The matrix in the format, for the inputs that `calibrated` has seen where it is not null. Fails with a message for
/// users where the format does not have its elements.
llvm::Expected<StoredMatrix> storeMatrix(const ConstantMatrix &matrix, const WeightFormat &format,
                                         const CalibratedQuantizer *calibrated = nullptr);

/// Replaces the matrix in the IR.
void replaceMatrix(ConstantMatrix &matrix, const WeightFormat &format, const StoredMatrix &stored);

} // namespace tenon

#endif // TENON_PASSES_PRECISION_STOREDMATRIX_H
