//===- SigningKey.h - Ed25519 keys  ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_SIGNINGKEY_H
#define TENON_COMPILER_REMOTE_SIGNINGKEY_H

#include "llvm/Support/Error.h"
#include <array>
#include <string>

namespace tenon {

/// Parses a public key, which is written as "ed25519:" and 64 hexadecimal digits, and returns the digits. None if the
/// text is invalid.
std::optional<std::string> parsePublicKey(llvm::StringRef text);
std::string printPublicKey(llvm::StringRef digits);

/// True if `signature` (128 hexadecimal digits) is a signature of `text` by the public key `signer` (64 digits).
bool isSignedBy(llvm::StringRef signer, llvm::StringRef signature, llvm::StringRef text);

/// A secret key (RFC 8032). Its bytes are overwritten on destruction.
class SigningKey {
public:
  SigningKey(SigningKey &&other) noexcept;
  SigningKey &operator=(SigningKey &&) = delete;
  ~SigningKey();

  static SigningKey generate();
  /// Reads a file of `write`. Fails if anyone but the owner may read it.
  static llvm::Expected<SigningKey> read(const std::string &file);
  /// Creates a file that only its owner can read, and `file`.pub with the public key. Fails if one of them exists.
  llvm::Error write(const std::string &file, llvm::StringRef comment) const;

  /// 64 hexadecimal digits.
  const std::string &getPublicKey() const { return publicKey; }
  /// 128 hexadecimal digits.
  std::string sign(llvm::StringRef text) const;

private:
  static constexpr size_t kSeedBytes = 32, kSecretBytes = 64;
  explicit SigningKey(const std::array<unsigned char, kSeedBytes> &seed);

  std::array<unsigned char, kSeedBytes> seed;
  std::array<unsigned char, kSecretBytes> secret; ///< as libsodium has it, which follows from the seed
  std::string publicKey;
};

/// Returns the path of the user's file `name` in the folder "tenon" of XDG_CONFIG_HOME or ~/.config. Empty if there is
/// no such folder.
std::string getConfigFile(llvm::StringRef name);

/// Fails if anyone but the owner may write the file, or read it if it is a secret.
llvm::Error checkPermissions(const std::string &file, bool isSecret);

/// Checks the permissions, and calls `use` with each line that is neither empty nor a comment (#). If `use` returns
/// false, reports that the line is not `expected`.
llvm::Error readLines(const std::string &file, bool isSecret, llvm::StringRef expected,
                      llvm::function_ref<bool(llvm::StringRef line)> use);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_SIGNINGKEY_H
