//===- ModelArtifact.h - the artifact of a model that a command is given --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_MODELARTIFACT_H
#define TENON_TOOLS_TENON_MODELARTIFACT_H

#include "tools/tenon/CachedCompile.h"
#include "tools/tenon/CompileOptions.h"

#include <string>

namespace tenon {

/// Whether a file begins as artifacts do.
bool isArtifact(const std::string &path);

/// Returns the model's folder, or the one of its file, which contains the tokenizer.
std::string getModelFolder(const std::string &model);

/// Returns the artifact of the model; a model is compiled, and cached unless `isUncached`.
CompiledFile findArtifact(CompileArguments &arguments, bool isUncached, const CLI::App &command);

} // namespace tenon

#endif // TENON_TOOLS_TENON_MODELARTIFACT_H
