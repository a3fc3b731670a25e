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

/// A list of buffers in MiniMalloc's format: a header with the names of columns, and a line for each buffer.
struct BufferFile {
  std::vector<std::string> ids;
  placement::Instance buffers;
  bool hasAlignment = false;
};

/// Parses the columns id, lower, upper, size and, optionally, alignment, in any order. The columns offset, hint and
/// gaps are ignored. An error begins with the number of its line.
llvm::Expected<BufferFile> parseBuffers(llvm::StringRef text);

/// Returns the content of a cell for a message: quoted, truncated and printable.
std::string quoteCell(llvm::StringRef cell);

/// Prints the columns that were read, and the offsets.
void printBuffers(const BufferFile &file, const placement::Placement &placement, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_TOOLS_TENON_BUFFERFILE_H
