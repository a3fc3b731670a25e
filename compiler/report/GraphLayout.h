//===- GraphLayout.h - a layered drawing of a directed graph ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_GRAPHLAYOUT_H
#define TENON_COMPILER_REPORT_GRAPHLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace tenon {

struct GraphEdge {
  uint32_t from, to;

  friend bool operator==(const GraphEdge &a, const GraphEdge &b) { return a.from == b.from && a.to == b.to; }
  friend bool operator<(const GraphEdge &a, const GraphEdge &b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  }
};

struct LayoutOptions {
  double nodeHeight = 36;
  double rankHeight = 64; ///< from the middle of one rank to that of the next
  double gap = 18;        ///< between neighbours of a rank, at least
  unsigned sweeps = 12;   ///< over all ranks, that look for an order with fewer crossings
};

/// A layered drawing after Sugiyama, Tagawa and Toda: nodes have ranks, and edges lead from a rank to a later one. An
/// edge over several ranks bends at each; edges of one node share these bends.
struct GraphLayout {
  struct Point {
    double x = 0, y = 0;
  };
  /// A segment of edges, from the bottom of a node or bend to the top of one further down.
  struct Segment {
    Point from, to;
  };

  std::vector<Point> nodes;                ///< the centre of each
  std::vector<std::vector<Segment>> edges; ///< by the node that they leave
  double width = 0, height = 0;
  uint64_t crossings = 0;
  uint64_t steps = 0; ///< what the layout took: visits of nodes and edges
};

/// Lays out nodes of these widths. An edge should lead to a node with a larger number; others are drawn reversed, and
/// self-loops are not drawn. The time is O(n log w) in nodes and edges and the widest rank: edges beyond `kMaxBends`
/// bends are straight.
GraphLayout layOutGraph(llvm::ArrayRef<double> widths, llvm::ArrayRef<GraphEdge> edges,
                        const LayoutOptions &options = {});

} // namespace tenon

#endif // TENON_COMPILER_REPORT_GRAPHLAYOUT_H
