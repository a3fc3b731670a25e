//===- SharedPages.h - memory that is copied when it is written ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pages in a file that has no name, written once and then sealed, which any number
// of address ranges map privately: whoever writes to one gets a copy of that page,
// and no more. Whoever reads them needs to know nothing of it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_SHAREDPAGES_H
#define TENON_RUNTIME_BASE_SHAREDPAGES_H

#include <cstdint>
#include <memory>

namespace tenon::rt {

/// Returns the bytes of a page of this system.
uint64_t pageSize();

/// What became of memory over which something else should be mapped.
enum class Remapping {
  done,
  refused, ///< the system allows no more mappings; what was there before is unchanged
  lost     ///< what was there before is gone, and nothing is in its place
};

/// A number of bytes that does not change once they are written. They are freed when neither this object nor a mapping
/// refers to them.
class SharedPages {
public:
  /// `bytes` is a multiple of the page size. Returns null if the system cannot do it: it has no memfd_create, or limits
  /// on files forbid it.
  static std::shared_ptr<SharedPages> create(uint64_t bytes);
  SharedPages(SharedPages &&) = delete;
  ~SharedPages();

  /// Writes whole pages, in huge pages as far as they fill some and the system has them. Returns false, and leaves
  /// these bytes undefined, if there is no memory for them. Not after seal().
  bool write(uint64_t offset, const uint8_t *from, uint64_t bytes);
  /// Nobody can write to the file from now on. To be called before it is mapped.
  bool seal();

  /// Replaces the memory at `address`, whole pages, with a part of these pages. A huge page is mapped as one where
  /// address and offset have the same remainder by its size.
  Remapping mapOver(uint8_t *address, uint64_t offset, uint64_t bytes) const;

private:
  explicit SharedPages(int file) : file(file) {}
  bool writeSmall(uint64_t offset, const uint8_t *from, uint64_t bytes);
  bool writeHuge(uint64_t offset, const uint8_t *from, uint64_t bytes);

  int file;
};

/// Replaces the memory at `address`, whole pages, with new, zeroed pages.
Remapping mapFresh(uint8_t *address, uint64_t bytes);

/// Returns how many of the bytes at `address`, whole pages, are still those of the SharedPages that were mapped there,
/// up to the first page that was written; 0 if the system does not tell.
uint64_t countUnwritten(const uint8_t *address, uint64_t bytes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_SHAREDPAGES_H
