//===- ArtifactFile.h - sections to a file --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_ARTIFACTFILE_H
#define TENON_COMPILER_ARTIFACT_ARTIFACTFILE_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class raw_pwrite_stream;
}

namespace tenon {

class WeightSection;

/// What an artifact is made of.
struct ArtifactParts {
  /// What there is of one target.
  struct Variant {
    std::string target;             ///< its name and what it needs of the processor, see runtime/format/Target.h
    std::vector<std::string> plans; ///< in the order in which the runtime tries them
    std::string code;               ///< an ELF shared object
  };
  std::vector<Variant> variants; ///< in order of preference
  const WeightSection *weights;
  std::string meta; ///< JSON
  uint64_t sourceHash;
  bool leavesExternal =
      false; ///< weights in other files stay there (WeightSection::leaveIn); otherwise all are written
};

/// Writes the artifact to `path`, atomically (OutputFile.h).
llvm::Error writeArtifact(const ArtifactParts &parts, const std::string &path);

/// Writes the same bytes to a stream at position 0.
void writeArtifact(const ArtifactParts &parts, llvm::raw_pwrite_stream &os);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_ARTIFACTFILE_H
