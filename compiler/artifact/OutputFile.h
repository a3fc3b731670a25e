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

/// Calls `write` with a stream to a temporary file beside `path`, and then renames it: on any failure or interruption,
/// `path` is unchanged. A file that is not regular (/dev/null, a pipe) is written in place. "-" is standard output,
/// which must be seekable if `write` seeks.
llvm::Error writeOutputFile(const std::string &path, llvm::function_ref<void(llvm::raw_pwrite_stream &)> write);

} // namespace tenon

#endif // TENON_COMPILER_ARTIFACT_OUTPUTFILE_H
