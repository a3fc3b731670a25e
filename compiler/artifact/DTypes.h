//===- DTypes.h - element types of MLIR and of the format -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_DTYPES_H
#define TENON_COMPILER_ARTIFACT_DTYPES_H

#include "mlir/IR/Types.h"
#include "runtime/format/plan_generated.h"
#include <optional>

namespace tenon {

/// Returns the format's name for an element type of the tenon dialect; none if the format lacks it.
std::optional<fmt::DType> getDType(mlir::Type elementType);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_DTYPES_H
