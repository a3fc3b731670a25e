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

/// Writes HTML with every buffer of the arena as a rectangle, time to the right and offsets upwards, a line for the
/// live bytes, and the instruction at the peak. The styles are in HtmlStyle.h. The sizes must be known. If `isLinked`,
/// rectangles link to the buffers' rows, whose ids are "b12".
void printMemoryMap(const ArtifactView &view, llvm::raw_ostream &os, bool isLinked = true);

/// Writes an HTML table of the buffers that are live at the peak, the largest first; nothing if the arena is empty.
void printPeak(const ArtifactView &view, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYMAP_H
