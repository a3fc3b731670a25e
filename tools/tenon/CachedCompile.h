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

/// The request for the artifact that `command`, tenon compile or tenon run, asks for. Both find the artifacts of each
/// other. Nothing where the artifact is not all that is asked for, or depends on what the request cannot tell. Options
/// and command have to outlive the request.
std::optional<ArtifactRequest> makeArtifactRequest(const CompileOptions &options, const CLI::App &command);

/// How a compilation ended.
struct CompileOutcome {
  int status = 0; ///< exit code
  ResultOrigin origin;
  double seconds = 0;
};

/// Writes what is asked for to `options.output`: from the cache if it is there, and then keeps it there. `request` is
/// null where only kernels may be taken from the cache; `folder` is empty where nothing may be.
CompileOutcome compileToFile(CompileOptions &options, const ArtifactRequest *request, const std::string &folder);

/// An artifact to run: in the cache, or a temporary file.
struct CompiledFile {
  int status = 0; ///< exit code
  std::string artifact;
  std::optional<llvm::FileRemover> remover;
};

/// The same for whoever needs no file of a certain name.
CompiledFile compileToCache(CompileOptions &options, const ArtifactRequest *request, const std::string &folder);

} // namespace tenon

#endif // TENON_TOOLS_TENON_CACHEDCOMPILE_H
