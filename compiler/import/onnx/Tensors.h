//===- Tensors.h - element types and constants of a model -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_TENSORS_H
#define TENON_COMPILER_IMPORT_ONNX_TENSORS_H

#include "compiler/graph/Elements.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace onnx {
class TensorProto;
}

namespace tenon {
class ExternalFiles;
}

namespace tenon::onnx_import {

/// Returns the element type of an ONNX data type number; null for types that the dialect lacks (strings, complex
/// numbers).
mlir::Type getElementType(mlir::MLIRContext *context, int32_t dataType);
/// Returns the ONNX data type number of an element type that getElementType returned.
int32_t getDataType(mlir::Type type);
/// "float16", for messages.
std::string getDataTypeName(int32_t dataType);

/// Strings of a model.
struct StringTensor {
  llvm::SmallVector<std::string> texts;
  llvm::SmallVector<int64_t> shape;
};

/// Returns the strings of a tensor. Fails if their number does not match its shape; the message is to be printed after
/// its name.
llvm::Expected<StringTensor> readStrings(const onnx::TensorProto &tensor);

/// Turns a model's tensors into attributes.
class TensorReader {
public:
  /// `owner` keeps the protobuf messages alive that resources point into.
  TensorReader(mlir::MLIRContext *context, std::shared_ptr<const void> owner, ExternalFiles &files)
      : context(context), owner(std::move(owner)), files(files) {}

  /// Returns the tensor's elements. Error messages are to be printed after the tensor's name.
  llvm::Expected<mlir::ElementsAttr> read(const onnx::TensorProto &tensor, llvm::StringRef name);

private:
  llvm::Expected<mlir::ElementsAttr> readExternal(const onnx::TensorProto &tensor, mlir::RankedTensorType type,
                                                  int64_t size, llvm::StringRef name);
  llvm::Expected<mlir::ElementsAttr> readFields(const onnx::TensorProto &tensor, mlir::RankedTensorType type,
                                                int64_t count, llvm::StringRef name);

  mlir::MLIRContext *context;
  std::shared_ptr<const void> owner;
  ExternalFiles &files;
};

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_TENSORS_H
