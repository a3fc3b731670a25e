//===- ArtifactCache.cpp - artifacts that need not be compiled again ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ArtifactCache.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::optional<std::string> hashFile(const std::string &file) {
  llvm::Expected<fs::file_t> opened = fs::openNativeFileForRead(file);
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return std::nullopt;
  }
  // Files are read in parts and not mapped, so that a large model does not fill memory.
  constexpr size_t kPart = size_t(1) << 20; // limit: bytes that are read at once
  std::vector<char> part(kPart);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  bool isWhole = false, isWrong = false;
  while (!isWhole && !isWrong) {
    llvm::Expected<size_t> count = fs::readNativeFile(*opened, part);
    isWrong = !count;
    if (isWrong) {
      llvm::consumeError(count.takeError());
      break;
    }
    isWhole = *count == 0;
    XXH3_64bits_update(&state, part.data(), *count);
  }
  fs::closeFile(*opened);
  if (isWrong)
    return std::nullopt;
  return llvm::utohexstr(XXH3_64bits_digest(&state), /*LowerCase=*/true, 16);
}

/// True if each file that the lines name still has the hash in front of its name.
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

/// Returns a line "XXH3 PATH" for each file; none if one may have changed since a compilation that started at `begin`
/// read it.
static std::optional<std::string> describeFiles(llvm::ArrayRef<std::string> files, llvm::sys::TimePoint<> begin) {
  // An artifact of nothing would never be stale.
  if (files.empty())
    return std::nullopt;
  std::string lines;
  for (const std::string &file : files) {
    llvm::SmallString<128> absolute(file);
    std::optional<std::string> hash = hashFile(file);
    fs::file_status status;
    // A file that was written during the compilation may differ from what was read. A line break ends a name, so names
    // must not contain one.
    if (!hash || fs::status(file, status) || status.getLastModificationTime() >= begin || fs::make_absolute(absolute) ||
        llvm::StringRef(absolute).contains('\n'))
      return std::nullopt;
    lines += *hash + " " + absolute.str().str() + "\n";
  }
  return lines;
}

void ArtifactCache::addNote(llvm::Error error) {
  std::string message;
  takeError(std::move(error), message);
  if (note.empty())
    note = "the cache is not used: " + message;
}

std::unique_ptr<CacheStore> ArtifactCache::open() {
  if (folder.empty())
    return nullptr;
  llvm::Expected<uint64_t> limit = CacheStore::getDefaultLimit();
  if (!limit) {
    addNote(limit.takeError());
    return nullptr;
  }
  llvm::Expected<std::unique_ptr<CacheStore>> store = CacheStore::open(folder, *limit);
  if (store)
    return std::move(*store);
  std::string message;
  // A system without a folder for caches is no reason for a warning in each compilation.
  if (CompileStatus category = takeError(store.takeError(), message); category != CompileStatus::resources)
    addNote(makeError(category, message));
  return nullptr;
}

std::optional<CacheStore::Hit> ArtifactCache::find(const ArtifactRequest &request) {
  std::unique_ptr<CacheStore> store = open();
  if (!store)
    return std::nullopt;
  llvm::Expected<std::optional<CacheStore::Hit>> hit = store->find(CacheKind::artifact, request.key);
  if (!hit) {
    addNote(hit.takeError());
    return std::nullopt;
  }
  if (store->getDamaged() && note.empty())
    note = "a damaged entry of the cache is ignored: " + store->getFirstDamage();
  if (!*hit || !areUnchanged((*hit)->entry.files))
    return fetch(request, *store);
  if (llvm::Error error = store->reuse({{(*hit)->entry.id, {{llvm::json::fixUTF8(request.model), ""}}}}))
    addNote(std::move(error));
  return std::move(*hit);
}

//===----------------------------------------------------------------------===//
// Remote caches
//===----------------------------------------------------------------------===//

/// Renames the files in the lines; none if a file has no new name.
static std::optional<std::string> renameFiles(llvm::StringRef lines,
                                              llvm::function_ref<std::optional<std::string>(llvm::StringRef)> rename) {
  std::string renamed;
  while (!lines.empty()) {
    llvm::StringRef line;
    std::tie(line, lines) = lines.split('\n');
    auto [hash, file] = line.split(' ');
    std::optional<std::string> name = rename(file);
    if (!name)
      return std::nullopt;
    renamed += hash.str() + " " + *name + "\n";
  }
  return renamed;
}

/// Returns the name of a file for other machines: relative to the model's folder, or unchanged for files elsewhere,
/// such as plug-ins.
static std::string makeRelative(llvm::StringRef file, llvm::StringRef base) {
  return file.consume_front(base) && file.consume_front("/") ? file.str() : file.str();
}

