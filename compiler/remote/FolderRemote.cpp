//===- FolderRemote.cpp - a folder that machines share  -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   FOLDER/NAMESPACE/KIND/ab/ab12...     an envelope, named after its key
//
// Files are written under another name and renamed, and never change, so that machines need no lock: there is no
// database, since those need locks that network file systems do not have.
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/remote/CacheRemote.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

class FolderRemote : public CacheRemote {
public:
  FolderRemote(std::string folder, const RemoteSettings &settings)
      : folder(std::move(folder)), trust(*settings.trust) {}

  llvm::Error get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) override;
  llvm::Error put(llvm::ArrayRef<Publication> publications) override;
  llvm::Error list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) override;

private:
  std::string getPath(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key) const;
  bool isThere(const SignedEntry &share, const std::string &file) const;
  llvm::Error write(const Publication &publication) const;

  std::string folder;
  const TrustList &trust;
};

/// Calls `use` with the bytes of a file, a piece at a time, until it returns false. The bytes are copied, because
/// others may change the file at any time, even after it was verified. Returns false if there is no such file.
bool readFile(const std::string &file, llvm::function_ref<bool(llvm::StringRef)> use) {
  // Links and pipes are rejected, since others may write to the folder.
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return false;
  auto closing = llvm::make_scope_exit([&] { close(fd); });
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  constexpr size_t kPiece = size_t(1) << 20;
  std::string piece(std::min<size_t>(kPiece, status.st_size + 1), '\0');
  ssize_t count;
  while ((count = read(fd, piece.data(), piece.size())) > 0)
    if (!use(llvm::StringRef(piece.data(), count)))
      return true;
  return count == 0;
}

} // namespace

std::string FolderRemote::getPath(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key) const {
  assert(isNamespace(nameSpace) && isFingerprint(key) && "parts of a path are checked before");
  llvm::SmallString<128> file(folder);
  path::append(file, nameSpace, getName(kind), key.take_front(2), key);
  return file.str().str();
}

llvm::Error FolderRemote::get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) {
  if (!fs::is_directory(folder))
    return makeError(CompileStatus::resources, "there is no such folder");
  for (const std::unique_ptr<EnvelopeReceiver> &receiver : wanted) {
    const EnvelopeName &name = receiver->getName();
    llvm::Error failure = llvm::Error::success();
    bool isThere = readFile(getPath(name.nameSpace, name.kind, name.key), [&](llvm::StringRef bytes) {
      failure = receiver->append(bytes);
      return !failure;
    });
    if (isThere || failure)
      done(*receiver, std::move(failure));
  }
  return llvm::Error::success();
}

/// True if a valid envelope exists already. One that is damaged, or signed by an untrusted key, is replaced.
bool FolderRemote::isThere(const SignedEntry &share, const std::string &file) const {
  EnvelopeReceiver present({share.nameSpace, share.kind, share.key}, trust, UINT64_MAX);
  bool isSound = true;
  bool isRead = readFile(file, [&](llvm::StringRef bytes) {
    llvm::Error error = present.append(bytes);
    isSound = !error;
    llvm::consumeError(std::move(error));
    return isSound;
  });
  llvm::Expected<FetchedEntry> entry =
      isRead && isSound ? present.finish() : makeError(CompileStatus::invalid, "there is none");
  if (entry)
    return true;
  llvm::consumeError(entry.takeError());
  return false;
}

llvm::Error FolderRemote::write(const Publication &publication) const {
  const SignedEntry &share = publication.share;
  std::string file = getPath(share.nameSpace, share.kind, share.key);
  if (isThere(share, file))
    return llvm::Error::success();
  llvm::SmallString<128> temporary;
  std::error_code error = fs::create_directories(path::parent_path(file));
  int fd = -1;
  // Whoever may read the folder may read the file.
  if (!error)
    error = fs::createUniqueFile(file + ".%%%%%%%%", fd, temporary, fs::OF_None, fs::all_read | fs::owner_write);
  if (error)
    return makeError(CompileStatus::resources, file + ": " + error.message());
  llvm::FileRemover remover(temporary);
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << makeEnvelopeHead(share) << publication.content;
  os.close();
  error = os.error();
  os.clear_error();
  if (!error)
    error = fs::rename(temporary, file);
  if (error)
    return makeError(CompileStatus::resources, file + ": " + error.message());
  remover.releaseFile();
  return llvm::Error::success();
}

llvm::Error FolderRemote::put(llvm::ArrayRef<Publication> publications) {
  if (!fs::is_directory(folder))
    return makeError(CompileStatus::resources, "there is no such folder");
  for (const Publication &publication : publications)
    if (llvm::Error error = write(publication))
      return error;
  return llvm::Error::success();
}

llvm::Error FolderRemote::list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) {
  if (!fs::is_directory(folder))
    return makeError(CompileStatus::resources, "there is no such folder");
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder + "/" + nameSpace, error, /*follow_symlinks=*/false), end;
       !error && it != end; it.increment(error)) {
    if (!isFingerprint(path::filename(it->path())))
      continue;
    std::string begin;
    std::optional<SignedEntry> entry;
    readFile(it->path(), [&](llvm::StringRef bytes) {
      begin += bytes;
      llvm::Expected<std::optional<EnvelopeHead>> head = parseEnvelopeHead(begin);
      if (!head)
        llvm::consumeError(head.takeError());
      else if (*head)
        entry = std::move((*head)->entry);
      else
        return begin.size() < kMaxHeadBytes;
      return false;
    });
    if (entry && !visit(std::move(*entry)))
      break;
  }
  return llvm::Error::success();
}

std::unique_ptr<CacheRemote> tenon::makeFolderRemote(std::string folder, const RemoteSettings &settings) {
  return std::make_unique<FolderRemote>(std::move(folder), settings);
}
