//===- CachedCompile.h - compilations that the cache may save -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_CACHEDCOMPILE_H
#define TENON_TOOLS_TENON_CACHEDCOMPILE_H

#include "compiler/driver/ArtifactCache.h"
#include "compiler/driver/Compile.h"
#include "tools/tenon/Progress.h"
#include "llvm/Support/FileUtilities.h"

namespace CLI {
class App;
}

namespace tenon {

/// Returns the request for the artifact of `command`, which is tenon compile or tenon run; the two share artifacts.
/// None if more than the artifact is requested, or if it depends on something that the request does not cover. Options
/// and command must outlive the request.
std::optional<ArtifactRequest> makeArtifactRequest(const CompileOptions &options, const CLI::App &command);

/// How a compilation ended.
struct CompileOutcome {
  int status = 0; ///< exit code
  ResultOrigin origin;
  double seconds = 0;
};

/// Writes the result to `options.output`: from the cache if it is there, otherwise by a compilation that is then
/// cached. `request` is null if only kernels may be taken from the cache; `folder` is empty if nothing may be.
CompileOutcome compileToFile(CompileOptions &options, const ArtifactRequest *request, const std::string &folder);

/// An artifact to run: in the cache, or a temporary file.
struct CompiledFile {
  int status = 0; ///< exit code
  std::string artifact;
  std::optional<llvm::FileRemover> remover;
};

/// The same for callers that need no particular file name.
CompiledFile compileToCache(CompileOptions &options, const ArtifactRequest *request, const std::string &folder);

} // namespace tenon

#endif // TENON_TOOLS_TENON_CACHEDCOMPILE_H
