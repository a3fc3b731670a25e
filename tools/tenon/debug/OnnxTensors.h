//===- OnnxTensors.h - captured tensors as tensors of ONNX ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_ONNXTENSORS_H
#define TENON_TOOLS_TENON_DEBUG_ONNXTENSORS_H

#include "tools/tenon/debug/Capture.h"
#include <optional>

namespace onnx {
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace tenon::debug {

/// Returns the ONNX data type number; none for types whose elements share bytes in ONNX.
std::optional<int32_t> getDataType(tenon_dtype dtype);
/// The reverse.
std::optional<tenon_dtype> getDType(int32_t dataType);

/// Returns the elements of a tensor, converted to another type.
llvm::Expected<std::string> convertElements(const CapturedTensor &tensor, tenon_dtype dtype);

/// A tensor of ONNX with such elements.
onnx::TensorProto makeTensor(llvm::StringRef name, tenon_dtype dtype, llvm::ArrayRef<int64_t> dims,
                             std::string elements);

/// Sets the type of a value.
void setType(onnx::ValueInfoProto &info, tenon_dtype dtype, llvm::ArrayRef<int64_t> dims);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_ONNXTENSORS_H
