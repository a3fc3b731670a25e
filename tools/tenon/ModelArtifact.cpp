//===- ModelArtifact.cpp - the artifact of a model that a command is given ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/ModelArtifact.h"
#include "runtime/format/Layout.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace tenon;

bool tenon::isArtifact(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFileSlice(path, sizeof fmt::kMagic, 0);
  return !llvm::sys::fs::is_directory(path) && file &&
         (*file)->getBuffer() == llvm::StringRef(fmt::kMagic, sizeof fmt::kMagic);
}

std::string tenon::getModelFolder(const std::string &model) {
  if (llvm::sys::fs::is_directory(model))
    return model;
  llvm::StringRef parent = llvm::sys::path::parent_path(model);
  return parent.empty() ? "." : parent.str();
}

CompiledFile tenon::findArtifact(CompileArguments &arguments, bool isUncached, const CLI::App &command) {
  CompiledFile compiled;
  const std::string &model = arguments.options.input;
  if (isArtifact(model)) {
    compiled.artifact = model;
    return compiled;
  }
  if (!resolveCompileOptions(arguments)) {
    compiled.status = 2;
    return compiled;
  }
  std::string cache = isUncached ? "" : CacheStore::getDefaultFolder();
  compiled.status = openRemotes(arguments, cache);
  if (compiled.status)
    return compiled;
  std::optional<ArtifactRequest> request =
      cache.empty() ? std::nullopt : makeArtifactRequest(arguments.options, command);
  return compileToCache(arguments.options, request ? &*request : nullptr, cache);
}
