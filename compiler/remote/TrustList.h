//===- TrustList.h - whose entries are used  ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_TRUSTLIST_H
#define TENON_COMPILER_REMOTE_TRUSTLIST_H

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tenon {

/// True if a text is a valid namespace: lower-case letters, digits, '.', '_' and '-', at most 64, beginning with a
/// letter or digit. It can therefore be used in paths and URLs without escaping.
bool isNamespace(llvm::StringRef text);

/// The trusted keys, each for some namespaces. The file has a line for each:
///
///   NAMESPACE[,NAMESPACE...] ed25519:DIGITS [COMMENT]       * is any namespace
///   revoked ed25519:DIGITS [COMMENT]
///
/// What begins with # is for people. A key that is revoked anywhere in the file is not trusted.
class TrustList {
public:
  struct Signer {
    std::string key; ///< 64 hexadecimal digits
    std::vector<std::string> namespaces;
    std::string comment;
    bool isRevoked = false;
  };
  enum class Standing { trusted, unknown, revoked, elsewhere };

  /// Returns the user's list: TENON_CACHE_TRUST, or cache-trust beside other settings. Empty if there is no such
  /// folder.
  static std::string getDefaultFile();
  /// Reads a list; a missing file is an empty list. Fails if a line is invalid, or if others may write the file.
  static llvm::Expected<TrustList> read(const std::string &file);

  const std::vector<Signer> &getSigners() const { return signers; }
  /// Returns the standing of a key in a namespace. `elsewhere` means that it is only trusted in other ones.
  Standing judge(llvm::StringRef key, llvm::StringRef nameSpace) const;

  /// Appends a line to the file under a lock.
  static llvm::Error append(const std::string &file, const Signer &signer);

private:
  std::vector<Signer> signers;
};

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_TRUSTLIST_H
