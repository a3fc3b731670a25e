//===- GraphPicture.h - a picture of a graph that can be searched ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_GRAPHPICTURE_H
#define TENON_COMPILER_REPORT_GRAPHPICTURE_H

#include "compiler/report/GraphLayout.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// A node of a picture. All texts are escaped when they are printed.
struct PictureNode {
  enum class Kind { operation, input, output };

  std::string id;              ///< of the node in the page
  std::string anchor;          ///< what it links to; empty for nothing
  std::string name, operation; ///< the two lines in it, of which the first is cut at its beginning
  std::string tooltip;
  Kind kind = Kind::operation;
  bool isFaint = false;
  double share = 0; ///< of all work, from 0 to 1: nodes with more are darker
};

/// limit: nodes and edges of a picture that still scrolls and zooms fast.
inline constexpr size_t kMaxPictureNodes = 6000, kMaxPictureEdges = 60'000;

/// Writes the graph as SVG in a scrolling HTML box, with the controls that the page's script (HtmlScript.h) activates.
/// A larger graph is replaced by a sentence.
void printGraphPicture(llvm::ArrayRef<PictureNode> nodes, llvm::ArrayRef<GraphEdge> edges, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_GRAPHPICTURE_H
