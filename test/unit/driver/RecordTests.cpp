//===- RecordTests.cpp - the source graph of a page -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Record.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

static SourceGraph record(const std::string &text) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  return recordSource(*module);
}

using Edges = std::vector<GraphEdge>;

TEST_CASE("operations that one node became are one, and weights are none") {
  SourceGraph graph = record(R"(
    func.func @main(%x: tensor<4xf32> {tenon.name = "in"}) -> (tensor<4xf32> {tenon.name = "out"}, tensor<4xf32>) {
      %0 = tenon.neg %x : (tensor<4xf32>) -> tensor<4xf32> loc("gelu")
      %1 = tenon.weight dense<1.0> : tensor<4xf32>
      %2 = tenon.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("gelu")
      %3 = tenon.mul %2, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("gate")
      %4 = tenon.neg %3 : (tensor<4xf32>) -> tensor<4xf32> loc("gelu")
      return %4, %3 : tensor<4xf32>, tensor<4xf32>
    })");
  REQUIRE(graph.nodes.size() == 6);
  CHECK((graph.nodes[0].name == "in" && graph.nodes[0].kind == SourceGraph::Kind::input));
  CHECK((graph.nodes[1].name == "gelu" && graph.nodes[1].operations == "neg, add"));
  CHECK(graph.nodes[1].type == "f32[4]");
  CHECK((graph.nodes[2].name == "gate" && graph.nodes[2].operations == "mul"));
  // The same name further down is another node: names need not be unique.
  CHECK((graph.nodes[3].name == "gelu" && graph.nodes[3].operations == "neg"));
  CHECK((graph.nodes[4].name == "out" && graph.nodes[4].kind == SourceGraph::Kind::output));
  CHECK(graph.nodes[5].name == "result1");
  CHECK(graph.edges == Edges{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {2, 5}, {3, 4}});
}

TEST_CASE("nodes without a name have their operation's, and dynamic dimensions theirs") {
  SourceGraph graph = record(R"(
    func.func @main(%x: tensor<?x2xf32, #tenon.shape<N, 2>>) -> tensor<?x2xf32, #tenon.shape<N, 2>> {
      %0 = tenon.neg %x : (tensor<?x2xf32, #tenon.shape<N, 2>>) -> tensor<?x2xf32, #tenon.shape<N, 2>>
      %1 = tenon.neg %0 : (tensor<?x2xf32, #tenon.shape<N, 2>>) -> tensor<?x2xf32, #tenon.shape<N, 2>>
      return %1 : tensor<?x2xf32, #tenon.shape<N, 2>>
    })");
  REQUIRE(graph.nodes.size() == 4);
  CHECK((graph.nodes[0].name == "arg0" && graph.nodes[0].type == "f32[N,2]"));
  CHECK((graph.nodes[1].name == "neg" && graph.nodes[2].name == "neg"));
  CHECK(graph.edges == Edges{{0, 1}, {1, 2}, {2, 3}});
}

TEST_CASE("what a branch reads, its conditional does") {
  SourceGraph graph = record(R"(
    func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tenon.if %c : tensor<i1> -> tensor<4xf32> {
        %1 = tenon.neg %x : (tensor<4xf32>) -> tensor<4xf32> loc("inside")
        tenon.yield %1 : tensor<4xf32>
      } else {
        tenon.yield %y : tensor<4xf32>
      } loc("choice")
      return %0 : tensor<4xf32>
    })");
  REQUIRE(graph.nodes.size() == 5);
  CHECK(graph.nodes[3].name == "choice");
  CHECK(graph.edges == Edges{{0, 3}, {1, 3}, {2, 3}, {3, 4}});
}

TEST_CASE("a module without a model has no graph") { CHECK(record("module {}").nodes.empty()); }
