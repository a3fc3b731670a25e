//===- DumpIndex.h - a page for looking through dumps ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_DUMPINDEX_H
#define TENON_COMPILER_PIPELINE_DUMPINDEX_H

#include "compiler/pipeline/Dump.h"

namespace tenon {

/// The name of the page in a folder of dumps.
inline constexpr char kDumpIndex[] = "index.html";

/// Writes a page with the list of `files`, which are in `folder`, and their text: any two can be compared side by side.
/// The page is self-contained, because a page that is opened from disk cannot read other files. Only the model's names
/// are untrusted; they are data of the page's script, which inserts them as text, never as markup.
void printDumpIndex(llvm::StringRef sourceName, llvm::StringRef folder, llvm::ArrayRef<DumpedFile> files,
                    llvm::raw_ostream &os);

/// The style and the script of the page.
extern const char *const kDumpIndexStyle;
extern const char *const kDumpIndexScript;

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_DUMPINDEX_H
