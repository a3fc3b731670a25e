//===- Container.cpp - the sections of an artifact file ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Container.h"

#include "runtime/base/CheckedMath.h"
#include "runtime/base/Hash.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace tenon::rt {

const char *sectionName(fmt::SectionKind kind) {
  switch (kind) {
  case fmt::SectionKind::plan:
    return "plan";
  case fmt::SectionKind::code:
    return "code";
  case fmt::SectionKind::weights:
    return "weights";
  case fmt::SectionKind::meta:
    return "meta";
  case fmt::SectionKind::hashes:
    return "hashes";
  case fmt::SectionKind::places:
    return "places";
  }
  return "unknown";
}

const char *targetNeeds(const fmt::Section &section) {
  const char *equals = strchr(section.target, '=');
  return equals ? equals + 1 : section.target;
}

std::string_view targetName(const fmt::Section &section) {
  const char *equals = strchr(section.target, '=');
  return {section.target, equals ? size_t(equals - section.target) : 0};
}

std::vector<const fmt::Section *> Container::plansOf(const fmt::Section &code) const {
  std::vector<const fmt::Section *> plans;
  for (const fmt::Section &section : sections)
    if (section.kind == fmt::SectionKind::plan && (!section.target[0] || strcmp(section.target, code.target) == 0))
      plans.push_back(&section);
  return plans;
}

const fmt::Section *Container::find(fmt::SectionKind kind) const {
  for (const fmt::Section &section : sections)
    if (section.kind == kind)
      return &section;
  return nullptr;
}

Status Container::checkHash(const fmt::Section &section) const {
  uint64_t hash = hashBytes(data(section), section.size);
  if (hash != section.hash)
    return Status::make(TENON_INVALID,
                        "damaged: the hash of its %s is %016" PRIx64 ", and should be %016" PRIx64
                        "; compile or copy it again",
                        sectionName(section.kind), hash, section.hash);
  return {};
}

Status Container::readBlockHashes(uint64_t size, BlockHashes *blocks) const {
  const fmt::Section *weights = find(fmt::SectionKind::weights), *section = find(fmt::SectionKind::hashes);
  if (!section) {
    if (header.version >= fmt::kFactsVersion)
      return Status::make(TENON_INVALID, "damaged: it has weights, and no hashes of them");
    *blocks = {size, {weights->hash}};
    return {};
  }
  TENON_TRY(checkHash(*section));
  uint64_t count = size / fmt::kHashBlock + (size % fmt::kHashBlock != 0);
  if (section->size != count * sizeof(uint64_t))
    return Status::make(TENON_INVALID, "damaged: it has %" PRIu64 " bytes of hashes for %" PRIu64 " blocks of weights",
                        section->size, count);
  blocks->blockSize = fmt::kHashBlock;
  blocks->hashes.resize(count);
  if (count)
    memcpy(blocks->hashes.data(), data(*section), section->size);
  return {};
}

static Status checkHeader(const fmt::Header &header, size_t size) {
  if (memcmp(header.magic, fmt::kMagic, sizeof fmt::kMagic) != 0)
    return Status::make(TENON_INVALID, "not a Tenon artifact; tenon compile writes one");
  if (header.version < fmt::kOldestVersion || header.version > fmt::kFormatVersion)
    return Status::make(TENON_UNSUPPORTED,
                        "format version %u, this runtime reads versions %u to %u; compile the "
                        "model again or use %s runtime",
                        header.version, fmt::kOldestVersion, fmt::kFormatVersion,
                        header.version > fmt::kFormatVersion ? "a newer" : "an older");
  if (header.fileSize != size)
    return Status::make(TENON_INVALID, "%s: it has %zu bytes, and should have %" PRIu64,
                        size < header.fileSize ? "truncated" : "damaged", size, header.fileSize);
  for (uint8_t byte : header.reserved)
    if (byte)
      return Status::make(TENON_INVALID, "damaged: reserved bytes of the header are not zero");
  if (header.sectionCount > fmt::kMaxSections)
    return Status::make(TENON_INVALID, "damaged: it names %u sections, at most %u are allowed", header.sectionCount,
                        fmt::kMaxSections);
  return {};
}

static uint64_t alignmentOf(fmt::SectionKind kind) {
  bool mapped = kind == fmt::SectionKind::code || kind == fmt::SectionKind::weights;
  return mapped ? fmt::kPageSize : fmt::kSectionAlignment;
}

