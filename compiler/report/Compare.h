//===- Compare.h - what differs between two artifacts ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_COMPARE_H
#define TENON_COMPILER_REPORT_COMPARE_H

#include "compiler/report/ArtifactView.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// A comparison of two artifacts, fact by fact. All texts are printable.
struct Comparison {
  /// What can be equal or not.
  struct Fact {
    std::string key; ///< "inputs", of JSON and as a title
    std::string a, b;
    bool isEqual() const { return a == b; }
  };
  /// A numerical fact; none if it is not known.
  struct Figure {
    const char *key; ///< "file_bytes"
    std::string title;
    std::optional<uint64_t> a, b;
    bool isEqual() const { return a == b; }
  };
  /// Launches of a kernel in `a` and of one in `b` that compute the same nodes of the model.
  struct KernelPair {
    /// One side of a pair.
    struct Side {
      std::string kernel, path;
      std::optional<uint64_t> flops, bytes; ///< of one launch
      std::optional<uint64_t> code;         ///< bytes
    };
    std::optional<Side> a, b;
    uint32_t launches = 0;
    std::string nodes; ///< of the first launch
    bool isEqual() const;
  };
  /// Weights of one name; unnamed ones are identified by the nodes that read them.
  struct Weight {
    std::string name;
    uint64_t bytesOfA = 0, bytesOfB = 0; ///< 0 where there is none
  };

  std::vector<Fact> facts;
  std::vector<Figure> figures;
  std::vector<KernelPair> kernels; ///< those that differ, those of one artifact alone, those that are equal
  std::vector<Weight> weights;     ///< those that differ, the largest difference first
  uint64_t equalWeights = 0;
};

/// Lists the names of equal facts that both artifacts have, without the figures of the machine model, which are many.
std::vector<std::string> listEqual(const Comparison &comparison);

/// Sizes must have been chosen for both before.
Comparison compareArtifacts(const ArtifactView &a, const ArtifactView &b);

/// Describes the change of a number: "+12.3 %", "× 3.1", "new"; empty if it is equal or unknown.
std::string describeChange(std::optional<uint64_t> a, std::optional<uint64_t> b);

/// What to compare, and how to show it.
struct CompareOptions {
  std::string a, b;   ///< paths of artifacts
  std::string report; ///< path of a page; empty for standard output
  bool json = false;
  bool verify = false;         ///< compare the hashes of weights, too
  size_t width = 0;            ///< of the text, in columns; 0: as wide as it comes
  SizeArguments sizes;         ///< of both
  ArtifactView::Choice choice; ///< likewise
};

/// Compares two artifacts. Dynamic dimensions without a size get an assumed one, which is reported. Prints to `os`, or
/// one line to `errors`. Returns an exit code, which does not depend on the differences.
int compareArtifacts(const CompareOptions &options, llvm::raw_ostream &os, llvm::raw_ostream &errors);

void printComparison(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os);
void printComparisonJson(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os);
/// Writes a page that also has the memory maps and the graphs of both artifacts.
void printComparisonPage(const Comparison &comparison, const ArtifactView &a, const ArtifactView &b,
                         const CompareOptions &options, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_COMPARE_H
