//===- OutputFile.h - a file that appears whole or not at all --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ARTIFACT_OUTPUTFILE_H
#define TENON_COMPILER_ARTIFACT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm {
class raw_pwrite_stream;
}

namespace tenon {

/// Calls `write` with a stream of a file beside `path`, which then takes its place: whatever goes wrong, and
/// also where the process is interrupted, `path` is what it was. What is no regular file (/dev/null, a pipe)
/// is written in place. "-" is standard output, which must not be one where `write` seeks.
llvm::Error writeOutputFile(const std::string &path, llvm::function_ref<void(llvm::raw_pwrite_stream &)> write);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_OUTPUTFILE_H
