//===- CacheArchive.cpp - entries of a cache in one file ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheArchive.h"
#include "compiler/cache/CacheColumns.h"
#include "compiler/errors/CompileError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <sqlite3.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

static constexpr char kSchema[] = R"(
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, key TEXT NOT NULL, seal TEXT NOT NULL, bytes INTEGER NOT NULL,
  title TEXT NOT NULL, hardware TEXT NOT NULL, compiler TEXT NOT NULL, files TEXT NOT NULL, messages TEXT NOT NULL
) STRICT;
CREATE TABLE uses (entry INTEGER NOT NULL REFERENCES entries (id), model TEXT NOT NULL, node TEXT NOT NULL) STRICT;
CREATE INDEX uses_of_entry ON uses (entry);
CREATE TABLE chunks (
  entry INTEGER NOT NULL REFERENCES entries (id), number INTEGER NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY (entry, number)
) STRICT;
)";

/// The number says "Tenx".
static constexpr Database::Format kFormat = {"export of a cache", 1, 0x54656e78, kSchema};

/// An SQLite value is limited to 1 GB, and artifacts may be larger.
static constexpr size_t kChunkBytes = size_t(16) << 20;
/// More uses than a cache keeps are none.
static constexpr size_t kMaxUses = 64;

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

static llvm::Error writeEntry(Database &archive, const CacheEntry &entry, llvm::StringRef content) {
  Statement insert = archive.prepare("INSERT INTO entries (kind, key, seal, bytes, title, hardware, compiler, files, "
                                     "messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(getName(entry.kind).str()).bind(entry.key).bind(entry.seal).bind(static_cast<int64_t>(entry.bytes));
  insert.bind(entry.title).bind(entry.hardware).bind(entry.compiler).bind(entry.files).bind(entry.messages);
  if (insert.step() != SQLITE_DONE)
    return archive.makeFault("an entry cannot be written");
  int64_t id = sqlite3_last_insert_rowid(archive.get());
  for (const CacheUse &use : entry.uses) {
    Statement row = archive.prepare("INSERT INTO uses (entry, model, node) VALUES (?, ?, ?)");
    if (row.bind(id).bind(use.model).bind(use.node).step() != SQLITE_DONE)
      return archive.makeFault("an entry cannot be written");
  }
  for (int64_t number = 0; !content.empty(); ++number) {
    llvm::StringRef chunk = content.take_front(kChunkBytes);
    content = content.drop_front(chunk.size());
    Statement row = archive.prepare("INSERT INTO chunks (entry, number, bytes) VALUES (?, ?, ?)");
    if (row.bind(id).bind(number).bindBytes(chunk).step() != SQLITE_DONE)
      return archive.makeFault("an entry cannot be written");
  }
  return llvm::Error::success();
}

static llvm::Error writeEntries(Database &archive, const CacheStore &store, const CacheStore::Filter &filter,
                                CacheTransfer &transfer) {
  llvm::Error failure = llvm::Error::success();
  if (llvm::Error error = store.visit(filter, [&](const CacheEntry &entry) {
        auto content = llvm::MemoryBuffer::getFile(store.getPath(entry), /*IsText=*/false,
                                                   /*RequiresNullTerminator=*/false);
        if (!content || entry.computeSeal((*content)->getBuffer()) != entry.seal) {
          if (transfer.skipped++ == 0)
            transfer.firstFault = store.getPath(entry) + ": its content is gone or damaged";
          return true;
        }
        ++transfer.moved;
        failure = writeEntry(archive, entry, (*content)->getBuffer());
        return !failure;
      })) {
    llvm::consumeError(std::move(failure));
    return error;
  }
  return failure;
}

llvm::Expected<CacheTransfer> tenon::exportCache(const CacheStore &store, const CacheStore::Filter &filter,
                                                 const std::string &file) {
  llvm::SmallString<128> temporary;
  if (std::error_code error = fs::createUniqueFile(file + "-%%%%%%%%", temporary))
    return makeError(CompileStatus::resources, "cannot write " + file + ": " + error.message());
  llvm::FileRemover remover(temporary), log(temporary + "-wal"), shared(temporary + "-shm");
  CacheTransfer transfer;
  {
    llvm::Expected<std::unique_ptr<Database>> archive =
        Database::open(temporary.str().str(), Database::Access::write, kFormat);
    if (!archive)
      return archive.takeError();
    if (llvm::Error error = (*archive)->transact([&] { return writeEntries(**archive, store, filter, transfer); }))
      return error;
    // All of it is in one file, then.
    if (llvm::Error error = (*archive)->execute("PRAGMA journal_mode = DELETE"))
      return error;
  }
  if (std::error_code error = fs::rename(temporary, file))
    return makeError(CompileStatus::resources, "cannot write " + file + ": " + error.message());
  remover.releaseFile();
  return transfer;
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

static std::vector<CacheUse> readUses(Database &archive, int64_t id) {
  std::vector<CacheUse> uses;
  Statement rows = archive.prepare("SELECT model, node FROM uses WHERE entry = ?");
  rows.bind(id);
  while (uses.size() < kMaxUses && rows.step() == SQLITE_ROW) {
    std::string model = rows.takeText();
    uses.push_back({model, rows.takeText()});
  }
  return uses;
}

/// Writes the chunks of an entry to a file, at most as many bytes as the entry has. Returns true if they are complete.
static llvm::Expected<bool> readContent(Database &archive, const CacheEntry &entry, const std::string &file) {
  std::error_code error;
  llvm::raw_fd_ostream os(file, error);
  if (error)
    return makeError(CompileStatus::resources, file + ": " + error.message());
  Statement rows = archive.prepare("SELECT bytes FROM chunks WHERE entry = ? ORDER BY number");
  rows.bind(entry.id);
  uint64_t written = 0;
  while (written <= entry.bytes && rows.step() == SQLITE_ROW) {
    std::string chunk = rows.takeText();
    written += chunk.size();
    if (written <= entry.bytes)
      os << chunk;
  }
  os.close();
  error = os.error();
  os.clear_error();
  if (error)
    return makeError(CompileStatus::resources, file + ": " + error.message());
  return written == entry.bytes;
}

/// Adds one entry. Returns the reason why it was rejected; empty if it was added or is present.
static llvm::Expected<std::string> importEntry(CacheStore &store, Database &archive, CacheEntry entry,
                                               CacheTransfer &transfer) {
  entry.origin = "imported";
  entry.uses = readUses(archive, entry.id);
  if (llvm::Error error = checkEntry(entry))
    return llvm::toString(std::move(error));
  CacheStore::Filter same;
  same.kind = entry.kind;
  same.key = entry.key;
  llvm::Expected<std::vector<CacheEntry>> known = store.list(same);
  if (!known)
    return known.takeError();
  if (!known->empty()) {
    ++transfer.known;
    return "";
  }
  if (entry.bytes > store.getLimit())
    return "its content is larger than the limit of the cache";
  llvm::Expected<std::string> file = store.reserve();
  if (!file)
    return file.takeError();
  llvm::FileRemover remover(*file);
  llvm::Expected<bool> isComplete = readContent(archive, entry, *file);
  if (!isComplete)
    return isComplete.takeError();
  auto content = llvm::MemoryBuffer::getFile(*file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!*isComplete || !content || entry.computeSeal((*content)->getBuffer()) != entry.seal)
    return "its content is damaged";
  std::vector<CacheStore::Addition> additions;
  additions.push_back({std::move(entry), (*content)->getBuffer(), *file});
  if (llvm::Error error = store.commit(additions, {}))
    return error;
  ++transfer.moved;
  return "";
}

llvm::Expected<CacheTransfer> tenon::importCache(CacheStore &store, const std::string &file) {
  if (!store.isWritable())
    return makeError(CompileStatus::resources, store.getFolder() + ": Permission denied");
  llvm::Expected<std::unique_ptr<Database>> archive = Database::open(file, Database::Access::snapshot, kFormat);
  if (!archive)
    return archive.takeError();
  Statement rows = (*archive)->prepare("SELECT " + std::string(kEntryColumns) + " FROM entries e ORDER BY e.id");
  if (!rows.isPrepared() || !(*archive)->prepare("SELECT entry, number, bytes FROM chunks").isPrepared() ||
      !(*archive)->prepare("SELECT entry, model, node FROM uses").isPrepared())
    return (*archive)->makeFault("the export has other tables");
  CacheTransfer transfer;
  int status;
  while ((status = rows.step()) == SQLITE_ROW) {
    CacheEntry entry;
    llvm::Expected<std::string> fault = takeColumns(rows, entry) ? importEntry(store, **archive, entry, transfer)
                                                                 : llvm::Expected<std::string>("its kind is unknown");
    if (!fault)
      return fault.takeError();
    if (!fault->empty() && transfer.skipped++ == 0)
      transfer.firstFault = "entry " + std::to_string(entry.id) + ": " + *fault;
  }
  if (status != SQLITE_DONE)
    return (*archive)->makeFault("the export cannot be read");
  return transfer;
}
