//===- StoredBytes.h - where a model file has the elements of its tensors --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_STOREDBYTES_H
#define TENON_COMPILER_IMPORT_ONNX_STOREDBYTES_H

#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace tenon {

/// Elements of a tensor as a file has them.
struct StoredBytes {
  std::string file; ///< of external data; empty: the model itself
  uint64_t offset, size;
};

/// Lists the elements of all tensors of a serialized ONNX model that are stored as bytes: initializers and attributes,
/// including those in functions and subgraphs. The rest of a malformed message is skipped.
std::vector<StoredBytes> listStoredBytes(llvm::ArrayRef<char> model);

} // namespace tenon

#endif // TENON_COMPILER_IMPORT_ONNX_STOREDBYTES_H
