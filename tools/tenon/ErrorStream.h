//===- ErrorStream.h - errors for people, and for programs ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_ERRORSTREAM_H
#define TENON_TOOLS_TENON_ERRORSTREAM_H

#include "llvm/Support/raw_ostream.h"

namespace tenon {

/// Where all commands print errors and warnings: standard error, a line for each.
llvm::raw_ostream &errors();

/// From here on keeps a copy of what errors() prints, in this process and in those forked from it.
void keepErrors();

/// Prints the errors and warnings that were kept as one JSON object, with the program's exit code. Prints nothing where
/// no error was kept: what failed has told the reason in its own JSON then.
void printKeptErrors(int exitCode, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_TOOLS_TENON_ERRORSTREAM_H
