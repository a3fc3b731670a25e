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

/// A regular expression with the semantics of Oniguruma, executed by ICU. Constructs that differ are translated or
/// rejected. Thread-safe.
class Regex {
public:
  Regex();
  ~Regex();
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;

  /// Fails with TENON_UNSUPPORTED if the pattern has constructs that ICU lacks or interprets differently.
  Status compile(std::string_view pattern);
  /// Compiles an expression that only matches `literal`, which must not be empty.
  Status compileLiteral(std::string_view literal);

  /// Appends the matches in a text, from left to right, and the parts in between. Fails with TENON_RESOURCES after too
  /// many steps, because patterns may take exponential time.
  Status findParts(std::u32string_view text, std::vector<Part> &parts) const;

private:
  struct Pattern;
  std::unique_ptr<Pattern> pattern;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_REGEX_H
