//===- Safetensors.h - reads files in the safetensors format --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_SAFETENSORS_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_SAFETENSORS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tenon::huggingface {

/// A tensor of a file: its elements in the layout of the file.
struct StoredTensor {
  std::string dtype;      ///< as the format calls it: "BF16"
  mlir::Type elementType; ///< null where the dialect has none
  llvm::SmallVector<int64_t> shape;
  llvm::ArrayRef<char> bytes;
};

/// The tensors of a safetensors file, which point into it. Fails if the file violates the format: the header has at
/// most 100,000,000 bytes and must be within the file, each tensor has just the bytes that its shape and dtype need,
/// and together they fill the rest of the file without a gap or an overlap. The message is to be printed after the
/// file's name. Memory use is proportional to the header.
llvm::Expected<llvm::StringMap<StoredTensor>> readSafetensors(llvm::ArrayRef<char> file, mlir::MLIRContext *context);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_SAFETENSORS_H
