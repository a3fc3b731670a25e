//===- GraphPicture.cpp - a picture of a graph that can be searched --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes and edges are SVG of a fixed size, so that a browser scrolls them without
// a script; the script of the page changes the size.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphPicture.h"
#include "compiler/report/Html.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tenon;

/// The columns of a node's label, and the width of a column in pixels in the style sheet's font.
static constexpr size_t kMaxColumns = 26;
static constexpr double kColumnWidth = 7;
/// Around the picture.
static constexpr double kMargin = 16;

/// Tenths are fine enough for pixels, and short.
static std::string number(double value) {
  int64_t tenths = std::llround(value * 10);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10)
    text += "." + std::to_string(std::abs(tenths % 10));
  return tenths < 0 && tenths > -10 ? "-" + text : text;
}

static double getWidth(const PictureNode &node) {
  size_t columns =
      std::max(getColumns(shortenFront(node.name, kMaxColumns)), getColumns(shorten(node.operation, kMaxColumns)));
  return std::max<double>(60, 16 + kColumnWidth * double(columns));
}

/// Prints all edges of a node, with the numbers of the nodes that they reach.
static void printEdges(uint32_t node, llvm::ArrayRef<GraphLayout::Segment> segments, llvm::ArrayRef<GraphEdge> edges,
                       llvm::raw_ostream &os) {
  os << "<path data-from=\"" << node << "\" data-to=\"";
  auto isBefore = [](const GraphEdge &edge, uint32_t from) { return edge.from < from; };
  const GraphEdge *first = std::lower_bound(edges.begin(), edges.end(), node, isBefore);
  for (const GraphEdge *edge = first; edge != edges.end() && edge->from == node; ++edge)
    os << (edge == first ? "" : " ") << edge->to;
  os << "\" d=\"";
  for (const GraphLayout::Segment &segment : segments) {
    std::string x = number(segment.from.x), end = number(segment.to.x),
                middle = number((segment.from.y + segment.to.y) / 2);
    os << 'M' << x << ' ' << number(segment.from.y);
    if (x == end)
      os << 'V' << number(segment.to.y);
    else
      os << 'C' << x << ' ' << middle << ' ' << end << ' ' << middle << ' ' << end << ' ' << number(segment.to.y);
  }
  os << "\"/>\n";
}

static void printNode(const PictureNode &node, GraphLayout::Point at, double width, double height,
                      llvm::raw_ostream &os) {
  os << "<a id=\"" << Html(node.id) << "\" class=\"node" << (node.kind == PictureNode::Kind::operation ? "" : " end")
     << (node.isFaint ? " faint" : "") << '"';
  if (!node.anchor.empty())
    os << " href=\"#" << Html(node.anchor) << '"';
  os << "><title>" << Html(node.tooltip) << "</title><rect x=\"" << number(at.x - width / 2) << "\" y=\""
     << number(at.y - height / 2) << "\" width=\"" << number(width) << "\" height=\"" << number(height) << "\" rx=\""
     << (node.kind == PictureNode::Kind::operation ? "3" : number(height / 2)) << '"';
  // The square root makes kernels with a small share of the work distinguishable, too.
  if (node.share > 0)
    os << " style=\"fill-opacity:" << number(0.1 + 0.6 * std::sqrt(std::min(node.share, 1.0))) << '"';
  os << "/><text x=\"" << number(at.x) << "\" y=\"" << number(at.y - 3) << "\">"
     << Html(shortenFront(node.name, kMaxColumns)) << "</text><text class=\"op\" x=\"" << number(at.x) << "\" y=\""
     << number(at.y + 11) << "\">" << Html(shorten(node.operation, kMaxColumns)) << "</text></a>\n";
}

void tenon::printGraphPicture(llvm::ArrayRef<PictureNode> nodes, llvm::ArrayRef<GraphEdge> edges,
                              llvm::raw_ostream &os) {
  if (nodes.size() > kMaxPictureNodes || edges.size() > kMaxPictureEdges) {
    os << "<p>There is no picture: " << groupDigits(nodes.size()) << " nodes and " << groupDigits(edges.size())
       << " edges are more than the " << groupDigits(kMaxPictureNodes) << " and " << groupDigits(kMaxPictureEdges)
       << " that one has room for.</p>\n";
    return;
  }
  std::vector<double> widths;
  llvm::append_range(widths, llvm::map_range(nodes, getWidth));
  LayoutOptions options;
  GraphLayout layout = layOutGraph(widths, edges, options);
  double width = layout.width + 2 * kMargin, height = layout.height + 2 * kMargin;
  os << "<div class=\"graph\"><div class=\"tools\" hidden><input type=\"search\" placeholder=\"find a node\" "
        "aria-label=\"find a node\"><span class=\"found\"></span><button type=\"button\" aria-label=\"zoom "
        "out\">−</button><button type=\"button\" aria-label=\"zoom in\">+</button><button "
        "type=\"button\">fit</button></div>\n<div class=\"view\" tabindex=\"0\"><svg width=\""
     << number(width) << "\" height=\"" << number(height) << "\" viewBox=\"" << number(-kMargin) << ' '
     << number(-kMargin) << ' ' << number(width) << ' ' << number(height) << "\" role=\"group\" aria-label=\"graph of "
     << nodes.size() << " nodes\">\n";
  for (auto [i, segments] : llvm::enumerate(layout.edges))
    if (!segments.empty())
      printEdges(i, segments, edges, os);
  for (auto [node, at, nodeWidth] : llvm::zip_equal(nodes, layout.nodes, widths))
    printNode(node, at, nodeWidth, options.nodeHeight, os);
  os << "</svg></div></div>\n";
}
