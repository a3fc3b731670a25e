//===- Layout.h - the artifact file around the plan ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact is a Header, a table of Sections, and the sections themselves:
//
//   offset 0     Header (64 bytes)
//   offset 64    Section[section_count] (512 bytes each)
//   aligned      section bytes: each starts on kSectionAlignment, weights and code on kPageSize
//
// Sections follow each other without a gap: the bytes from the end of one to the aligned start of the next are zero,
// and the file ends with the last one.
//
// All integers are little endian. Nothing in the file is an address.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_FORMAT_LAYOUT_H
#define TENON_RUNTIME_FORMAT_LAYOUT_H

#include <cstdint>

namespace tenon::fmt {

inline constexpr char kMagic[8] = {'T', 'E', 'N', 'O', 'N', '\r', '\n', 0x1a};
/// Raised whenever a reader of the older version could misread a newer file.
/// 2: kernels are told where the tiles of their last call ended (Kernel.h).
/// 3: weights have a hash for each block of them (SectionKind::hashes), and kernels say what a launch of them must be
/// (Kernel.h).
/// 4: plans have states, which sessions keep from run to run.
/// 5: weights may lie in other files (SectionKind::places). A file without such weights is of version 4.
/// 6: runs may be of several sequences. A file without such plans is of an earlier version.
inline constexpr uint32_t kFormatVersion = 6;
/// What files have that need no later one.
inline constexpr uint32_t kUsualVersion = 4;
/// The first version that may have weights in other files.
inline constexpr uint32_t kPlacesVersion = 5;
/// The first version that may have plans for runs of several sequences.
inline constexpr uint32_t kSequencesVersion = 6;
/// The oldest version that can be read. Kernels of version 1 lack the last argument, and ignore it.
inline constexpr uint32_t kOldestVersion = 1;
/// The first version whose code sections contain the facts of every kernel.
inline constexpr uint32_t kFactsVersion = 3;
/// The weights are hashed in blocks of this many bytes; the last one may be shorter. A block fits L2, so a launch finds
/// there what was hashed right before it.
inline constexpr uint64_t kHashBlock = 256u << 10;
/// The largest supported page size, so that every section can be mapped in place.
inline constexpr uint64_t kPageSize = 16384;
/// The alignment of all other sections, so that a plan can be read in place.
inline constexpr uint64_t kSectionAlignment = 64;
/// Upper bound for sections: a file has a few plans, at most one weights section, and a few code sections.
inline constexpr uint32_t kMaxSections = 512;
/// Upper bound for the plans of a target, which are programs for different sizes: the first one that matches the sizes
/// is run. The last one is for all sizes.
inline constexpr uint32_t kMaxPlans = 64;
/// No tensor of a plan has more dimensions.
inline constexpr uint32_t kMaxRank = 64;
/// Dimensions of an operand of a plug-in's operator.
inline constexpr uint32_t kMaxHostRank = 16;
/// Bytes of the name of a plug-in.
inline constexpr uint32_t kMaxPluginName = 64;
/// The largest arena_align of a plan.
inline constexpr uint32_t kMaxArenaAlignment = 4096;
/// No name of an entry point is longer, in bytes.
inline constexpr uint32_t kMaxEntryName = 512;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sectionCount;
  uint64_t fileSize;    // bytes of the whole file: a shorter file is truncated
  uint64_t tableHash;   // XXH3_64bits of the section table
  uint64_t sourceHash;  // XXH3_64bits of the model file that was compiled
  uint8_t reserved[24]; // zero
};
static_assert(sizeof(Header) == 64);

enum class SectionKind : uint32_t {
  plan = 1,    // FlatBuffers, root tenon.fmt.Plan
  code = 2,    // an ELF shared object without imports, for `target`
  weights = 3, // raw bytes, mapped read only
  meta = 4,    // JSON for people and tools: source, options, errors measured; the runtime skips it
  hashes = 5,  // of the weights: XXH3_64bits of each block of kHashBlock bytes, in order
  places = 6,  // where weights lie that are not in this file: WeightPlaces, then ExternalFile[], then WeightSegment[]
};

/// Weights are addressed and hashed as one range of bytes. With a section of places, it consists of consecutive
/// segments; those of this file are contiguous in its weights section.
struct WeightPlaces {
  uint32_t fileCount, segmentCount;
};
inline constexpr uint32_t kMaxExternalFiles = 4096;
/// Each segment is a mapping, of which a process may have some ten thousand.
inline constexpr uint32_t kMaxWeightSegments = 16384;

struct ExternalFile {
  uint64_t size;  // bytes of the whole file
  char name[504]; // below a folder that is known when the artifact is loaded: "model.safetensors", "data/a". Zero
                  // padded.
};
static_assert(sizeof(ExternalFile) == 512);

struct WeightSegment {
  uint64_t begin;  // of all weights; a multiple of kPageSize
  uint64_t size;   // likewise, but of the last one. Behind the end of a file there are zeros, less than kPageSize.
  uint64_t offset; // in the section of weights, or in the external file; a multiple of kPageSize
  uint32_t file;   // 0: this file's section; k: external file k - 1
  uint32_t zero;
};
static_assert(sizeof(WeightSegment) == 32);

struct Section {
  SectionKind kind;
  uint32_t flags;   // zero
  uint64_t offset;  // bytes from the start of the file
  uint64_t size;    // bytes
  uint64_t hash;    // XXH3_64bits of the bytes
  char target[480]; // code, plan: which processor it is for (Target.h); else empty. Zero padded, ends with 0.
};
static_assert(sizeof(Section) == 512);

} // namespace tenon::fmt

#endif // TENON_RUNTIME_FORMAT_LAYOUT_H
