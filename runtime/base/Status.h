//===- Status.h - how the runtime's own code reports failure -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_STATUS_H
#define TENON_RUNTIME_BASE_STATUS_H

#include "tenon/runtime.h"

#include <cstdlib>
#include <memory>

namespace tenon::rt {

/// Success takes one word. A failure has a code and one line of text, which is only allocated then.
class [[nodiscard]] Status {
public:
  Status() = default;

  /// The text is truncated to tenon_error's length, and control characters in it, which a hostile file may contain in a
  /// name, are replaced by '?'.
  static Status make(tenon_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

  bool failed() const { return code_ != TENON_OK; }
  tenon_status code() const { return code_; }
  const char *message() const { return text_ ? text_.get() : ""; }

private:
  struct Free {
    void operator()(char *text) const { free(text); }
  };
  tenon_status code_ = TENON_OK;
  std::unique_ptr<char, Free> text_;
};

} // namespace tenon::rt

/// Returns the failure of `expression` from the function, if it has one.
#define TENON_TRY(expression)                                                                                          \
  do {                                                                                                                 \
    if (::tenon::rt::Status tenonStatus = (expression); tenonStatus.failed())                                          \
      return tenonStatus;                                                                                              \
  } while (false)

#endif // TENON_RUNTIME_BASE_STATUS_H
