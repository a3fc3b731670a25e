//===- Container.cpp - the sections of an artifact file ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Container.h"

#include "runtime/core/CheckedMath.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

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
    if (section.kind == fmt::SectionKind::plan &&
        (!section.target[0] || strcmp(section.target, code.target) == 0))
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
  uint64_t hash = XXH3_64bits(data(section), section.size);
  if (hash != section.hash)
    return Status::make(TENON_INVALID,
                        "damaged: the hash of its %s is %016" PRIx64 ", and should be %016" PRIx64
                        "; compile or copy it again",
                        sectionName(section.kind), hash, section.hash);
  return {};
}

static Status checkHeader(const fmt::Header &header, size_t size) {
  if (memcmp(header.magic, fmt::kMagic, sizeof fmt::kMagic) != 0)
    return Status::make(TENON_INVALID, "not a tenon artifact");
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
    return Status::make(TENON_INVALID, "damaged: it names %u sections, at most %u are allowed",
                        header.sectionCount, fmt::kMaxSections);
  return {};
}

static Status checkSection(const fmt::Section &section, uint32_t index, uint64_t tableEnd, size_t size) {
  const char *name = sectionName(section.kind);
  if (uint32_t(section.kind) < uint32_t(fmt::SectionKind::plan) ||
      uint32_t(section.kind) > uint32_t(fmt::SectionKind::meta))
    return Status::make(TENON_INVALID, "damaged: section %u has kind %u", index, uint32_t(section.kind));
  if (section.flags)
    return Status::make(TENON_INVALID, "damaged: section %u (%s) has flags %u", index, name, section.flags);
  bool mapped = section.kind == fmt::SectionKind::code || section.kind == fmt::SectionKind::weights;
  uint64_t alignment = mapped ? fmt::kPageSize : fmt::kSectionAlignment;
  if (section.offset % alignment)
    return Status::make(TENON_INVALID,
                        "damaged: section %u (%s) starts at %" PRIu64 ", which is no multiple of %" PRIu64,
                        index, name, section.offset, alignment);
  if (section.offset < tableEnd || !fits(section.offset, section.size, size))
    return Status::make(TENON_INVALID,
                        "damaged: section %u (%s) has %" PRIu64 " bytes at %" PRIu64
                        ", outside of the file's %zu",
                        index, name, section.size, section.offset, size);
  if (section.target[sizeof section.target - 1])
    return Status::make(TENON_INVALID, "damaged: the target of section %u (%s) does not end", index, name);
  bool isForTarget = section.kind == fmt::SectionKind::code || section.kind == fmt::SectionKind::plan;
  if (!isForTarget && section.target[0])
    return Status::make(TENON_INVALID,
                        "damaged: section %u (%s) has a target, which code and plans alone have", index, name);
  return {};
}

/// That each code has plans, and no target two codes.
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

static Status checkTogether(const std::vector<fmt::Section> &sections) {
  std::vector<const fmt::Section *> order;
  unsigned weights = 0;
  for (const fmt::Section &section : sections) {
    order.push_back(&section);
    weights += section.kind == fmt::SectionKind::weights;
  }
  if (weights > 1)
    return Status::make(TENON_INVALID, "damaged: it has %u sections of weights, at most one is wanted", weights);
  std::sort(order.begin(), order.end(),
            [](const fmt::Section *a, const fmt::Section *b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i]->offset < order[i - 1]->offset + order[i - 1]->size)
      return Status::make(TENON_INVALID, "damaged: its sections %s and %s overlap",
                          sectionName(order[i - 1]->kind), sectionName(order[i]->kind));
  return {};
}

Status readContainer(const uint8_t *bytes, size_t size, Container *container) {
  // A file too short for a header may still show that it is no artifact at all.
  size_t known = size < sizeof fmt::kMagic ? size : sizeof fmt::kMagic;
  if (memcmp(bytes, fmt::kMagic, known) != 0)
    return Status::make(TENON_INVALID, "not a tenon artifact");
  fmt::Header &header = container->header;
  if (size < sizeof header)
    return Status::make(TENON_INVALID, "truncated: it has %zu bytes, the header alone has %zu", size,
                        sizeof header);
  memcpy(&header, bytes, sizeof header);
  TENON_TRY(checkHeader(header, size));

  size_t tableSize = header.sectionCount * sizeof(fmt::Section);
  if (!fits(sizeof header, tableSize, size))
    return Status::make(TENON_INVALID, "truncated: its %u sections do not fit into %zu bytes",
                        header.sectionCount, size);
  const uint8_t *table = bytes + sizeof header;
  if (XXH3_64bits(table, tableSize) != header.tableHash)
    return Status::make(TENON_INVALID, "damaged: the hash of its section table is wrong; compile or copy it "
                                       "again");
  container->bytes = bytes;
  container->sections.resize(header.sectionCount);
  if (tableSize)
    memcpy(container->sections.data(), table, tableSize);
  for (uint32_t i = 0; i < header.sectionCount; ++i)
    TENON_TRY(checkSection(container->sections[i], i, sizeof header + tableSize, size));
  TENON_TRY(checkCode(*container));
  return checkTogether(container->sections);
}

} // namespace tenon::rt
