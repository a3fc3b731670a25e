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
/// are live as a line, and the instruction at which they are the most. The styles are those of HtmlStyle.h. The sizes
/// must be known, and with them what is live. Rectangles link to the buffers' rows, whose ids are "b12", if `isLinked`.
void printMemoryMap(const ArtifactView &view, llvm::raw_ostream &os, bool isLinked = true);

/// Writes HTML: a table of the buffers that are live at that instruction, the largest first; nothing where the arena
/// is empty.
void printPeak(const ArtifactView &view, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYMAP_H
