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

/// Weights lie at one stretch of addresses, parts of which files are mapped to. Any number of threads may use it at
/// once. Without a file, where the artifact lies in memory of the caller, nothing can be loaded or let go of.
class WeightRegion {
public:
  /// The `size` bytes from byte `begin` of the weights on, which begin at `weights`, are those of `file`, which stays,
  /// from `offset` on.
  void add(const uint8_t *weights, uint64_t begin, uint64_t size, const MappedFile &file, uint64_t offset);

  bool isMapped() const { return !parts.empty(); }

  /// Reads blocks into memory.
  Status load(BlockRange blocks) const;
  /// The same, and nothing around them gets into memory; with `scratch`, a buffer of kScratch bytes, not into the
  /// system's cache either. What was loaded so is released.
  Status loadAlone(BlockRange blocks, void *scratch) const;
  /// Gives the pages of blocks back; with `forgets` the system's cache lets go of them, too.
  void release(BlockRange blocks, bool forgets) const;
  /// Whether a block looks as if it could be read without a disk.
  bool isCached(uint64_t block) const;
  /// The system is to read nothing but what is asked for.
  void expectRandom() const;

  static constexpr uint64_t kScratch = uint64_t(1) << 20; // limit: for each thread that reads

private:
  struct Part {
    const uint8_t *address;
    uint64_t begin, size; ///< bytes of the weights
    const MappedFile *file;
    uint64_t offset; ///< in the file
  };
  /// Calls `use` for each part of a file that blocks lie in, until it returns a failure.
  template <typename Use> Status forEach(BlockRange blocks, Use use) const;

  std::vector<Part> parts;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_WEIGHTREGION_H
