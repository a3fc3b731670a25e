//===- Capture.h - tensors of a run, as files -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_CAPTURE_H
#define TENON_TOOLS_TENON_DEBUG_CAPTURE_H

#include "tenon/runtime.h"
#include "tools/tenon-run/Model.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <string>
#include <vector>

namespace tenon::debug {

/// A captured input or output of a run, in a folder: `index.json` describes all tensors of the run, and each has a file
/// with its elements. Runs happen in separate processes, in C++ or Python, which leave these files.
struct CapturedTensor {
  std::string name; ///< of the input, the output or the value
  tenon_role role = TENON_ROLE_VALUE;
  tenon_dtype dtype = TENON_F32;
  std::vector<int64_t> dims;
  std::string file;

  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readElements() const;
  uint64_t getCount() const { return tenon_tensor_bytes(TENON_U8, dims.size(), dims.data()); }
  /// "f32[1,3,224]"
  std::string describeType() const;
};

/// Writes a small file of text.
llvm::Error writeFile(const std::string &path, llvm::StringRef bytes);

/// Writes tensors to a folder that exists.
class CaptureWriter {
public:
  explicit CaptureWriter(std::string folder) : folder(std::move(folder)) {}

  llvm::Error add(llvm::StringRef name, tenon_role role, const tenon_tensor &tensor);
  /// Adds the tensors of a model's value.
  llvm::Error add(const run::Model::Value &value, run::HostValue content);
  llvm::Error finish();

private:
  std::string folder;
  std::vector<CapturedTensor> tensors;
};

/// Fails if the folder contains no capture, or if one of its files is truncated.
llvm::Expected<std::vector<CapturedTensor>> readCapture(const std::string &folder);

/// Null where there is none of the name.
const CapturedTensor *findTensor(llvm::ArrayRef<CapturedTensor> tensors, llvm::StringRef name,
                                 tenon_role role = TENON_ROLE_VALUE);

/// Converts a status of tenon-run to an error with its category.
llvm::Error takeStatus(const run::Status &status);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_CAPTURE_H