/// Returns the local file that another machine's entry names; none if the name leads out of the model's folder.
static std::optional<std::string> makeAbsolute(llvm::StringRef file, const std::string &base) {
  if (path::is_absolute(file))
    return file.str();
  for (auto it = path::begin(file), end = path::end(file); it != end; ++it)
    if (*it == "..")
      return std::nullopt;
  return base + "/" + file.str();
}

const std::string &ArtifactCache::getRemoteKey(const ArtifactRequest &request) {
  auto [it, isNew] = remoteKeys.try_emplace(request.key);
  if (isNew && exchange && request.makeRemoteKey)
    it->second = request.makeRemoteKey();
  return it->second;
}

std::optional<CacheStore::Hit> ArtifactCache::fetch(const ArtifactRequest &request, CacheStore &store) {
  if (!store.isWritable() || getRemoteKey(request).empty())
    return std::nullopt;
  std::vector<FetchedEntry> fetched = exchange->fetch(CacheKind::artifact, {getRemoteKey(request)}, store);
  if (fetched.empty())
    return std::nullopt;
  FetchedEntry &found = fetched.front();
  std::optional<std::string> files =
      renameFiles(found.entry.files, [&](llvm::StringRef file) { return makeAbsolute(file, request.base); });
  if (!files || files->empty() || !areUnchanged(*files))
    return std::nullopt;
  CacheEntry entry = std::move(found.entry);
  entry.key = request.key;
  entry.files = *files;
  entry.uses = {{llvm::json::fixUTF8(request.model), ""}};
  std::vector<CacheStore::Addition> additions;
  additions.push_back({std::move(entry), found.content, "", std::move(found.share)});
  if (llvm::Error error = store.commit(additions, {})) {
    addNote(std::move(error));
    return std::nullopt;
  }
  llvm::Expected<std::optional<CacheStore::Hit>> hit = store.find(CacheKind::artifact, request.key);
  if (hit)
    return std::move(*hit);
  addNote(hit.takeError());
  return std::nullopt;
}

std::optional<SignedEntry> ArtifactCache::sign(const ArtifactRequest &request, const CacheEntry &entry,
                                               llvm::StringRef content) {
  if (getRemoteKey(request).empty())
    return std::nullopt;
  CacheEntry remote = entry;
  remote.key = getRemoteKey(request);
  remote.files = *renameFiles(entry.files, [&](llvm::StringRef file) { return makeRelative(file, request.base); });
  // A manifest has names of files as text.
  if (!llvm::json::isUTF8(remote.files))
    return std::nullopt;
  return exchange->sign(remote, content);
}

//===----------------------------------------------------------------------===//
// Additions
//===----------------------------------------------------------------------===//

std::string ArtifactCache::reserve() {
  std::unique_ptr<CacheStore> store = open();
  if (!store || !store->isWritable())
    return "";
  llvm::Expected<std::string> file = store->reserve();
  if (file)
    return *file;
  addNote(file.takeError());
  return "";
}

std::optional<CacheEntry> ArtifactCache::add(const ArtifactRequest &request, const std::string &artifact,
                                             const Making &making, bool moves) {
  // An artifact that was written to a pipe cannot be read again.
  if (!fs::is_regular_file(artifact))
    return std::nullopt;
  std::unique_ptr<CacheStore> store = open();
  auto content = llvm::MemoryBuffer::getFile(artifact, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!store || !store->isWritable() || !content || (*content)->getBufferSize() > store->getLimit())
    return std::nullopt;
  std::optional<std::string> files = describeFiles(making.files, making.begin);
  if (!files)
    return std::nullopt;
  CacheEntry entry;
  entry.kind = CacheKind::artifact;
  entry.key = request.key;
  entry.title = llvm::json::fixUTF8(request.title);
  entry.hardware = request.hardware;
  entry.compiler = "tenon " TENON_VERSION;
  entry.files = *files;
  entry.messages = llvm::json::fixUTF8(making.messages);
  entry.uses = {{llvm::json::fixUTF8(request.model), ""}};
  std::vector<CacheStore::Addition> additions;
  std::optional<SignedEntry> share = sign(request, entry, (*content)->getBuffer());
  additions.push_back({std::move(entry), (*content)->getBuffer(), moves ? artifact : "", share});
  llvm::Error error = store->commit(additions, {});
  if (share && !error)
    exchange->publish({{*share, (*content)->getBuffer()}});
  if (!error)
    return std::move(additions.front().entry);
  addNote(std::move(error));
  return std::nullopt;
}

void ArtifactCache::copy(const ArtifactRequest &request, const std::string &artifact, const Making &making) {
  add(request, artifact, making, /*moves=*/false);
}

std::string ArtifactCache::move(const ArtifactRequest &request, const std::string &artifact, const Making &making) {
  std::optional<CacheEntry> entry = add(request, artifact, making, /*moves=*/true);
  return entry ? CacheStore::getPath(folder, *entry) : "";
}
