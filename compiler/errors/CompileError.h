//===- CompileError.h - why a compilation ends ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ERRORS_COMPILEERROR_H
#define TENON_COMPILER_ERRORS_COMPILEERROR_H

#include "llvm/Support/Error.h"
#include <string>

namespace tenon {

/// The result of a compilation. The values are exit codes.
enum class CompileStatus {
  done = 0,
  invalid = 1,     ///< the model or an input is at fault
  misuse = 2,      ///< the options are
  unsupported = 3, ///< the compiler lacks an operator, a type, a target
  resources = 4,   ///< the machine lacks memory or disk space, or a limit is exceeded
  inexact = 5,     ///< an output is off by more than the tolerance
  fault = 70       ///< the compiler itself is at fault
};

/// A failure of the compiler with its category. The message is one line, without the program's name; it is empty if a
/// diagnostic has reported the reason already.
class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  static char ID;

  CompileError(CompileStatus category, std::string message) : category(category), text(std::move(message)) {}

  CompileStatus getCategory() const { return category; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  void log(llvm::raw_ostream &os) const override { os << text; }

private:
  CompileStatus category;
  std::string text;
};

inline llvm::Error makeError(CompileStatus category, const llvm::Twine &message) {
  return llvm::make_error<CompileError>(category, message.str());
}

/// A failure whose reason diagnostics have told.
inline llvm::Error makeReportedError(CompileStatus category) {
  return llvm::make_error<CompileError>(category, std::string());
}

/// Returns the category of `error` and moves its message to `message`. An error without a category, from LLVM's
/// libraries, is an internal error.
CompileStatus takeError(llvm::Error error, std::string &message);

/// Returns the same error with `prefix` before its message, if it has one.
llvm::Error prefixError(llvm::Error error, const llvm::Twine &prefix);

} // namespace tenon

#endif // TENON_COMPILER_ERRORS_COMPILEERROR_H
