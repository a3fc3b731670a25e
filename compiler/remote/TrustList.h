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

/// Whether a text may name a namespace: lower-case letters, digits, '.', '_' and '-', at most 64, the first a letter or
/// digit. So it is a part of a path and of a URL as it is.
bool isNamespace(llvm::StringRef text);

/// The keys whose entries are used, each in some namespaces. The file has a line for each:
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

  /// The user's list: TENON_CACHE_TRUST, or cache-trust beside other settings. Empty where there is no place for one.
  static std::string getDefaultFile();
  /// Reads a list; one that is not there is empty. Fails if a line is none, or if others may write the file.
  static llvm::Expected<TrustList> read(const std::string &file);

  const std::vector<Signer> &getSigners() const { return signers; }
  /// What a signature by that key is worth in a namespace. `elsewhere`: it is trusted, but not there.
  Standing judge(llvm::StringRef key, llvm::StringRef nameSpace) const;

  /// Adds a line to the file. Processes that do so at the same time take turns.
  static llvm::Error append(const std::string &file, const Signer &signer);

private:
  std::vector<Signer> signers;
};

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_TRUSTLIST_H
