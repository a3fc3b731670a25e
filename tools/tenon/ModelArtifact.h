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

/// The model's folder, or the one that its file is in: where its tokenizer is.
std::string getModelFolder(const std::string &model);

/// The artifact of the model, which is compiled if it is none, and kept in the cache unless `isUncached`.
CompiledFile findArtifact(CompileArguments &arguments, bool isUncached, const CLI::App &command);

} // namespace tenon

#endif // TENON_TOOLS_TENON_MODELARTIFACT_H
