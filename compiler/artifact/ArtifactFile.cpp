//===- ArtifactFile.cpp - sections to a file ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/ArtifactFile.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/Weights.h"
#include "runtime/format/Layout.h"
#include "runtime/format/plan_generated.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <map>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;
using fmt::Section;
using fmt::SectionKind;

namespace {

/// Writes a file section by section; only the table of sections is kept in memory.
class SectionWriter {
public:
  SectionWriter(llvm::raw_pwrite_stream &os, size_t count) : os(os) {
    os.write_zeros(sizeof(fmt::Header) + count * sizeof(Section));
  }

  using Sink = llvm::function_ref<void(llvm::ArrayRef<char>)>;
  void add(SectionKind kind, llvm::StringRef target, uint64_t alignment, llvm::function_ref<void(Sink)> writeBytes) {
    os.write_zeros(llvm::alignTo(os.tell(), alignment) - os.tell());
    assert(alignment > 0 && target.size() < sizeof(Section::target) && "a section names its target");
    Section section;
    std::memset(&section, 0, sizeof(section));
    section.kind = kind;
    section.offset = os.tell();
    std::memcpy(section.target, target.data(), std::min(target.size(), sizeof(section.target) - 1));
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    writeBytes([&](llvm::ArrayRef<char> bytes) {
      XXH3_64bits_update(state, bytes.data(), bytes.size());
      os.write(bytes.data(), bytes.size());
    });
    section.size = os.tell() - section.offset;
    section.hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    table.push_back(section);
  }
  void add(SectionKind kind, llvm::StringRef target, uint64_t alignment, const std::string &bytes) {
    add(kind, target, alignment, [&](Sink sink) { sink(llvm::ArrayRef(bytes.data(), bytes.size())); });
  }

  /// Adds the weights, without external ones if those stay in their files, and the hashes of all blocks.
  void addWeights(const WeightSection &weights, bool leavesExternal) {
    std::string hashes;
    uint64_t inBlock = 0;
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    auto endBlock = [&] {
      uint64_t hash = XXH3_64bits_digest(state);
      hashes.append(reinterpret_cast<const char *>(&hash), sizeof(hash));
      XXH3_64bits_reset(state);
      inBlock = 0;
    };
    add(SectionKind::weights, "", fmt::kPageSize, [&](Sink sink) {
      weights.write([&](llvm::ArrayRef<char> bytes, bool isExternal) {
        if (!isExternal || !leavesExternal)
          sink(bytes);
        while (!bytes.empty()) {
          assert(inBlock < fmt::kHashBlock && "a block that is full was ended");
          size_t count = std::min<uint64_t>(bytes.size(), fmt::kHashBlock - inBlock);
          XXH3_64bits_update(state, bytes.data(), count);
          bytes = bytes.drop_front(count);
          if ((inBlock += count) == fmt::kHashBlock)
            endBlock();
        }
      });
    });
    if (inBlock)
      endBlock();
    XXH3_freeState(state);
    add(SectionKind::hashes, "", fmt::kSectionAlignment, hashes);
  }

  void finish(uint64_t sourceHash) {
    fmt::Header header{};
    std::memcpy(header.magic, fmt::kMagic, sizeof(header.magic));
    header.version = version;
    header.sectionCount = table.size();
    header.fileSize = os.tell();
    header.tableHash = XXH3_64bits(table.data(), table.size() * sizeof(Section));
    header.sourceHash = sourceHash;
    os.pwrite(reinterpret_cast<const char *>(&header), sizeof(header), 0);
    os.pwrite(reinterpret_cast<const char *>(table.data()), table.size() * sizeof(Section), sizeof(header));
  }

  void addPlan(const std::string &target, const std::string &plan) {
    add(SectionKind::plan, target, fmt::kSectionAlignment, plan);
    const auto *states = fmt::GetPlan(plan.data())->states();
    if (states && states->size() && states->Get(states->size() - 1)->sequence())
      version = std::max(version, fmt::kSequencesVersion);
  }

  /// Adds where the weights lie.
  void addPlaces(const WeightSection &weights) {
    fmt::WeightPlaces counts{0, 0};
    std::string files, segments;
    std::map<size_t, uint32_t> numbers; // of the files that hold some
    auto append = [](std::string &to, const auto &value) {
      to.append(reinterpret_cast<const char *>(&value), sizeof(value));
    };
    for (const ExternalSegment &segment : weights.getExternal()) {
      if (!numbers.try_emplace(segment.file, counts.fileCount + 1).second)
        continue;
      ++counts.fileCount;
      const WeightFile &file = weights.getFiles()[segment.file];
      fmt::ExternalFile external{};
      assert(file.name.size() < sizeof(external.name) && "the driver leaves no weights in files of longer names");
      external.size = file.bytes.size();
      std::memcpy(external.name, file.name.data(), file.name.size());
      append(files, external);
    }
    uint64_t end = 0, own = 0;
    auto addOwn = [&](uint64_t upTo) {
      if (upTo == end)
        return;
      append(segments, fmt::WeightSegment{end, upTo - end, own, 0, 0});
      ++counts.segmentCount;
      own += upTo - end;
      end = upTo;
    };
    for (const ExternalSegment &segment : weights.getExternal()) {
      addOwn(segment.begin);
      append(segments, fmt::WeightSegment{segment.begin, segment.size, segment.offset, numbers[segment.file], 0});
      ++counts.segmentCount;
      end += segment.size;
    }
    addOwn(weights.getSize());
    std::string bytes;
    append(bytes, counts);
    add(SectionKind::places, "", fmt::kSectionAlignment, bytes + files + segments);
    version = std::max(version, fmt::kPlacesVersion);
  }

private:
  uint32_t version = fmt::kUsualVersion;
  llvm::raw_pwrite_stream &os;
  std::vector<Section> table;
};

} // namespace

void tenon::writeArtifact(const ArtifactParts &parts, llvm::raw_pwrite_stream &os) {
  bool hasWeights = parts.weights && parts.weights->getSize() > 0;
  bool leavesExternal = hasWeights && parts.leavesExternal && !parts.weights->getExternal().empty();
  size_t numSections = 1 + 2 * hasWeights + leavesExternal;
  for (const ArtifactParts::Variant &variant : parts.variants)
    numSections += variant.plans.size() + 1;
  SectionWriter writer(os, numSections);
  for (const ArtifactParts::Variant &variant : parts.variants)
    for (const std::string &plan : variant.plans)
      writer.addPlan(variant.target, plan);
  for (const ArtifactParts::Variant &variant : parts.variants)
    writer.add(SectionKind::code, variant.target, fmt::kPageSize, variant.code);
  writer.add(SectionKind::meta, "", fmt::kSectionAlignment, parts.meta);
  // The weights come last, so that nearly everything that a load reads is contiguous at the start; their hashes are
  // known only after they are written.
  if (hasWeights)
    writer.addWeights(*parts.weights, leavesExternal);
  if (leavesExternal)
    writer.addPlaces(*parts.weights);
  writer.finish(parts.sourceHash);
}

llvm::Error tenon::writeArtifact(const ArtifactParts &parts, const std::string &path) {
  return writeOutputFile(path, [&](llvm::raw_pwrite_stream &os) { writeArtifact(parts, os); });
}
