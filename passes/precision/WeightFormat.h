//===- WeightFormat.h - which weights are stored in how many bits ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of --weights. The algorithm stands apart from the IR.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_WEIGHTFORMAT_H
#define TENON_PASSES_PRECISION_WEIGHTFORMAT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// How the elements of a matrix are stored.
struct WeightFormat {
  enum class Kind { f32, bf16, f16, int8, int4 };
  Kind kind = Kind::f32;
  int64_t group = 0;         ///< of integers: neighbours along a row that have one scale; 0: the whole row
  bool isAsymmetric = false; ///< of integers: groups have zero points

  bool isInteger() const { return kind == Kind::int8 || kind == Kind::int4; }
  int64_t getBits() const;

  /// Parses a name and suboptions, such as "bf16", "int8" or "int4:group=64,asymmetric". Fails with a message for
  /// users.
  static llvm::Expected<WeightFormat> parse(llvm::StringRef text);
  /// Describes the format for reports: "bf16", "int8 (row)", "int4 (group 32, asymmetric)".
  std::string describe() const;
};

/// The format of the weights whose names match a pattern.
struct WeightRule {
  std::string text;    ///< as the user has written it
  std::string pattern; ///< a glob; empty: of all weights that are large enough
  WeightFormat format;

  /// Parses "FORMAT" or "PATTERN=FORMAT". Fails with a message for users.
  static llvm::Expected<WeightRule> parse(llvm::StringRef text);
};

/// The rules of a compilation; the last rule that matches a weight decides.
class WeightRules {
public:
  explicit WeightRules(std::vector<WeightRule> rules) : rules(std::move(rules)) {}

  /// Returns the format of each of the weights `names`; none if no rule matches. Weights that are not `isLarge` only
  /// match rules with a pattern. Fails if a pattern matches no weight.
  llvm::Expected<std::vector<std::optional<WeightFormat>>> choose(llvm::ArrayRef<std::string> names,
                                                                  llvm::ArrayRef<bool> isLarge) const;

private:
  std::vector<WeightRule> rules;
};

} // namespace tenon

#endif // TENON_PASSES_PRECISION_WEIGHTFORMAT_H
