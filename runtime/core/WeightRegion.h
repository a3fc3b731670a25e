//===- WeightRegion.h - the files behind the addresses of weights -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_WEIGHTREGION_H
#define TENON_RUNTIME_CORE_WEIGHTREGION_H

#include "runtime/base/MappedFile.h"
#include "runtime/plan/WeightUses.h"

#include <vector>

namespace tenon::rt {

/// The weights as a contiguous range of addresses, parts of which are mapped from files. Thread-safe. Without a file,
/// if the artifact is in the caller's memory, nothing can be loaded or released.
class WeightRegion {
public:
  /// Registers that the `size` bytes from byte `begin` of the weights on are those of `file` from `offset` on.
  /// `weights` is the start of the weights, and the file must outlive this.
  void add(const uint8_t *weights, uint64_t begin, uint64_t size, const MappedFile &file, uint64_t offset);

  bool isMapped() const { return !parts.empty(); }

  /// Reads blocks into memory.
  Status load(BlockRange blocks) const;
  /// The same, without read-around; with `scratch`, a buffer of kScratch bytes, the page cache is bypassed, too. Blocks
  /// that are loaded this way are released.
  Status loadAlone(BlockRange blocks, void *scratch) const;
  /// Releases the pages of blocks; with `forgets` also from the page cache.
  void release(BlockRange blocks, bool forgets) const;
  /// True if a block can probably be read without disk access.
  bool isCached(uint64_t block) const;
  /// Disables the system's read-ahead.
  void expectRandom() const;

  static constexpr uint64_t kScratch = uint64_t(1) << 20; // limit: for each thread that reads

private:
  struct Part {
    const uint8_t *address;
    uint64_t begin, size; ///< bytes of the weights
    const MappedFile *file;
    uint64_t offset; ///< in the file
  };
  /// Calls `use` for each part of a file that contains some of the blocks, until it fails.
  template <typename Use> Status forEach(BlockRange blocks, Use use) const;

  std::vector<Part> parts;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_WEIGHTREGION_H
