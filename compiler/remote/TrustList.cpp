//===- TrustList.cpp - whose entries are used  ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/TrustList.h"
#include "compiler/errors/CompileError.h"
#include "compiler/remote/SigningKey.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace tenon;

static constexpr char kRevoked[] = "revoked", kAnyNamespace[] = "*";

bool tenon::isNamespace(llvm::StringRef text) {
  constexpr size_t kMaxSize = 64;
  auto isPlain = [](char c) { return llvm::isDigit(c) || llvm::isLower(c); };
  return !text.empty() && text.size() <= kMaxSize && text != kRevoked && isPlain(text.front()) &&
         llvm::all_of(text, [&](char c) { return isPlain(c) || c == '.' || c == '_' || c == '-'; });
}

std::string TrustList::getDefaultFile() {
  if (const char *own = std::getenv("TENON_CACHE_TRUST"); own && *own)
    return own;
  return getConfigFile("cache-trust");
}

/// A line of the file; nothing if it is none.
static std::optional<TrustList::Signer> parseLine(llvm::StringRef line) {
  auto [spaces, rest] = line.split(' ');
  auto [key, comment] = rest.split(' ');
  TrustList::Signer signer;
  std::optional<std::string> digits = parsePublicKey(key);
  if (!digits)
    return std::nullopt;
  signer.key = *digits;
  signer.comment = comment.str();
  signer.isRevoked = spaces == kRevoked;
  if (signer.isRevoked)
    return signer;
  llvm::SmallVector<llvm::StringRef> names;
  spaces.split(names, ',');
  for (llvm::StringRef name : names) {
    if (name != kAnyNamespace && !isNamespace(name))
      return std::nullopt;
    signer.namespaces.push_back(name.str());
  }
  return signer;
}

llvm::Expected<TrustList> TrustList::read(const std::string &file) {
  TrustList list;
  if (file.empty() || !llvm::sys::fs::exists(file))
    return list;
  llvm::Error error = readLines(file, /*isSecret=*/false, "'NAMESPACE ed25519:DIGITS' or 'revoked ed25519:DIGITS'",
                                [&](llvm::StringRef line) {
                                  std::optional<Signer> signer = parseLine(line);
                                  if (signer)
                                    list.signers.push_back(std::move(*signer));
                                  return signer.has_value();
                                });
  if (error)
    return error;
  return list;
}

TrustList::Standing TrustList::judge(llvm::StringRef key, llvm::StringRef nameSpace) const {
  Standing standing = Standing::unknown;
  for (const Signer &signer : signers) {
    if (signer.key != key)
      continue;
    if (signer.isRevoked)
      return Standing::revoked;
    if (llvm::is_contained(signer.namespaces, nameSpace) || llvm::is_contained(signer.namespaces, kAnyNamespace))
      standing = Standing::trusted;
    else if (standing == Standing::unknown)
      standing = Standing::elsewhere;
  }
  return standing;
}

llvm::Error TrustList::append(const std::string &file, const Signer &signer) {
  std::string line = (signer.isRevoked ? kRevoked : llvm::join(signer.namespaces, ",")) + " " +
                     printPublicKey(signer.key) + (signer.comment.empty() ? "" : " " + signer.comment) + "\n";
  if (!parseLine(llvm::StringRef(line).trim()) || llvm::StringRef(line).drop_back().contains('\n'))
    return makeError(CompileStatus::misuse, "this is no signer: " + llvm::StringRef(line).trim());
  if (llvm::StringRef folder = llvm::sys::path::parent_path(file); !folder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return makeError(CompileStatus::resources, folder + ": " + error.message());
  int fd = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 || flock(fd, LOCK_EX) != 0) {
    int error = errno;
    if (fd >= 0)
      close(fd);
    return makeError(CompileStatus::resources, file + ": " + std::generic_category().message(error));
  }
  // If the last line lacks a line break, because of an editor or a killed process, one is added first.
  char last = '\n';
  off_t size = lseek(fd, 0, SEEK_END);
  if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
    line.insert(0, "\n");
  bool isWritten = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && fsync(fd) == 0;
  int error = errno;
  close(fd);
  return isWritten ? llvm::Error::success()
                   : makeError(CompileStatus::resources, file + ": " + std::generic_category().message(error));
}
