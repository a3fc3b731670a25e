//===- OnnxGraphTests.cpp - parts of models --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/OnnxGraph.h"
#include "tools/tenon/debug/OnnxTensors.h"
#include "tools/tenon/debug/Workspace.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <onnx/onnx_pb.h>

using namespace tenon;
using namespace tenon::debug;
using Names = std::vector<std::string>;
using Nodes = std::vector<size_t>;

static void addNode(onnx::GraphProto &graph, const char *op, const Names &inputs, const char *output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
}

/// d = (relu(x) + w) * -relu(x), with the last node first in the file.
static OnnxGraph makeGraph() {
  onnx::ModelProto model;
  onnx::GraphProto &graph = *model.mutable_graph();
  addNode(graph, "Mul", {"b", "c"}, "d");
  addNode(graph, "Relu", {"x"}, "a");
  addNode(graph, "Add", {"a", "w"}, "b");
  addNode(graph, "Neg", {"a"}, "c");
  graph.add_input()->set_name("x");
  graph.add_output()->set_name("d");
  graph.add_initializer()->set_name("w");
  std::unique_ptr<Workspace> workspace = llvm::cantFail(Workspace::create());
  std::string path = workspace->makePath("model.onnx");
  llvm::cantFail(writeFile(path, model.SerializeAsString()));
  return llvm::cantFail(OnnxGraph::read(path));
}

TEST_CASE("nodes are in an order of computation") {
  OnnxGraph graph = makeGraph();
  REQUIRE(graph.getNodeCount() == 4);
  Names names;
  for (const GraphValue &value : graph.getValues())
    names.push_back(value.name);
  CHECK(names == Names{"a", "b", "c", "d"});
  CHECK(graph.findValue("d")->op == "Mul");
  CHECK(graph.findValue("d")->node == "d");
  CHECK_FALSE(graph.findValue("x"));
  CHECK(graph.listReads(3) == Names{"b", "c"});
}

TEST_CASE("a part reads what its nodes do not make, and leaves out what it does not need") {
  OnnxGraph graph = makeGraph();
  GraphPart last = graph.makePart({3}, {"d"});
  CHECK(last.inputs == Names{"b", "c"});
  CHECK(graph.listNodes(last) == Nodes{3});
  GraphPart two = graph.makePart({1, 3}, {"d"});
  CHECK(two.inputs == Names{"a", "c"});
  CHECK(graph.listNodes(two) == Nodes{1, 3});
  // The negation is no part of what computes b.
  GraphPart sum = graph.makePart({0, 1, 2}, {"b"});
  CHECK(sum.inputs.empty());
  CHECK(graph.listNodes(sum) == Nodes{0, 1});
}

TEST_CASE("a part is a model with inputs, constants and initializers of its own") {
  OnnxGraph graph = makeGraph();
  PartContents contents;
  contents.describe = [](llvm::StringRef name, onnx::ValueInfoProto &info) {
    setType(info, TENON_F32, {2, 3});
    return true;
  };
  contents.makeConstant = [](llvm::StringRef name, onnx::TensorProto &tensor) {
    if (name != "c")
      return false;
    tensor = makeTensor(name, TENON_F32, {1}, std::string(4, '\0'));
    return true;
  };
  std::unique_ptr<onnx::ModelProto> model = graph.extract(graph.makePart({1, 3}, {"d"}), contents);
  REQUIRE(model);
  const onnx::GraphProto &part = model->graph();
  REQUIRE(part.node_size() == 2);
  CHECK(part.node(0).op_type() == "Add");
  CHECK(part.node(1).op_type() == "Mul");
  REQUIRE(part.input_size() == 1);
  CHECK(part.input(0).name() == "a");
  CHECK(part.input(0).type().tensor_type().shape().dim(1).dim_value() == 3);
  REQUIRE(part.initializer_size() == 2);
  CHECK(part.initializer(0).name() == "c");
  CHECK(part.initializer(1).name() == "w");
  CHECK(part.output(0).name() == "d");
  contents.describe = [](llvm::StringRef, onnx::ValueInfoProto &) { return false; };
  CHECK_FALSE(graph.extract(graph.makePart({1, 3}, {"d"}), contents));
}

TEST_CASE("a step that crashes is one that fails") {
  std::unique_ptr<Workspace> workspace = llvm::cantFail(Workspace::create());
  // A signal that the test program does not handle itself.
  StepEnd end = workspace->runStep("the run", [](llvm::raw_ostream &) {
    raise(SIGKILL);
    return CompileStatus::done;
  });
  CHECK(end.status == CompileStatus::fault);
  CHECK(end.message.rfind("tenon: error: the run: ended by signal 9", 0) == 0);
  end = workspace->runStep("the run", [](llvm::raw_ostream &errors) {
    errors << "why\n";
    return CompileStatus::resources;
  });
  CHECK(end.status == CompileStatus::resources);
  CHECK(end.message == "why");
}
