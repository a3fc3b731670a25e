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

/// Writes an HTML section with a picture of a run. Its nodes have ids such as "n12", and link to the rows of
/// instructions, whose ids are "i12". If `record` is not null, a picture of the source graph comes first, whose nodes
/// link to the ones they were fused into.
void printGraphSection(const ArtifactView &view, const CompileRecord *record, llvm::raw_ostream &os);

/// Writes only the picture of a run as HTML, without links. `prefix` is prepended to the ids of nodes.
void printPlanGraph(const ArtifactView &view, const char *prefix, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_GRAPHSECTION_H