static bool isZero(const char *bytes, size_t size) {
  return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static Status checkSection(const fmt::Section &section, uint32_t index, uint64_t tableEnd, size_t size) {
  const char *name = sectionName(section.kind);
  if (uint32_t(section.kind) < uint32_t(fmt::SectionKind::plan) ||
      uint32_t(section.kind) > uint32_t(fmt::SectionKind::places))
    return Status::make(TENON_INVALID, "damaged: section %u has kind %u", index, uint32_t(section.kind));
  if (section.flags)
    return Status::make(TENON_INVALID, "damaged: section %u (%s) has flags %u", index, name, section.flags);
  uint64_t alignment = alignmentOf(section.kind);
  if (section.offset % alignment)
    return Status::make(TENON_INVALID,
                        "damaged: section %u (%s) starts at %" PRIu64 ", which is no multiple of %" PRIu64, index, name,
                        section.offset, alignment);
  if (section.offset < tableEnd || !fits(section.offset, section.size, size))
    return Status::make(TENON_INVALID,
                        "damaged: section %u (%s) has %" PRIu64 " bytes at %" PRIu64 ", outside of the file's %zu",
                        index, name, section.size, section.offset, size);
  if (section.target[sizeof section.target - 1])
    return Status::make(TENON_INVALID, "damaged: the target of section %u (%s) does not end", index, name);
  size_t length = strlen(section.target);
  if (!isZero(section.target + length, sizeof section.target - length))
    return Status::make(TENON_INVALID, "damaged: the target of section %u (%s) has bytes behind its end", index, name);
  bool isForTarget = section.kind == fmt::SectionKind::code || section.kind == fmt::SectionKind::plan;
  if (!isForTarget && section.target[0])
    return Status::make(TENON_INVALID, "damaged: section %u (%s) has a target, which only code and plans have", index,
                        name);
  return {};
}

/// Checks that each code section has plans, and that targets are distinct.
static Status checkCode(const Container &container) {
  const std::vector<fmt::Section> &sections = container.sections;
  for (const fmt::Section &code : sections) {
    if (code.kind != fmt::SectionKind::code)
      continue;
    size_t plans = container.plansOf(code).size();
    if (plans < 1 || plans > fmt::kMaxPlans)
      return Status::make(TENON_INVALID, "damaged: its code for %s has %zu plans, 1 to %u are wanted",
                          targetNeeds(code), plans, fmt::kMaxPlans);
    for (const fmt::Section *other = sections.data(); other != &code; ++other)
      if (other->kind == fmt::SectionKind::code && strcmp(other->target, code.target) == 0)
        return Status::make(TENON_INVALID, "damaged: it has code for %s twice", targetNeeds(code));
  }
  return {};
}

/// Checks that sections are contiguous from the end of the table to that of the file, with only zero padding in
/// between, so that every byte of the file is accounted for, and none can be moved out of a section unnoticed.
static Status checkGaps(const Container &container, const std::vector<const fmt::Section *> &order, uint64_t tableEnd,
                        size_t size) {
  uint64_t end = tableEnd;
  for (const fmt::Section *section : order) {
    uint64_t gap = section->offset - end;
    if (gap >= alignmentOf(section->kind) || !isZero(reinterpret_cast<const char *>(container.bytes + end), gap))
      return Status::make(TENON_INVALID, "damaged: the %" PRIu64 " bytes before its section %s belong to none", gap,
                          sectionName(section->kind));
    end = section->offset + section->size;
  }
  if (end != size)
    return Status::make(TENON_INVALID, "damaged: the %" PRIu64 " bytes after its last section belong to none",
                        size - end);
  return {};
}

static Status checkTogether(const Container &container, uint64_t tableEnd, size_t size) {
  std::vector<const fmt::Section *> order;
  unsigned weights = 0, hashes = 0, places = 0;
  for (const fmt::Section &section : container.sections) {
    order.push_back(&section);
    weights += section.kind == fmt::SectionKind::weights;
    hashes += section.kind == fmt::SectionKind::hashes;
    places += section.kind == fmt::SectionKind::places;
  }
  if (places > (container.header.version >= fmt::kPlacesVersion))
    return Status::make(TENON_INVALID, "damaged: it has %u sections of places of weights", places);
  if (weights > 1 || hashes > 1)
    return Status::make(TENON_INVALID,
                        "damaged: it has %u sections of weights and %u of hashes, expected at most one of each",
                        weights, hashes);
  std::sort(order.begin(), order.end(), [](const fmt::Section *a, const fmt::Section *b) {
    return a->offset != b->offset ? a->offset < b->offset : a->size < b->size;
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset < order[i - 1]->offset + order[i - 1]->size)
      return Status::make(TENON_INVALID, "damaged: its sections %s and %s overlap", sectionName(order[i - 1]->kind),
                          sectionName(order[i]->kind));
  return checkGaps(container, order, tableEnd, size);
}

Status readContainer(const uint8_t *bytes, size_t size, Container *container) {
  // A file that is too short for a header may still be recognizable as no artifact.
  size_t known = size < sizeof fmt::kMagic ? size : sizeof fmt::kMagic;
  if (memcmp(bytes, fmt::kMagic, known) != 0)
    return Status::make(TENON_INVALID, "not a Tenon artifact; tenon compile writes one");
  fmt::Header &header = container->header;
  if (size < sizeof header)
    return Status::make(TENON_INVALID, "truncated: it has %zu bytes, the header alone has %zu", size, sizeof header);
  memcpy(&header, bytes, sizeof header);
  TENON_TRY(checkHeader(header, size));

  size_t tableSize = header.sectionCount * sizeof(fmt::Section);
  if (!fits(sizeof header, tableSize, size))
    return Status::make(TENON_INVALID, "truncated: its %u sections do not fit into %zu bytes", header.sectionCount,
                        size);
  const uint8_t *table = bytes + sizeof header;
  if (hashBytes(table, tableSize) != header.tableHash)
    return Status::make(TENON_INVALID, "damaged: the hash of its section table is wrong; compile or copy it "
                                       "again");
  container->bytes = bytes;
  container->sections.resize(header.sectionCount);
  if (tableSize)
    memcpy(container->sections.data(), table, tableSize);
  for (uint32_t i = 0; i < header.sectionCount; ++i)
    TENON_TRY(checkSection(container->sections[i], i, sizeof header + tableSize, size));
  TENON_TRY(checkCode(*container));
  return checkTogether(*container, sizeof header + tableSize, size);
}

} // namespace tenon::rt
