//===- ErrorStream.h - errors for people, and for programs ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_ERRORSTREAM_H
#define TENON_TOOLS_TENON_ERRORSTREAM_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tenon {

/// Returns the stream for errors and warnings of all commands: standard error, one line each.
llvm::raw_ostream &errors();

/// Returns the exit code of a command, and prints its failure.
int finish(llvm::Expected<int> status);

/// From now on keeps a copy of the output of errors(), in this process and in its forks.
void keepErrors();

/// Prints the kept errors and warnings as one JSON object, with the program's exit code. Prints nothing if no error was
/// kept: then the reason is in the command's own JSON.
void printKeptErrors(int exitCode, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_TOOLS_TENON_ERRORSTREAM_H
