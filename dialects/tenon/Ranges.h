//===- Ranges.h - ranges of symbols as text -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_RANGES_H
#define TENON_DIALECTS_TENON_RANGES_H

#include "dialects/tenon/Interval.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A symbol and the values that it may have.
struct NamedRange {
  std::string symbol;
  Interval range;
  std::optional<int64_t> hint = {}; ///< the value that choices are made for
};

/// Parses "N=128;M=1..512@64", where 64 is the size hint.
llvm::Expected<std::vector<NamedRange>> parseRanges(llvm::StringRef text);
/// Prints ranges in the syntax of `parseRanges`, with or without size hints.
std::string printRanges(llvm::ArrayRef<NamedRange> ranges, bool withHints = false);

} // namespace tenon

#endif // TENON_DIALECTS_TENON_RANGES_H
