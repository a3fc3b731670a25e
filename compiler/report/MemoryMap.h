//===- MemoryMap.h - a picture of the arena over time ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_MEMORYMAP_H
#define TENON_COMPILER_REPORT_MEMORYMAP_H

namespace llvm {
class raw_ostream;
}

namespace tenon {

class ArtifactView;

/// Writes HTML: every buffer of the arena as a rectangle, time to the right and offsets upwards, with the bytes that
/// are live as a line, the instruction at which they are the most, and a table of what is live there. The styles are
/// HtmlReport's. The sizes must be known, and with them what is live.
void printMemoryMap(const ArtifactView &view, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYMAP_H
