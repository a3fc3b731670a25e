//===- FileFormat.h - files that are taken for a model, and are none ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_FILEFORMAT_H
#define TENON_COMPILER_IMPORT_FILEFORMAT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tenon {

/// A format that no importer reads. It is recognized in order to report what the file is and what to pass instead.
struct ForeignFormat {
  llvm::StringRef name;   ///< with its article: "a GGUF file"
  llvm::StringRef advice; ///< what to do instead, as an imperative
};

/// Returns the format of a file from its first bytes; none if it may be an ONNX model.
std::optional<ForeignFormat> recognizeForeignFormat(llvm::ArrayRef<char> bytes);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_FILEFORMAT_H
