//===- CommandLine.h - command lines that are printed ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_COMMANDLINE_H
#define TENON_TOOLS_TENON_DEBUG_COMMANDLINE_H

#include <string>

namespace tenon::debug {

/// An argument as a shell takes it.
std::string quote(const std::string &text);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_COMMANDLINE_H
