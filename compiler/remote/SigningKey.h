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

/// A public key is written "ed25519:" and 64 hexadecimal digits; elsewhere in the code, the digits alone. Nothing where
/// the text is none.
std::optional<std::string> parsePublicKey(llvm::StringRef text);
std::string printPublicKey(llvm::StringRef digits);

/// Whether `signature` (128 hexadecimal digits) is that of `text` by the public key `signer` (64 digits).
bool isSignedBy(llvm::StringRef signer, llvm::StringRef signature, llvm::StringRef text);

/// A secret key (RFC 8032). Its bytes are overwritten when it is destroyed.
class SigningKey {
public:
  SigningKey(SigningKey &&other);
  SigningKey &operator=(SigningKey &&) = delete;
  ~SigningKey();

  static SigningKey generate();
  /// Reads what `write` wrote. Fails if others than the owner may read the file.
  static llvm::Expected<SigningKey> read(const std::string &file);
  /// Makes a file that only its owner can read, and `file`.pub with the public key. Fails if one of them exists.
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

/// Where the user's keys are: `name` in the folder "tenon" of XDG_CONFIG_HOME or of ~/.config. Empty where there is no
/// such folder.
std::string getConfigFile(llvm::StringRef name);

/// Fails if others than the owner may write the file, or read it if it is a secret.
llvm::Error checkPermissions(const std::string &file, bool isSecret);

/// Checks that, and calls `use` with each line that is neither empty nor a comment (#). A line that `use` returns false
/// for is a fault of the file, at which `expected` was.
llvm::Error readLines(const std::string &file, bool isSecret, llvm::StringRef expected,
                      llvm::function_ref<bool(llvm::StringRef line)> use);

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_SIGNINGKEY_H
