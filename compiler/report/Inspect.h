//===- Inspect.h - what is in an artifact ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_INSPECT_H
#define TENON_COMPILER_REPORT_INSPECT_H

#include "compiler/report/ArtifactView.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// The parts that are printed as text; a summary if none is selected.
struct InspectSections {
  bool all = false;
  bool sections = false, symbols = false, instructions = false, kernels = false, memory = false, weights = false;

  bool isAnyChosen() const { return all || sections || symbols || instructions || kernels || memory || weights; }
};

struct InspectOptions {
  std::string artifact;
  InspectSections show;
  bool json = false;
  size_t width = 0;    ///< of the text, in columns; 0: as wide as it comes
  bool verify = false; ///< compare the hash of the weights, too
  SizeArguments sizes;
  ArtifactView::Choice choice; ///< which plan to show
};

/// Prints the artifact to `os`, or one line to `errors`. Returns an exit code.
int inspectArtifact(const InspectOptions &options, llvm::raw_ostream &os, llvm::raw_ostream &errors);

/// Prints an overview of about a dozen lines: inputs and outputs, targets, memory, work, and the kernels with the
/// largest share of it.
void printSummary(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os);
void printText(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os);
void printJson(const ArtifactView &view, const InspectOptions &options, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_INSPECT_H
