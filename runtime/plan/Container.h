//===- Container.h - the sections of an artifact file --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_CONTAINER_H
#define TENON_RUNTIME_PLAN_CONTAINER_H

#include "runtime/base/Status.h"
#include "runtime/format/Layout.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::rt {

/// The verified header and section table of a file: magic, version, the table's hash, and that the sections are known,
/// aligned, in bounds and disjoint.
struct Container {
  fmt::Header header;
  std::vector<fmt::Section> sections; // a copy, in the order of the file
  const uint8_t *bytes = nullptr;     // of the file, which the caller keeps

  const uint8_t *data(const fmt::Section &section) const { return bytes + section.offset; }

  /// The first section of a kind, or null.
  const fmt::Section *find(fmt::SectionKind kind) const;

  /// Returns the plans of a code section, in the order in which sizes are tried.
  std::vector<const fmt::Section *> plansOf(const fmt::Section &code) const;

  /// Compares a section's bytes with its hash.
  Status checkHash(const fmt::Section &section) const;

  /// The hashes of blocks of the weights. Without a section of hashes, which version 3 introduced, the weights are one
  /// block.
  struct BlockHashes {
    uint64_t blockSize = 0;
    std::vector<uint64_t> hashes;
  };
  /// Fails unless there is one for each block of `size` bytes of weights.
  Status readBlockHashes(uint64_t size, BlockHashes *blocks) const;
};

/// "plan", "code"...
const char *sectionName(fmt::SectionKind kind);

/// Split a section's target (Target.h) into the name, which may be empty, and the rest.
std::string_view targetName(const fmt::Section &section);
const char *targetNeeds(const fmt::Section &section);

Status readContainer(const uint8_t *bytes, size_t size, Container *container);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_CONTAINER_H
