//===- ValueError.h - how far a value is off ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_VALUEERROR_H
#define TENON_TOOLS_TENON_DEBUG_VALUEERROR_H

#include "tools/tenon/debug/Capture.h"
#include <optional>

namespace tenon::debug {

/// How far a tensor is from what a reference computed.
struct ValueError {
  bool isFloat = true;
  /// For floats: the largest difference divided by the largest finite element of the reference, as in `tenon compile`;
  /// for integers: the largest difference. Infinite if only one of both is a number, or infinite.
  double error = 0;
  uint64_t differing = 0, count = 0; ///< elements that are not equal
  std::string mismatch;              ///< "f32[2], want f32[3]", where nothing can be compared; else empty

  /// "3.1e-02", "2 of 10 differ"
  std::string describe() const;
};

llvm::Expected<ValueError> compareTensors(const CapturedTensor &got, const CapturedTensor &want);

/// Compares the parts that the first `numDims` dimensions of both tensors enumerate, in order. Returns a single error
/// if the dimensions differ.
llvm::Expected<std::vector<ValueError>> compareParts(const CapturedTensor &got, const CapturedTensor &want,
                                                     size_t numDims);

/// Compares tensors whose layouts may differ: the smallest elements are compared with each other, and so on. No
/// permutation has a smaller error.
llvm::Expected<ValueError> compareElements(const CapturedTensor &got, const CapturedTensor &want);

/// What errors are allowed.
struct ErrorLimit {
  double tolerance = 1e-5;        ///< that the model was compiled with
  std::optional<double> maxError; ///< what the user wants instead, for floats of all types
  bool isExact = true;            ///< the reference rounds so little that its own error does not count

  /// Types of few bits have rounding errors beyond any tolerance, and a reference in f32 has an error of its own. 8-bit
  /// integers may differ by one, since quantization rounds to them; all others must be equal.
  double getAllowed(tenon_dtype dtype) const;
  bool allows(const ValueError &value, tenon_dtype dtype) const;
};

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_VALUEERROR_H
