//===- Regex.h - regular expressions as automata --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_ONNX_REGEX_H
#define TENON_COMPILER_IMPORT_ONNX_REGEX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace tenon::onnx_import {

/// A deterministic automaton on bytes. The start state is 0.
struct Automaton {
  llvm::SmallVector<int64_t> classes; ///< of each byte; bytes of one class are never told apart
  llvm::SmallVector<int64_t> next;    ///< for each state and class, the state that follows
  llvm::SmallVector<int64_t> accepts; ///< for each state, whether a text may end there
};

/// Compiles a pattern that must match a UTF-8 text as a whole. The syntax is RE2's, without: flags other than (?s),
/// Unicode classes (\p), \Q and \C. Fails as unsupported if the pattern uses these, or if its automaton would be too
/// large; the message is to be printed after "the pattern".
llvm::Expected<Automaton> compileRegex(llvm::StringRef pattern);

} // namespace tenon::onnx_import

#endif // TENON_COMPILER_IMPORT_ONNX_REGEX_H
