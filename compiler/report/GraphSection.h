//===- GraphSection.h - the graphs of the page about an artifact -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_GRAPHSECTION_H
#define TENON_COMPILER_REPORT_GRAPHSECTION_H

namespace llvm {
class raw_ostream;
}

namespace tenon {

class ArtifactView;
struct CompileRecord;

/// Writes HTML: a section with a picture of what a run executes. Its nodes link to the instructions' rows, whose ids
/// are "i12", and have the ids "n12" themselves. Where `record` is not null, a picture of the source graph stands
/// before it, whose nodes link to what they were fused into.
void printGraphSection(const ArtifactView &view, const CompileRecord *record, llvm::raw_ostream &os);

/// Writes HTML: the picture of what a run executes alone, without links. `prefix` stands before the ids of nodes.
void printPlanGraph(const ArtifactView &view, const char *prefix, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_GRAPHSECTION_H
