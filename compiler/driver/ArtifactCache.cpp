//===- ArtifactCache.cpp - artifacts that need not be compiled again ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ArtifactCache.h"
#include "compiler/artifact/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <optional>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringRef kArtifactSuffix = ".tenon", kInputsSuffix = ".inputs";

std::string ArtifactCache::getDefaultFolder() {
  if (const char *own = std::getenv("TENON_CACHE_DIR"); own && *own)
    return own;
  llvm::SmallString<128> folder;
  // Without a home, the place would be below the current folder.
  if (!path::cache_directory(folder) || !path::is_absolute(folder))
    return "";
  path::append(folder, "tenon");
  return folder.str().str();
}

std::string ArtifactCache::getPath(llvm::StringRef request, llvm::StringRef suffix) const {
  XXH128_hash_t hash = XXH3_128bits(request.data(), request.size());
  llvm::SmallString<128> result(folder);
  path::append(result, llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) +
                           llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16) + suffix);
  return result.str().str();
}

static std::optional<std::string> hashFile(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  return llvm::utohexstr(XXH3_64bits((*buffer)->getBufferStart(), (*buffer)->getBufferSize()), /*LowerCase=*/true, 16);
}

/// Whether each file that the lines name has the hash that stands before it.
static bool areUnchanged(llvm::StringRef lines) {
  while (!lines.empty()) {
    llvm::StringRef line;
    std::tie(line, lines) = lines.split('\n');
    auto [hash, file] = line.split(' ');
    if (std::optional<std::string> now = hashFile(file.str()); !now || *now != hash)
      return false;
  }
  return true;
}

std::string ArtifactCache::find(llvm::StringRef request) const {
  std::string artifact = getPath(request, kArtifactSuffix);
  auto inputs = llvm::MemoryBuffer::getFile(getPath(request, kInputsSuffix));
  if (!inputs || !fs::exists(artifact) || !areUnchanged((*inputs)->getBuffer()))
    return "";
  // The time of the last use, by which entries are trimmed.
  int descriptor;
  if (!fs::openFileForWrite(artifact, descriptor, fs::CD_OpenExisting, fs::OF_Append)) {
    std::error_code ignored = fs::setLastAccessAndModificationTime(descriptor, std::chrono::system_clock::now());
    ignored = fs::closeFile(descriptor);
    (void)ignored;
  }
  return artifact;
}

std::string ArtifactCache::reserve() const {
  llvm::SmallString<128> model(folder), result;
  path::append(model, "new-%%%%%%%%.tmp");
  if (folder.empty() || fs::create_directories(folder) || fs::createUniqueFile(model, result))
    return "";
  return result.str().str();
}

std::string ArtifactCache::store(llvm::StringRef request, const std::string &artifact,
                                 llvm::ArrayRef<std::string> files, llvm::sys::TimePoint<> begin) const {
  std::string lines;
  for (const std::string &file : files) {
    llvm::SmallString<128> absolute(file);
    std::optional<std::string> hash = hashFile(file);
    fs::file_status status;
    // What is written while a compilation reads it may have other bytes by now. A line is what ends a name.
    if (!hash || fs::status(file, status) || status.getLastModificationTime() >= begin || fs::make_absolute(absolute) ||
        llvm::StringRef(absolute).contains('\n'))
      return "";
    lines += *hash + " " + absolute.str().str() + "\n";
  }
  std::string place = getPath(request, kArtifactSuffix);
  // The inputs come last: without them, there is no entry.
  if (fs::rename(artifact, place))
    return "";
  llvm::Error error =
      writeOutputFile(getPath(request, kInputsSuffix), [&](llvm::raw_pwrite_stream &os) { os << lines; });
  llvm::consumeError(std::move(error));
  return place;
}

std::vector<ArtifactCache::Entry> ArtifactCache::list() const {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (path::extension(it->path()) != kArtifactSuffix)
      continue;
    fs::file_status artifact, inputs;
    if (fs::status(it->path(), artifact))
      continue;
    llvm::SmallString<128> other(it->path());
    path::replace_extension(other, kInputsSuffix);
    uint64_t more = fs::status(other, inputs) ? 0 : inputs.getSize();
    entries.push_back({it->path(), artifact.getSize() + more, artifact.getLastModificationTime()});
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(b.lastUse, a.artifact) < std::tie(a.lastUse, b.artifact);
  });
  return entries;
}

size_t ArtifactCache::trim(uint64_t limit) const {
  size_t removed = 0;
  uint64_t kept = 0;
  for (const Entry &entry : list()) {
    kept += entry.bytes;
    if (kept <= limit)
      continue;
    llvm::SmallString<128> inputs(entry.artifact);
    path::replace_extension(inputs, kInputsSuffix);
    // A process that has the artifact open keeps it.
    std::error_code first = fs::remove(inputs), second = fs::remove(entry.artifact);
    removed += !first && !second;
  }
  return removed;
}
