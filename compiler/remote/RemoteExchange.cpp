//===- RemoteExchange.cpp - what a compilation has of remote caches  ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/RemoteExchange.h"
#include "compiler/cache/CacheShares.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include <sys/stat.h>

using namespace tenon;

llvm::Error RemoteExchange::connect(const std::vector<std::string> &urls, const RemoteSettings &settings,
                                    std::vector<Remote> &remotes) {
  for (const std::string &url : urls) {
    llvm::Expected<std::unique_ptr<CacheRemote>> cache = openRemote(url, settings);
    if (!cache)
      return cache.takeError();
    remotes.push_back({url, std::move(*cache)});
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<RemoteExchange>> RemoteExchange::open(const ExchangeOptions &options) {
  if (!isNamespace(options.nameSpace))
    return makeError(CompileStatus::misuse, "'" + options.nameSpace +
                                                "' is no namespace; expected up to 64 lower-case letters, digits, "
                                                "'.', '_' and '-'");
  llvm::Expected<TrustList> trust = TrustList::read(options.trustFile);
  if (!trust)
    return trust.takeError();
  llvm::Expected<double> timeout = getRemoteTimeout();
  if (!timeout)
    return timeout.takeError();
  std::unique_ptr<RemoteExchange> exchange(new RemoteExchange(std::move(*trust), options.nameSpace));
  RemoteSettings settings{&exchange->trust, options.token, *timeout};
  if (llvm::Error error = exchange->connect(options.from, settings, exchange->from))
    return error;
  if (llvm::Error error = exchange->connect(options.to, settings, exchange->to))
    return error;
  if (!options.keyFile.empty()) {
    llvm::Expected<SigningKey> key = SigningKey::read(options.keyFile);
    if (!key)
      return key.takeError();
    exchange->key.emplace(std::move(*key));
  } else if (!options.to.empty()) {
    return makeError(CompileStatus::misuse,
                     "entries of a remote cache are signed: make a key with 'tenon cache keygen', or name one by "
                     "--cache-signing-key");
  }
  return exchange;
}

void RemoteExchange::addNote(const std::string &text) {
  if (!isNoted)
    note = text;
  isNoted = true;
}

//===----------------------------------------------------------------------===//
// Fetching
//===----------------------------------------------------------------------===//

void RemoteExchange::refuse(const Remote &remote, const EnvelopeReceiver &receiver, const std::string &reason,
                            CacheStore &store) {
  const EnvelopeName &name = receiver.getName();
  addNote("an entry of the remote cache " + remote.url + " is not used: " + reason + "; see 'tenon cache quarantine'");
  if (!store.isWritable())
    return;
  QuarantinedEntry entry{
      getCacheTime(), remote.url, name.nameSpace, getName(name.kind).str(), name.key, receiver.getShare().signer,
      reason};
  // The note has been taken in any case.
  llvm::consumeError(CacheShares(store).quarantine(entry));
}

/// Returns the file to which an artifact is downloaded: always the same one, so that another process can resume an
/// interrupted transfer. A concurrent download gets a file of its own.
static std::string getPartFile(llvm::StringRef nameSpace, llvm::StringRef key, const CacheStore &store) {
  return store.getFolder() + "/tmp/" + Fingerprint().add(nameSpace).add(key).get() + ".part";
}

namespace {
/// A lock on a file that is gone with the process.
class FileLock {
public:
  explicit FileLock(const std::string &file) {
    if (llvm::sys::fs::openFileForWrite(file, fd, llvm::sys::fs::CD_OpenAlways, llvm::sys::fs::OF_Append))
      fd = -1;
    isHeld = fd >= 0 && !llvm::sys::fs::tryLockFile(fd, std::chrono::milliseconds(0));
    // Whoever had it before may have removed the file meanwhile.
    struct stat here, there;
    isHeld = isHeld && fstat(fd, &here) == 0 && stat(file.c_str(), &there) == 0 && here.st_ino == there.st_ino;
  }
  ~FileLock() {
    if (fd >= 0)
      (void)llvm::sys::fs::closeFile(fd);
  }
  bool isHeld = false;

private:
  int fd = -1;
};
} // namespace

void RemoteExchange::fetchFrom(Remote &remote, CacheKind kind, const std::vector<std::string> &keys, CacheStore &store,
                               std::vector<FetchedEntry> &fetched) {
  // Kernels are kept in memory until they are in the store.
  constexpr uint64_t kMaxKernelBytes = uint64_t(64) << 20;
  bool isKernel = kind == CacheKind::kernel;
  std::vector<std::unique_ptr<EnvelopeReceiver>> receivers;
  std::vector<std::unique_ptr<FileLock>> locks;
  for (const std::string &key : keys) {
    std::string file;
    if (!isKernel) {
      if (!store.isWritable())
        return;
      file = getPartFile(nameSpace, key, store);
      locks.push_back(std::make_unique<FileLock>(file));
      if (!locks.back()->isHeld) {
        llvm::Expected<std::string> own = store.reserve();
        if (!own) {
          addNote(llvm::toString(own.takeError()));
          return;
        }
        file = *own;
      }
    }
    receivers.push_back(std::make_unique<EnvelopeReceiver>(EnvelopeName{nameSpace, kind, key}, trust,
                                                           isKernel ? kMaxKernelBytes : store.getLimit(), file));
  }
  auto done = [&](EnvelopeReceiver &receiver, llvm::Error error) {
    llvm::Expected<FetchedEntry> entry = error ? llvm::Expected<FetchedEntry>(std::move(error)) : receiver.finish();
    if (entry) {
      fetched.push_back(std::move(*entry));
      receiver.removeFile();
      return;
    }
    std::string reason;
    takeError(entry.takeError(), reason);
    if (receiver.isRefused()) {
      receiver.removeFile();
      refuse(remote, receiver, reason, store);
    } else {
      addNote("the remote cache " + remote.url + " is not used: " + reason);
    }
  };
  if (llvm::Error error = remote.cache->get(receivers, done)) {
    std::string reason;
    takeError(std::move(error), reason);
    addNote("the remote cache " + remote.url + " is not used: " + reason);
    remote.isDown = true;
  }
  for (const std::unique_ptr<EnvelopeReceiver> &receiver : receivers)
    if (receiver->getTag().empty())
      receiver->removeFile();
}

std::vector<FetchedEntry> RemoteExchange::fetch(CacheKind kind, const std::vector<std::string> &keys,
                                                CacheStore &store) {
  std::vector<FetchedEntry> fetched;
  std::vector<std::string> missing = keys;
  for (Remote &remote : from) {
    if (remote.isDown || missing.empty())
      continue;
    size_t before = fetched.size();
    fetchFrom(remote, kind, missing, store, fetched);
    llvm::StringSet<> found;
    for (const FetchedEntry &entry : llvm::ArrayRef(fetched).drop_front(before))
      found.insert(entry.entry.key);
    llvm::erase_if(missing, [&](const std::string &key) { return found.contains(key); });
  }
  return fetched;
}

llvm::Expected<uint64_t> RemoteExchange::list(llvm::function_ref<bool(const CacheEntry &)> visit) {
  uint64_t others = 0;
  for (Remote &remote : from)
    if (llvm::Error error = remote.cache->list(nameSpace, [&](SignedEntry share) {
          llvm::Expected<CacheEntry> entry = verifyListed(share, nameSpace, trust);
          if (entry)
            return visit(*entry);
          llvm::consumeError(entry.takeError());
          ++others;
          return true;
        }))
      return prefixError(std::move(error), remote.url + ": ");
  return others;
}

//===----------------------------------------------------------------------===//
// Publishing
//===----------------------------------------------------------------------===//

std::optional<SignedEntry> RemoteExchange::sign(const CacheEntry &entry, llvm::StringRef content) const {
  if (!key)
    return std::nullopt;
  return signEntry(entry, content, nameSpace, *key);
}

void RemoteExchange::publish(llvm::ArrayRef<Publication> publications) {
  if (publications.empty())
    return;
  for (Remote &remote : to) {
    if (remote.isDown)
      continue;
    if (llvm::Error error = remote.cache->put(publications)) {
      std::string reason;
      takeError(std::move(error), reason);
      addNote("the remote cache " + remote.url + " is not written to: " + reason);
      remote.isDown = true;
    }
  }
}

/// Returns the content of an entry; null if it is missing or damaged.
static std::unique_ptr<llvm::MemoryBuffer> readContent(const CacheStore &store, const CacheEntry &entry) {
  auto buffer = llvm::MemoryBuffer::getFile(store.getPath(entry), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer && entry.computeSeal((*buffer)->getBuffer()) == entry.seal ? std::move(*buffer) : nullptr;
}

llvm::Error RemoteExchange::signKernels(CacheStore &store) {
  CacheShares shares(store);
  CacheStore::Filter kernels;
  kernels.kind = CacheKind::kernel;
  std::vector<std::pair<CacheEntry, SignedEntry>> made;
  llvm::Error failure = llvm::Error::success();
  if (llvm::Error error = store.visit(kernels, [&](const CacheEntry &entry) {
        // What others have made is theirs to sign.
        if (entry.origin != "compiled")
          return true;
        llvm::Expected<std::optional<CacheShares::Found>> found = shares.find(nameSpace, entry.kind, entry.key);
        if (!found) {
          failure = found.takeError();
          return false;
        }
        std::unique_ptr<llvm::MemoryBuffer> content = *found ? nullptr : readContent(store, entry);
        if (std::optional<SignedEntry> share = content ? sign(entry, content->getBuffer()) : std::nullopt)
          made.emplace_back(entry, std::move(*share));
        return true;
      })) {
    llvm::consumeError(std::move(failure));
    return error;
  }
  if (failure || made.empty() || !store.isWritable())
    return failure;
  llvm::consumeError(std::move(failure));
  return store.getDatabase().transact([&]() -> llvm::Error {
    for (const auto &[entry, share] : made)
      if (llvm::Error error = CacheShares::add(store.getDatabase(), entry, share))
        return error;
    return llvm::Error::success();
  });
}

llvm::Expected<uint64_t> RemoteExchange::push(CacheStore &store) {
  constexpr size_t kMaxAtOnce = 256;
  if (llvm::Error error = signKernels(store))
    return error;
  CacheShares shares(store);
  std::vector<EnvelopeName> names;
  if (llvm::Error error = shares.visit(nameSpace, [&](const SignedEntry &share) {
        names.push_back({share.nameSpace, share.kind, share.key});
        return true;
      }))
    return error;
  uint64_t pushed = 0;
  for (llvm::ArrayRef<EnvelopeName> rest(names); !rest.empty();) {
    // An artifact at a time: it may be large.
    size_t number = rest.front().kind == CacheKind::artifact ? 1 : std::min(rest.size(), kMaxAtOnce);
    std::vector<Publication> publications;
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> contents;
    for (const EnvelopeName &name : rest.take_front(number)) {
      llvm::Expected<std::optional<CacheShares::Found>> found = shares.find(name.nameSpace, name.kind, name.key);
      if (!found)
        return found.takeError();
      std::unique_ptr<llvm::MemoryBuffer> content = *found ? readContent(store, (*found)->entry) : nullptr;
      if (!content)
        continue;
      publications.push_back({(*found)->share, content->getBuffer()});
      contents.push_back(std::move(content));
    }
    rest = rest.drop_front(number);
    for (Remote &remote : to)
      if (llvm::Error error = remote.cache->put(publications))
        return prefixError(std::move(error), remote.url + ": ");
    pushed += publications.size();
  }
  return pushed;
}
