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

/// All weights of a folder. It notes what was asked for and is not there, so that all of it can be told at
/// once.
class Checkpoint {
public:
  Checkpoint(ExternalFiles &files, Report &report, mlir::MLIRContext *context)
      : files(files), report(report), context(context) {}

  /// Reads the headers of model.safetensors, or of the shards that the index names. False where that failed,
  /// which has been reported.
  bool read();

  size_t size() const { return tensors.size(); }
  bool contains(llvm::StringRef name) const { return tensors.contains(name); }
  /// The first dimension of a weight; 1 where there is none of that name, or it is a number.
  int64_t countRows(llvm::StringRef name) const;
  /// The elements of a weight, which point into the mapped file; null where there is none of that name and
  /// shape, or it does not hold floats.
  mlir::ElementsAttr get(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// The bytes of a tensor, which the mapped file keeps; nothing where there is none of that name, shape and dtype.
  std::optional<llvm::ArrayRef<char>> getBytes(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                                               llvm::StringRef dtype);
  /// Reports what could not be had.
  void reportFaults(llvm::StringRef architecture);

private:
  struct Entry {
    StoredTensor tensor;
    std::shared_ptr<const MappedFile> file;
  };
  const Entry *find(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
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
