//===- CacheStore.cpp - results of compilations, in a folder --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheStore.h"
#include "compiler/cache/CacheColumns.h"
#include "compiler/cache/CacheShares.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <sqlite3.h>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr char kSchema[] = R"(
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, key TEXT NOT NULL, seal TEXT NOT NULL, bytes INTEGER NOT NULL,
  title TEXT NOT NULL, hardware TEXT NOT NULL, compiler TEXT NOT NULL,
  files TEXT NOT NULL, messages TEXT NOT NULL, origin TEXT NOT NULL,
  created INTEGER NOT NULL, last_use INTEGER NOT NULL,
  UNIQUE (kind, key)
) STRICT;
CREATE INDEX entries_by_use ON entries (last_use);
CREATE TABLE uses (
  entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
  model TEXT NOT NULL, node TEXT NOT NULL, time INTEGER NOT NULL,
  PRIMARY KEY (entry, model, node)
) STRICT, WITHOUT ROWID;
)";

/// The number says "Tenc".
static constexpr Database::Format kFormat = {"index of a cache", 1, 0x54656e63, kSchema};

/// The columns of takeEntry.
static const std::string kColumns = std::string(kEntryColumns) + ", e.origin, e.created, e.last_use";

/// So many uses of an entry are kept, the last ones.
static constexpr int64_t kMaxUses = 64;

