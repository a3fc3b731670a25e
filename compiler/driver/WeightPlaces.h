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

/// Finds the bytes of weights for ReadableIR: in the model's own files if they are there, otherwise, for computed
/// weights, in a file beside the IR to which it writes them. IR that is printed to a stream contains such bytes itself.
class WeightPlaces {
public:
  /// `model` is a file or a folder. The IR is in `folder`, and so is `file`, which is created for the first weight.
  /// With an empty name, computed weights have no place.
  WeightPlaces(std::string model, std::string folder, std::string file);
  /// For IR that is printed to a stream, whose destination is unknown: the model's files are named by absolute paths,
  /// and computed weights are part of the text if `withBytes`.
  WeightPlaces(std::string model, bool withBytes) : model(std::move(model)), withBytes(withBytes) {}

  /// Returns the reference to bytes as text (compiler/import/WeightReferences.h), or the bytes in MLIR's syntax. The
  /// bytes must not move.
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
