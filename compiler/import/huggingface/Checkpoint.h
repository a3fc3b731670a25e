//===- Checkpoint.h - the weights of a model, in one file or many ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_CHECKPOINT_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_CHECKPOINT_H

#include "compiler/import/ExternalFiles.h"
#include "compiler/import/Report.h"
#include "compiler/import/huggingface/Json.h"
#include "compiler/import/huggingface/Safetensors.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace tenon::huggingface {

/// All weights of a folder. It collects requested weights that are missing, so that they are reported together.
class Checkpoint {
public:
  Checkpoint(ExternalFiles &files, Report &report, mlir::MLIRContext *context)
      : files(files), report(report), context(context) {}

  /// Reads the headers of model.safetensors, or of the shards that the index names. Returns false after a reported
  /// error.
  bool read();

  size_t size() const { return tensors.size(); }
  bool contains(llvm::StringRef name) const { return tensors.contains(name); }
  /// Returns the first dimension of a weight; 1 if there is no weight of that name, or if it is a scalar.
  int64_t countRows(llvm::StringRef name) const;
  /// Returns the elements of a weight, which point into the mapped file; null if there is no floating-point weight of
  /// that name and shape.
  mlir::ElementsAttr get(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// Returns the bytes of a tensor in the mapped file; none if there is no tensor of that name, shape and dtype.
  std::optional<llvm::ArrayRef<char>> getBytes(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                                               llvm::StringRef dtype);
  /// Reports what could not be had.
  void reportFaults(llvm::StringRef architecture);

private:
  struct Entry {
    StoredTensor tensor;
    std::shared_ptr<const MappedFile> file;
    mlir::ElementsAttr elements = {}; ///< once they have been requested
  };
  Entry *find(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  bool readFile(llvm::StringRef name, llvm::StringMap<Entry> &found);
  bool readShards(const Json &index);

  ExternalFiles &files;
  Report &report;
  mlir::MLIRContext *context;
  llvm::StringMap<Entry> tensors;
  std::vector<std::string> missing, misshapen, unsupported;
};

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_CHECKPOINT_H
