//===- GraphPictureTests.cpp - graphs as SVG -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphPicture.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace tenon;

static std::string print(const std::vector<PictureNode> &nodes, const std::vector<GraphEdge> &edges) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printGraphPicture(nodes, edges, os);
  return text;
}

TEST_CASE("names in a picture are text, and lose their beginning") {
  PictureNode node;
  node.id = "n0";
  node.anchor = "i\"0";
  node.name = "/model/layers.12/attention/<q_proj>";
  node.operation = "k1_\"contract\"";
  node.tooltip = "</title>";
  std::string text = print({node}, {});
  CHECK(text.find("<a id=\"n0\" class=\"node\" href=\"#i&quot;0\"><title>&lt;/title&gt;</title>") != std::string::npos);
  CHECK(text.find(">…ers.12/attention/&lt;q_proj&gt;</text>") != std::string::npos);
  CHECK(text.find(">k1_&quot;contract&quot;</text>") != std::string::npos);
}

TEST_CASE("edges say which nodes they connect") {
  std::string text = print(std::vector<PictureNode>(3), {{0, 1}, {0, 2}, {1, 2}});
  CHECK(text.find("<path data-from=\"0\" data-to=\"1 2\" d=\"M") != std::string::npos);
  CHECK(text.find("<path data-from=\"1\" data-to=\"2\" d=\"M") != std::string::npos);
  CHECK(text.find("data-from=\"2\"") == std::string::npos);
}

TEST_CASE("a picture of thousands of nodes has a bounded size, and there is none of more") {
  std::vector<PictureNode> nodes(kMaxPictureNodes);
  std::vector<GraphEdge> edges;
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    edges.push_back({i - 1, i});
    // Edges over many ranks.
    edges.push_back({i / 2, i});
  }
  llvm::sort(edges);
  std::string text = print(nodes, edges);
  CHECK(llvm::StringRef(text).count("<a id=") == kMaxPictureNodes);
  CHECK(text.size() / nodes.size() < 1000);
  nodes.emplace_back();
  llvm::StringRef end = " are more than the 6,000 and 60,000 that one has room for.</p>\n";
  CHECK(print(nodes, edges) == "<p>There is no picture: 6,001 nodes and 11,998 edges" + end.str());
  nodes.resize(400);
  edges.clear();
  for (uint32_t to = 1; to < nodes.size(); ++to)
    for (uint32_t from = 0; from < to; ++from)
      edges.push_back({from, to});
  llvm::sort(edges);
  CHECK(print(nodes, edges) == "<p>There is no picture: 400 nodes and 79,800 edges" + end.str());
}

TEST_CASE("texts lose their beginning in whole characters") {
  CHECK(shortenFront("abcdef", 6) == "abcdef");
  CHECK(shortenFront("abcdef", 5) == "…cdef");
  CHECK(shortenFront("äöüäöü", 4) == "…äöü");
  CHECK(shortenFront("中文中文", 4) == "…文");
  CHECK(shortenFront(std::string(1 << 20, 'a'), 3) == "…aa");
  CHECK(shortenFront("abc", 0) == "…");
}
