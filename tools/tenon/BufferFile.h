//===- BufferFile.h - buffers and their places as CSV ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_BUFFERFILE_H
#define TENON_TOOLS_TENON_BUFFERFILE_H

#include "passes/memory/placement/Instance.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tenon {

/// A list of buffers, as MiniMalloc reads and writes them: a header that names columns, a buffer a line.
struct BufferFile {
  std::vector<std::string> ids;
  placement::Instance buffers;
  bool hasAlignment = false;
};

/// Reads the columns id, lower, upper, size and, where there is one, alignment, in any order. Columns offset,
/// hint and gaps are passed over: they say what need not be known. An error begins with the number of its line.
llvm::Expected<BufferFile> parseBuffers(llvm::StringRef text);

/// What stands in a cell, for a message: in quotes, not too long, and without bytes that cannot be printed.
std::string quoteCell(llvm::StringRef cell);

/// Prints the columns that were read, and the offsets.
void printBuffers(const BufferFile &file, const placement::Placement &placement, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_TOOLS_TENON_BUFFERFILE_H
