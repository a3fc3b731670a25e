//===- Weights.h - the weights section ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_WEIGHTS_H
#define TENON_COMPILER_ARTIFACT_WEIGHTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A file that weights may stay in, and its name relative to the model's folder.
struct WeightFile {
  std::string name;
  llvm::ArrayRef<char> bytes;
};

/// Pages of such a file that are mapped at an address of the weights.
struct ExternalSegment {
  uint64_t begin, size, offset; ///< in the weights, and in the file; multiples of the largest page size
  size_t file;
};

/// Lays out the weights of a plan without duplicates. Bytes are not copied before they are written.
class WeightSection {
public:
  /// Gives large weights whose bytes are in one of these files pages of their own, so that the file can be mapped
  /// there. Must be called before the first weight is added.
  void leaveIn(std::vector<WeightFile> files) { sources = std::move(files); }
  llvm::ArrayRef<WeightFile> getFiles() const { return sources; }
  llvm::ArrayRef<ExternalSegment> getExternal() const { return external; }

  /// Adds a weight and returns its offset in the section, a multiple of 64.
  uint64_t add(mlir::ElementsAttr value);
  /// The same of one that was added.
  uint64_t getOffset(mlir::ElementsAttr value) const {
    auto it = known.find(value);
    assert(it != known.end() && "the weight was added");
    return it->second;
  }
  uint64_t getSize() const { return size; }
  /// Lists the types of the weights by offset, in order. If several have the same bytes, the first one's type is
  /// listed.
  std::vector<std::pair<uint64_t, mlir::RankedTensorType>> listTypes() const;
  /// Passes all bytes to `sink` in order and in parts, padding included, with a flag for pages of another file.
  void write(llvm::function_ref<void(llvm::ArrayRef<char>, bool isExternal)> sink) const;

private:
  struct Entry {
    mlir::ElementsAttr value;
    uint64_t offset;
    bool isExternal;
  };
  std::optional<uint64_t> addExternal(llvm::ArrayRef<char> bytes, uint64_t alignment);

  std::vector<WeightFile> sources;
  std::vector<ExternalSegment> external; ///< in order
  std::vector<Entry> entries;
  /// Equal attributes are one pointer as it is.
  llvm::DenseMap<mlir::Attribute, uint64_t> known;
  /// Entries by the hash and size of their bytes. The hash only finds candidates, whose bytes are compared: a model can
  /// be crafted to have different weights with the same hash.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, llvm::SmallVector<size_t, 1>> byHash;
  uint64_t size = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_WEIGHTS_H
