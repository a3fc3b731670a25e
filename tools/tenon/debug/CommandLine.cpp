//===- CommandLine.cpp - command lines that are printed -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/CommandLine.h"
#include "llvm/ADT/StringRef.h"

using namespace tenon;

std::string debug::quote(const std::string &text) {
  llvm::StringRef plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!text.empty() && llvm::StringRef(text).find_first_not_of(plain) == llvm::StringRef::npos)
    return text;
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}