/// A row of kColumns; nothing if no cache made it.
static std::optional<CacheEntry> takeEntry(Statement &row) {
  CacheEntry entry;
  bool isKnown = takeColumns(row, entry);
  entry.origin = row.takeText();
  entry.created = row.takeInteger();
  entry.lastUse = row.takeInteger();
  return isKnown && !llvm::errorToBool(checkEntry(entry)) ? std::optional(std::move(entry)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

std::string CacheStore::getDefaultFolder() {
  if (const char *own = std::getenv("TENON_CACHE_DIR"); own && *own)
    return llvm::StringRef(own) == "none" ? "" : own;
  llvm::SmallString<128> folder;
  // Without a home folder, the path would be relative to the current folder.
  if (!path::cache_directory(folder) || !path::is_absolute(folder))
    return "";
  path::append(folder, "tenon");
  return folder.str().str();
}

llvm::Expected<uint64_t> CacheStore::getDefaultLimit() {
  const char *own = std::getenv("TENON_CACHE_LIMIT");
  if (!own || !*own)
    return kDefaultLimit;
  llvm::StringRef text(own);
  unsigned shift = 0;
  for (auto [unit, bits] : {std::pair("K", 10), {"M", 20}, {"G", 30}, {"T", 40}})
    if (text.consume_back_insensitive(unit))
      shift = bits;
  uint64_t number;
  if (text.getAsInteger(10, number) || number >> (63 - shift))
    return makeError(CompileStatus::misuse,
                     "TENON_CACHE_LIMIT: expected a number of bytes such as 2G, got '" + llvm::Twine(own) + "'");
  return number << shift;
}

llvm::Expected<std::unique_ptr<CacheStore>> CacheStore::open(const std::string &folder, uint64_t limit) {
  llvm::SmallString<128> index(folder);
  path::append(index, "index.db");
  std::error_code absent = folder.empty() ? std::make_error_code(std::errc::no_such_file_or_directory)
                                          : fs::create_directories(folder + "/tmp");
  bool isWriter =
      !absent && access(folder.c_str(), W_OK) == 0 && (!fs::exists(index) || access(index.c_str(), W_OK) == 0);
  if (!isWriter && !fs::exists(index))
    return makeError(CompileStatus::resources,
                     (folder.empty() ? "a cache" : folder) + ": " + (absent ? absent.message() : "Permission denied"));
  llvm::Expected<std::unique_ptr<Database>> database =
      Database::open(index.str().str(), isWriter ? Database::Access::write : Database::Access::snapshot, kFormat);
  if (!database)
    return database.takeError();
  if (isWriter)
    if (llvm::Error error = CacheShares::prepare(**database))
      return error;
  return std::unique_ptr<CacheStore>(new CacheStore(std::move(*database), folder, isWriter, limit));
}

std::string CacheStore::getPath(const std::string &folder, const CacheEntry &entry) {
  llvm::SmallString<128> result(folder);
  path::append(result, "objects", llvm::StringRef(entry.seal).take_front(2),
               entry.seal + (entry.kind == CacheKind::artifact ? ".tenon" : ".o"));
  return result.str().str();
}

llvm::Expected<std::string> CacheStore::reserve() const {
  llvm::SmallString<128> model(folder), made;
  path::append(model, "tmp", "%%%%%%%%%%%%");
  if (std::error_code error = fs::createUniqueFile(model, made))
    return makeError(CompileStatus::resources, folder + ": " + error.message());
  return made.str().str();
}

//===----------------------------------------------------------------------===//
// Entries in, entries out
//===----------------------------------------------------------------------===//

std::string CacheStore::checkContent(const CacheEntry &entry, std::unique_ptr<llvm::MemoryBuffer> &content) const {
  std::string file = getPath(entry);
  uint64_t bytes;
  if (fs::file_size(file, bytes))
    return "its content is gone";
  if (bytes != entry.bytes)
    return "its content has " + std::to_string(bytes) + " bytes instead of " + std::to_string(entry.bytes);
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return "its content cannot be read: " + buffer.getError().message();
  if (entry.computeSeal((*buffer)->getBuffer()) != entry.seal)
    return "its content is damaged";
  content = std::move(*buffer);
  return "";
}

llvm::Expected<std::optional<CacheStore::Hit>> CacheStore::find(CacheKind kind, const std::string &key) {
  llvm::Expected<std::vector<CacheEntry>> found = select("WHERE e.kind = ? AND e.key = ?", {getName(kind).str(), key});
  if (!found)
    return found.takeError();
  if (found->empty())
    return std::nullopt;
  Hit hit{std::move(found->front()), "", nullptr};
  hit.path = getPath(hit.entry);
  std::string fault = checkContent(hit.entry, hit.content);
  if (fault.empty())
    return hit;
  // Whoever removes it by hand does no damage.
  if (fs::exists(hit.path) && numDamaged++ == 0)
    firstDamage = hit.path + ": " + fault;
  if (!isWriter)
    return std::nullopt;
  if (llvm::Error error = database->transact([&] { return remove(hit.entry); }))
    return error;
  return std::nullopt;
}

llvm::Error CacheStore::remove(const CacheEntry &entry) {
  // Another process may have replaced the entry in the meantime.
  Statement row = database->prepare("DELETE FROM entries WHERE id = ? AND seal = ?");
  if (!row.isPrepared() || row.bind(entry.id).bind(entry.seal).step() != SQLITE_DONE)
    return database->makeFault("an entry cannot be removed");
  std::error_code ignored = fs::remove(getPath(entry));
  (void)ignored;
  return llvm::Error::success();
}

llvm::Error CacheStore::addUses(int64_t id, llvm::ArrayRef<CacheUse> uses) {
  Statement touch = database->prepare("UPDATE entries SET last_use = max(last_use, ?) WHERE id = ?"),
            use = database->prepare("INSERT OR REPLACE INTO uses (entry, model, node, time) SELECT id, ?, ?, ? FROM "
                                    "entries WHERE id = ?"),
            trim = database->prepare("DELETE FROM uses WHERE entry = ? AND (model, node) NOT IN (SELECT model, node "
                                     "FROM uses WHERE entry = ? ORDER BY time DESC, model, node LIMIT ?)");
  int64_t now = getCacheTime();
  if (!touch.isPrepared() || !use.isPrepared() || !trim.isPrepared() || touch.bind(now).bind(id).step() != SQLITE_DONE)
    return database->makeFault("an entry cannot be updated");
  for (const CacheUse &each : uses) {
    use.reset();
    if (use.bind(each.model).bind(each.node).bind(now).bind(id).step() != SQLITE_DONE)
      return database->makeFault("an entry cannot be updated");
  }
  return trim.bind(id).bind(id).bind(kMaxUses).step() == SQLITE_DONE
             ? llvm::Error::success()
             : database->makeFault("an entry cannot be updated");
}

llvm::Error CacheStore::add(Addition &addition) {
  CacheEntry &entry = addition.entry;
  llvm::Expected<std::vector<CacheEntry>> old =
      select("WHERE e.kind = ? AND e.key = ?", {getName(entry.kind).str(), entry.key});
  if (!old)
    return old.takeError();
  std::string place = getPath(entry);
  std::error_code error = fs::create_directories(path::parent_path(place));
  if (!error)
    error = fs::rename(addition.file, place);
  if (error)
    return makeError(CompileStatus::resources, place + ": " + error.message());
  if (!old->empty() && old->front().seal != entry.seal)
    (void)fs::remove(getPath(old->front()));
  Statement insert = database->prepare(
      "INSERT INTO entries (kind, key, seal, bytes, title, hardware, compiler, files, messages, origin, created, "
      "last_use) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET seal = "
      "excluded.seal, "
      "bytes = excluded.bytes, title = excluded.title, hardware = excluded.hardware, compiler = excluded.compiler, "
      "files = excluded.files, messages = excluded.messages, origin = excluded.origin, created = excluded.created, "
      "last_use = excluded.last_use RETURNING id");
  if (!insert.isPrepared())
    return database->makeFault("the index has other tables");
  insert.bind(getName(entry.kind).str()).bind(entry.key).bind(entry.seal).bind(static_cast<int64_t>(entry.bytes));
  insert.bind(entry.title).bind(entry.hardware).bind(entry.compiler).bind(entry.files).bind(entry.messages);
  insert.bind(entry.origin).bind(entry.created).bind(entry.lastUse);
  if (insert.step() != SQLITE_ROW)
    return database->makeFault("an entry cannot be added");
  int64_t id = insert.takeInteger();
  if (insert.step() != SQLITE_DONE)
    return database->makeFault("an entry cannot be added");
  if (addition.share)
    if (llvm::Error error = CacheShares::add(*database, entry, *addition.share))
      return error;
  return addUses(id, entry.uses);
}

/// Writes to a file that is there.
static llvm::Error writeContent(const std::string &file, llvm::StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream os(file, error);
  if (!error) {
    os << content;
    os.close();
    error = os.error();
    os.clear_error();
  }
  return error ? makeError(CompileStatus::resources, file + ": " + error.message()) : llvm::Error::success();
}

namespace {
/// Removes files at the end of a scope.
struct TemporaryFiles {
  ~TemporaryFiles() {
    for (const std::string &file : files)
      (void)fs::remove(file);
  }
  std::vector<std::string> files;
};
} // namespace

llvm::Error CacheStore::reuse(llvm::ArrayRef<Reuse> reuses) {
  std::vector<Addition> none;
  return commit(none, reuses);
}

llvm::Error CacheStore::commit(std::vector<Addition> &additions, llvm::ArrayRef<Reuse> reuses) {
  if (!isWriter || (additions.empty() && reuses.empty()))
    return llvm::Error::success();
  TemporaryFiles temporary;
  llvm::erase_if(additions, [&](const Addition &addition) { return addition.content.size() > limit; });
  for (Addition &addition : additions) {
    CacheEntry &entry = addition.entry;
    entry.bytes = addition.content.size();
    entry.seal = entry.computeSeal(addition.content);
    entry.created = entry.lastUse = getCacheTime();
    if (entry.origin.empty())
      entry.origin = "compiled";
    if (llvm::Error error = checkEntry(entry))
      return makeError(CompileStatus::fault, "an entry for the cache is invalid: " + llvm::toString(std::move(error)));
    if (!addition.file.empty())
      continue;
    llvm::Expected<std::string> file = reserve();
    if (!file)
      return file.takeError();
    temporary.files.push_back(addition.file = *file);
    if (llvm::Error error = writeContent(*file, addition.content))
      return error;
  }
  return database->transact([&]() -> llvm::Error {
    for (const Reuse &reuse : reuses)
      if (llvm::Error error = addUses(reuse.id, reuse.uses))
        return error;
    for (Addition &addition : additions)
      if (llvm::Error error = add(addition))
        return error;
    sweepTemporaryFiles();
    llvm::Expected<uint64_t> evicted = additions.empty() ? llvm::Expected<uint64_t>(0) : evict(limit);
    return evicted ? llvm::Error::success() : evicted.takeError();
  });
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

llvm::Expected<std::vector<CacheEntry>> CacheStore::select(const std::string &sql,
                                                           llvm::ArrayRef<std::string> texts) const {
  Statement rows = database->prepare("SELECT " + kColumns + " FROM entries e " + sql);
  if (!rows.isPrepared())
    return database->makeFault("the index has other tables");
  for (const std::string &text : texts)
    rows.bind(text);
  std::vector<CacheEntry> entries;
  int status;
  while ((status = rows.step()) == SQLITE_ROW)
    if (std::optional<CacheEntry> entry = takeEntry(rows))
      entries.push_back(std::move(*entry));
  if (status != SQLITE_DONE)
    return database->makeFault("the index cannot be read");
  return entries;
}

/// Returns an SQL condition for entries one of whose columns contains the text, ignoring case. The text is bound once
/// per column.
static std::string getCondition(llvm::ArrayRef<llvm::StringRef> columns, const std::string &text,
                                std::vector<std::string> &texts) {
  std::vector<std::string> parts;
  for (llvm::StringRef column : columns) {
    bool isOfUse = column == "model" || column == "node";
    std::string here = "instr(lower(" + std::string(isOfUse ? "u." : "e.") + column.str() + "), lower(?)) > 0";
    parts.push_back(isOfUse ? "EXISTS (SELECT 1 FROM uses u WHERE u.entry = e.id AND " + here + ")" : here);
    texts.push_back(text);
  }
  return "(" + llvm::join(parts, " OR ") + ")";
}

llvm::Expected<std::vector<CacheEntry>> CacheStore::list(const Filter &filter) const {
  std::vector<std::string> conditions, texts;
  if (filter.kind) {
    conditions.push_back("e.kind = ?");
    texts.push_back(getName(*filter.kind).str());
  }
  if (!filter.key.empty()) {
    conditions.push_back("substr(e.key, 1, length(?)) = ?");
    texts.insert(texts.end(), 2, filter.key);
  }
  for (auto [column, text] : {std::pair("model", &filter.model),
                              {"node", &filter.node},
                              {"title", &filter.title},
                              {"hardware", &filter.hardware}})
    if (!text->empty())
      conditions.push_back(getCondition(llvm::StringRef(column), *text, texts));
  if (!filter.anywhere.empty())
    conditions.push_back(getCondition({"model", "node", "title", "hardware"}, filter.anywhere, texts));
  std::string where = conditions.empty() ? "" : "WHERE " + llvm::join(conditions, " AND ") + " ";
  return select(where + "ORDER BY e.last_use DESC, e.id", texts);
}

llvm::Error CacheStore::visit(const Filter &filter, llvm::function_ref<bool(const CacheEntry &)> visit) const {
  llvm::Expected<std::vector<CacheEntry>> entries = list(filter);
  if (!entries)
    return entries.takeError();
  Statement uses = database->prepare("SELECT model, node FROM uses WHERE entry = ? ORDER BY model, node LIMIT ?");
  if (!uses.isPrepared())
    return database->makeFault("the index has other tables");
  for (CacheEntry &entry : *entries) {
    uses.reset();
    uses.bind(entry.id).bind(kMaxUses);
    while (uses.step() == SQLITE_ROW) {
      std::string model = uses.takeText();
      entry.uses.push_back({model, uses.takeText()});
    }
    if (!llvm::errorToBool(checkEntry(entry)) && !visit(entry))
      break;
  }
  return llvm::Error::success();
}

/// Calls `use` with each file below a folder.
static void forEachFile(const std::string &folder, llvm::function_ref<void(const std::string &)> use) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->type() == fs::file_type::regular_file)
      use(it->path());
}

llvm::Expected<CacheStore::Usage> CacheStore::measure() const {
  llvm::Expected<std::vector<CacheEntry>> entries = list({});
  if (!entries)
    return entries.takeError();
  Usage usage;
  llvm::StringSet<> known;
  for (const CacheEntry &entry : *entries) {
    bool isKernel = entry.kind == CacheKind::kernel;
    ++(isKernel ? usage.kernels : usage.artifacts);
    (isKernel ? usage.kernelBytes : usage.artifactBytes) += entry.bytes;
    known.insert(getPath(entry));
  }
  forEachFile(folder, [&](const std::string &file) {
    uint64_t bytes;
    if (known.contains(file) || fs::file_size(file, bytes))
      return;
    bool isIndex = path::parent_path(file) == folder && path::filename(file).starts_with("index.db");
    (isIndex ? usage.indexBytes : usage.otherBytes) += bytes;
  });
  return usage;
}

//===----------------------------------------------------------------------===//
// Eviction
//===----------------------------------------------------------------------===//

llvm::Expected<uint64_t> CacheStore::evict(uint64_t limit) {
  // The transaction holds the write lock, so a file in objects/ without a row belongs to nobody.
  Statement sum = database->prepare("SELECT coalesce(sum(bytes), 0) FROM entries");
  if (!sum.isPrepared() || sum.step() != SQLITE_ROW)
    return database->makeFault("the index cannot be read");
  uint64_t bytes = sum.takeInteger(), removed = 0;
  if (bytes <= limit)
    return removed;
  llvm::Expected<std::vector<CacheEntry>> entries = select("ORDER BY e.last_use, e.id", {});
  if (!entries)
    return entries.takeError();
  for (const CacheEntry &entry : *entries) {
    if (bytes <= limit)
      break;
    if (llvm::Error error = remove(entry))
      return error;
    bytes -= entry.bytes;
    ++removed;
  }
  if (llvm::Error error = sweepContents())
    return error;
  return removed;
}

llvm::Error CacheStore::sweepContents() const {
  llvm::Expected<std::vector<CacheEntry>> entries = select("", {});
  if (!entries)
    return entries.takeError();
  llvm::StringSet<> known;
  for (const CacheEntry &entry : *entries)
    known.insert(getPath(entry));
  forEachFile(folder + "/objects", [&](const std::string &file) {
    if (!known.contains(file))
      (void)fs::remove(file);
  });
  return llvm::Error::success();
}

void CacheStore::sweepTemporaryFiles() const {
  // No compilation takes this long, and the clocks of machines that share a folder differ by less.
  constexpr std::chrono::hours kAge(24);
  forEachFile(folder + "/tmp", [&](const std::string &file) {
    fs::file_status status;
    if (!fs::status(file, status) && status.getLastModificationTime() < std::chrono::system_clock::now() - kAge)
      (void)fs::remove(file);
  });
}

llvm::Expected<uint64_t> CacheStore::removeUnused(const Filter &filter, int64_t time) {
  llvm::Expected<std::vector<CacheEntry>> entries = list(filter);
  if (!entries)
    return entries.takeError();
  uint64_t removed = 0;
  for (const CacheEntry &entry : *entries) {
    if (entry.lastUse >= time)
      continue;
    if (llvm::Error error = remove(entry))
      return error;
    ++removed;
  }
  return removed;
}

llvm::Expected<uint64_t> CacheStore::prune(const Filter &filter, int64_t time, uint64_t limit) {
  if (!isWriter)
    return makeError(CompileStatus::resources, folder + ": Permission denied");
  uint64_t removed = 0;
  if (llvm::Error error = database->transact([&]() -> llvm::Error {
        llvm::Expected<uint64_t> unused = removeUnused(filter, time);
        if (!unused)
          return unused.takeError();
        llvm::Expected<uint64_t> evicted = evict(limit);
        if (!evicted)
          return evicted.takeError();
        removed = *unused + *evicted;
        sweepTemporaryFiles();
        return sweepContents();
      }))
    return error;
  return removed;
}

llvm::Expected<std::vector<std::string>> CacheStore::verify(bool removes) {
  if (removes && !isWriter)
    return makeError(CompileStatus::resources, folder + ": Permission denied");
  std::vector<std::string> faults = database->checkPages();
  llvm::Expected<std::vector<CacheEntry>> entries = list({});
  if (!entries)
    return entries.takeError();
  Statement count = database->prepare("SELECT count(*) FROM entries");
  if (count.isPrepared() && count.step() == SQLITE_ROW)
    if (int64_t rows = count.takeInteger(); rows != static_cast<int64_t>(entries->size()))
      faults.push_back("index.db: " + std::to_string(rows - static_cast<int64_t>(entries->size())) +
                       " of its rows are no entries");
  for (const CacheEntry &entry : *entries) {
    std::unique_ptr<llvm::MemoryBuffer> content;
    std::string fault = checkContent(entry, content);
    if (fault.empty())
      continue;
    faults.push_back(getPath(entry) + ": " + fault);
    if (!removes)
      continue;
    if (llvm::Error error = database->transact([&] { return remove(entry); }))
      return error;
  }
  if (removes)
    if (llvm::Error error = database->transact([&]() -> llvm::Error {
          Statement foreign = database->prepare("DELETE FROM entries WHERE length(key) != 64 OR length(seal) != 64 OR "
                                                "kind NOT IN ('kernel', 'artifact') OR bytes <= 0");
          if (!foreign.isPrepared() || foreign.step() != SQLITE_DONE)
            return database->makeFault("an entry cannot be removed");
          return sweepContents();
        }))
      return error;
  return faults;
}
