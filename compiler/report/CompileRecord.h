//===- CompileRecord.h - what a page shows of a compilation ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_COMPILERECORD_H
#define TENON_COMPILER_REPORT_COMPILERECORD_H

#include "compiler/report/GraphLayout.h"
#include <map>
#include <string>

namespace tenon {

/// The imported model as a graph. Names come from the model, and may contain anything.
struct SourceGraph {
  enum class Kind { operation, input, output };
  struct Node {
    std::string name;
    std::string operations; ///< of the tenon dialect, that the model's node became: "mul, add"
    std::string type;       ///< of what it makes: "f32[N,64]"
    Kind kind = Kind::operation;
  };

  std::vector<Node> nodes; ///< inputs, then operations in the order of the program, then outputs
  std::vector<GraphEdge> edges;
};

/// Information about a compilation that an artifact does not contain, for the program for all sizes of the first
/// target.
struct CompileRecord {
  struct Phase {
    std::string name;
    double seconds;
  };

  /// The IR of a kernel, cut off where it is long.
  struct KernelIR {
    std::string tensors; ///< as it was outlined, in operations of the tenon dialect
    std::string buffers; ///< tiled and bufferized, with its schedule
  };

  SourceGraph source;
  std::map<std::string, KernelIR> kernels; ///< by name
  /// The names of the nodes of each launch, in the order of the launches.
  std::vector<std::vector<std::string>> launches;
  std::vector<Phase> phases; ///< in the order in which they ran
};

} // namespace tenon

#endif // TENON_COMPILER_REPORT_COMPILERECORD_H
