//===- RegexSyntax.h - regular expressions as trees -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_REGEXSYNTAX_H
#define TENON_COMPILER_IMPORT_ONNX_REGEXSYNTAX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::onnx_import {

inline constexpr uint32_t kLastCodePoint = 0x10ffff;

/// Code points, as ranges from first to last.
using CodeRanges = std::vector<std::pair<uint32_t, uint32_t>>;

struct RegexNode {
  enum Kind { set, sequence, choice, repeat, begin, end, boundary, notBoundary } kind;
  CodeRanges ranges;                               ///< of a set
  std::vector<std::unique_ptr<RegexNode>> parts{}; ///< of the others
  int min = 0, max = -1;                           ///< of a repeat; -1: any number of times
};

/// Parses a pattern. Error messages are to be printed after "the pattern".
llvm::Expected<std::unique_ptr<RegexNode>> parseRegex(llvm::StringRef pattern);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_REGEXSYNTAX_H
