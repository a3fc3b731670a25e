//===- WeightPlaces.h - where printed IR can read its weights again --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_WEIGHTPLACES_H
#define TENON_COMPILER_DRIVER_WEIGHTPLACES_H

#include "compiler/import/ExternalFiles.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace tenon {

/// Refers to the bytes of weights, for ReadableIR: to those of the model's own files where they are there, and else,
/// for what was computed, to a file beside the IR that gets them. IR without a file of its own has such bytes itself.
class WeightPlaces {
public:
  /// `model` is a file or a folder. IR is in `folder`, and so is `file`, which is written once there is a weight for
  /// it. Without a name, no weight that was computed has a place.
  WeightPlaces(std::string model, std::string folder, std::string file);
  /// For IR that goes to a stream, and who knows where from there: the model's files are named by an absolute path, and
  /// weights that were computed are a part of the text, if that is `withBytes`.
  WeightPlaces(std::string model, bool withBytes) : model(std::move(model)), withBytes(withBytes) {}

  /// The reference to bytes, as text (compiler/import/WeightReferences.h), or the bytes as the parser of MLIR reads
  /// them. They have to stay where they are.
  std::string locate(llvm::ArrayRef<char> bytes);

private:
  struct Place {
    llvm::ArrayRef<char> bytes;
    std::string file;
    uint64_t offset;
  };

  void readModel();
  void readOnnx(const std::string &file);
  void readFolder();
  void add(const std::string &file, llvm::ArrayRef<char> all, uint64_t offset, uint64_t size);
  const Place *find(llvm::ArrayRef<char> bytes) const;
  std::string append(llvm::ArrayRef<char> bytes);
  std::string printBytes(llvm::ArrayRef<char> bytes);

  std::string model, folder, file;    ///< without a folder, IR goes to a stream
  bool withBytes = false;             ///< in a stream
  uint64_t printedBytes = 0;          ///< in a stream
  std::string modelFolder;            ///< relative to `folder`, or absolute
  std::optional<ExternalFiles> files; ///< of the model
  llvm::DenseMap<uint64_t, std::vector<Place>> bySize;
  std::unique_ptr<llvm::raw_fd_ostream> written;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_WEIGHTPLACES_H
