//===- Regex.h - regular expressions of tokenizers ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_REGEX_H
#define TENON_RUNTIME_TEXT_REGEX_H

#include "runtime/text/AlignedText.h"

#include <memory>

namespace tenon::text {

/// A regular expression that means what Oniguruma takes it for, executed by ICU. What the two read differently is
/// translated or refused. Many threads may search with one at the same time.
class Regex {
public:
  Regex();
  ~Regex();
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;

  /// Fails with TENON_UNSUPPORTED where the pattern has what ICU does not know or reads differently.
  Status compile(std::string_view pattern);
  /// Becomes an expression that matches `literal` alone, which is not empty.
  Status compileLiteral(std::string_view literal);

  /// Appends the matches of a text, from left to right, and what lies between them. Fails with TENON_RESOURCES where
  /// that takes too many steps: patterns may be made to take time that is exponential.
  Status findParts(std::u32string_view text, std::vector<Part> &parts) const;

private:
  struct Pattern;
  std::unique_ptr<Pattern> pattern;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_REGEX_H
