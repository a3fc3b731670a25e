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

/// A file that weights may stay in, and its name below the model's folder.
struct WeightFile {
  std::string name;
  llvm::ArrayRef<char> bytes;
};

/// Pages of such a file that stand at an address of the weights.
struct ExternalSegment {
  uint64_t begin, size, offset; ///< in the weights, and in the file; multiples of the largest page size
  size_t file;
};

/// Lays out the weights of a plan, each distinct one once. Bytes are not copied before they are written.
class WeightSection {
public:
  /// Large weights whose bytes are those of one of these files get pages of their own, so that these can be mapped in
  /// their place. Comes before the first weight.
  void leaveIn(std::vector<WeightFile> files) { sources = std::move(files); }
  llvm::ArrayRef<WeightFile> getFiles() const { return sources; }
  llvm::ArrayRef<ExternalSegment> getExternal() const { return external; }

  /// The offset of a weight in the section, a multiple of 64.
  uint64_t add(mlir::ElementsAttr value);
  /// The same of one that was added.
  uint64_t getOffset(mlir::ElementsAttr value) const {
    auto it = known.find(value);
    assert(it != known.end() && "the weight was added");
    return it->second;
  }
  uint64_t getSize() const { return size; }
  /// The types of the weights by their offsets, in order. Of several with the same bytes, that of the first one.
  std::vector<std::pair<uint64_t, mlir::RankedTensorType>> listTypes() const;
  /// Gives all bytes in order, padding included, in parts, and whether they are pages of another file.
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
  /// Entries by the hash and size of their bytes. The hash finds candidates alone: a model can be made to have
  /// different weights of one hash, so that bytes decide.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, llvm::SmallVector<size_t, 1>> byHash;
  uint64_t size = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_WEIGHTS_H
