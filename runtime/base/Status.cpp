//===- Status.cpp - how the runtime's own code reports failure -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Status.h"

#include <cstdarg>
#include <cstdio>

namespace tenon::rt {

Status Status::make(tenon_status code, const char *format, ...) {
  Status status;
  status.code_ = code;
  constexpr size_t kCapacity = sizeof(tenon_error::message);
  status.text_.reset(static_cast<char *>(malloc(kCapacity)));
  // If there is no memory for the text, only the code is reported.
  if (!status.text_)
    return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(status.text_.get(), kCapacity, format, arguments);
  va_end(arguments);
  for (char *c = status.text_.get(); *c; ++c)
    if (static_cast<unsigned char>(*c) < 0x20 || *c == 0x7f)
      *c = '?';
  return status;
}

} // namespace tenon::rt
