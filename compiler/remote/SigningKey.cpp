//===- SigningKey.cpp - Ed25519 keys  -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/SigningKey.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

/// The prefix of each signed text, so that a signature made for another purpose is never valid for an entry.
static constexpr char kDomain[] = "tenon cache entry\n";
static constexpr char kSecretPrefix[] = "tenon-cache-secret-key ed25519:", kPublicPrefix[] = "ed25519:";

/// libsodium selects implementations for this processor once.
static void initialize() {
  static const bool isReady = sodium_init() >= 0;
  if (!isReady)
    llvm::report_fatal_error("libsodium finds no source of random numbers");
}

/// Parses lower-case hexadecimal digits; returns false if the text is anything else.
template <size_t N> static bool fromHex(llvm::StringRef text, std::array<unsigned char, N> &bytes) {
  if (text.size() != 2 * N || !llvm::all_of(text, [](char c) { return llvm::isHexDigit(c) && !llvm::isUpper(c); }))
    return false;
  std::string decoded = llvm::fromHex(text);
  llvm::copy(decoded, bytes.begin());
  sodium_memzero(decoded.data(), decoded.size());
  return true;
}

std::optional<std::string> tenon::parsePublicKey(llvm::StringRef text) {
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> bytes;
  if (!text.consume_front(kPublicPrefix) || !fromHex(text, bytes))
    return std::nullopt;
  return text.str();
}

std::string tenon::printPublicKey(llvm::StringRef digits) { return kPublicPrefix + digits.str(); }

bool tenon::isSignedBy(llvm::StringRef signer, llvm::StringRef signature, llvm::StringRef text) {
  initialize();
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key;
  std::array<unsigned char, crypto_sign_BYTES> bytes;
  if (!fromHex(signer, key) || !fromHex(signature, bytes))
    return false;
  std::string whole = kDomain + text.str();
  return crypto_sign_verify_detached(bytes.data(), reinterpret_cast<const unsigned char *>(whole.data()), whole.size(),
                                     key.data()) == 0;
}

//===----------------------------------------------------------------------===//
// Secret keys
//===----------------------------------------------------------------------===//

SigningKey::SigningKey(const std::array<unsigned char, kSeedBytes> &seed) : seed(seed) {
  static_assert(kSeedBytes == crypto_sign_SEEDBYTES && kSecretBytes == crypto_sign_SECRETKEYBYTES);
  initialize();
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key;
  crypto_sign_seed_keypair(key.data(), secret.data(), seed.data());
  publicKey = llvm::toHex(key, /*LowerCase=*/true);
}

SigningKey::SigningKey(SigningKey &&other) noexcept
    : seed(other.seed), secret(other.secret), publicKey(std::move(other.publicKey)) {}

SigningKey::~SigningKey() {
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(secret.data(), secret.size());
}

SigningKey SigningKey::generate() {
  initialize();
  std::array<unsigned char, kSeedBytes> seed;
  randombytes_buf(seed.data(), seed.size());
  SigningKey key(seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

std::string SigningKey::sign(llvm::StringRef text) const {
  std::array<unsigned char, crypto_sign_BYTES> signature;
  std::string whole = kDomain + text.str();
  crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const unsigned char *>(whole.data()), whole.size(),
                       secret.data());
  return llvm::toHex(signature, /*LowerCase=*/true);
}

llvm::Expected<SigningKey> SigningKey::read(const std::string &file) {
  if (llvm::Error error = checkPermissions(file, /*isSecret=*/true))
    return error;
  auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return makeError(CompileStatus::invalid, file + ": " + text.getError().message());
  llvm::StringRef line = (*text)->getBuffer().split('\n').first;
  std::array<unsigned char, kSeedBytes> seed;
  if (!line.consume_front(kSecretPrefix) || !fromHex(line.split(' ').first, seed))
    return makeError(CompileStatus::invalid, file + ": not a signing key; make one with 'tenon cache keygen'");
  SigningKey key(seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

/// Makes a file that must not exist yet.
static llvm::Error writeNew(const std::string &file, const std::string &text, mode_t mode) {
  int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  bool isWritten = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  isWritten = isWritten && fsync(fd) == 0;
  int error = errno;
  if (fd >= 0)
    close(fd);
  if (isWritten)
    return llvm::Error::success();
  if (fd >= 0)
    (void)fs::remove(file);
  return makeError(error == EEXIST ? CompileStatus::invalid : CompileStatus::resources,
                   file + ": " + std::generic_category().message(error));
}

llvm::Error SigningKey::write(const std::string &file, llvm::StringRef comment) const {
  llvm::StringRef folder = llvm::sys::path::parent_path(file);
  if (!folder.empty())
    if (std::error_code error = fs::create_directories(folder))
      return makeError(CompileStatus::resources, folder + ": " + error.message());
  std::string end = (comment.empty() ? "" : " " + comment.str()) + "\n", open = file + ".pub";
  if (llvm::Error error = writeNew(open, printPublicKey(publicKey) + end, 0644))
    return error;
  std::string hidden = kSecretPrefix + llvm::toHex(seed, /*LowerCase=*/true) + end;
  llvm::Error error = writeNew(file, hidden, 0600);
  sodium_memzero(hidden.data(), hidden.size());
  if (error)
    (void)fs::remove(open);
  return error;
}

//===----------------------------------------------------------------------===//
// Files of the user's
//===----------------------------------------------------------------------===//

std::string tenon::getConfigFile(llvm::StringRef name) {
  llvm::SmallString<128> file;
  if (const char *own = std::getenv("XDG_CONFIG_HOME"); own && *own)
    file = own;
  else if (const char *home = std::getenv("HOME"); home && *home)
    llvm::sys::path::append(file, home, ".config");
  // Without a home folder, the path would be relative to the current folder.
  if (!llvm::sys::path::is_absolute(file))
    return "";
  llvm::sys::path::append(file, "tenon", name);
  return file.str().str();
}

llvm::Error tenon::checkPermissions(const std::string &file, bool isSecret) {
  struct stat status;
  if (stat(file.c_str(), &status) != 0)
    return makeError(CompileStatus::invalid, file + ": " + std::generic_category().message(errno));
  if (!S_ISREG(status.st_mode))
    return makeError(CompileStatus::invalid, file + ": this is no file");
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return makeError(CompileStatus::invalid, file + ": it belongs to another user");
  mode_t others = isSecret ? 077 : 022;
  if (status.st_mode & others)
    return makeError(CompileStatus::invalid, file + ": others may " + (isSecret ? "read" : "write") +
                                                 " it; run 'chmod go" + (isSecret ? "-rwx " : "-w ") + file + "'");
  return llvm::Error::success();
}

llvm::Error tenon::readLines(const std::string &file, bool isSecret, llvm::StringRef expected,
                             llvm::function_ref<bool(llvm::StringRef line)> use) {
  if (llvm::Error error = checkPermissions(file, isSecret))
    return error;
  auto text = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!text)
    return makeError(CompileStatus::invalid, file + ": " + text.getError().message());
  size_t number = 0;
  for (llvm::StringRef each : llvm::split((*text)->getBuffer(), '\n')) {
    ++number;
    llvm::StringRef line = each.trim();
    if (!line.empty() && !line.starts_with("#") && !use(line))
      return makeError(CompileStatus::invalid, file + ":" + llvm::Twine(number) + ": expected " + expected);
  }
  return llvm::Error::success();
}
