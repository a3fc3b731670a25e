//===- GraphSection.cpp - the graphs of the page about an artifact ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphSection.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/DataFlow.h"
#include "compiler/report/Describe.h"
#include "compiler/report/GraphPicture.h"
#include "compiler/report/Html.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using fmt::Opcode;

namespace {
/// What a run executes, as a picture: inputs, instructions that move data, outputs.
class PlanGraph {
public:
  explicit PlanGraph(const ArtifactView &view)
      : view(view), plan(view.getPlan()), flow(findDataFlow(view)), ownWork(view.addUpKernels()),
        work(view.addUpWork()) {}
  void print(llvm::raw_ostream &os);

private:
  bool isShown(uint32_t instruction) const;
  double getShare(uint32_t kernel) const;
  PictureNode describeTensor(const rt::Tensor &tensor, PictureNode::Kind kind, uint32_t index) const;
  PictureNode describeInstruction(uint32_t index) const;

  const ArtifactView &view;
  const rt::Plan &plan;
  DataFlow flow;
  std::vector<RunWork> ownWork;
  RunWork work;
  std::vector<bool> isConnected; // by the numbers of `flow`
};
} // namespace

/// Jumps and the like move no data, and would stand apart.
bool PlanGraph::isShown(uint32_t index) const {
  switch (plan.instructions[index].op) {
  case Opcode::launch:
  case Opcode::copy:
  case Opcode::fill:
  case Opcode::host_call:
    return true;
  default:
    return isConnected[flow.getInstruction(index)];
  }
}

/// Of the work of a run, that of one launch.
double PlanGraph::getShare(uint32_t kernel) const {
  const RunWork &own = ownWork[kernel];
  uint64_t whole = work.flops ? work.flops : work.bytes, part = work.flops ? own.flops : own.bytes;
  return whole && own.launches ? double(part) / double(own.launches) / double(whole) : 0;
}

PictureNode PlanGraph::describeTensor(const rt::Tensor &tensor, PictureNode::Kind kind, uint32_t index) const {
  bool isInput = kind == PictureNode::Kind::input;
  PictureNode node;
  node.id = (isInput ? "nx" : "ny") + std::to_string(index);
  node.name = getPrintable(tensor.name);
  node.operation = getType(view, tensor);
  node.tooltip = (isInput ? "input " : "output ") + node.name + "\n" + node.operation;
  node.kind = kind;
  return node;
}

PictureNode PlanGraph::describeInstruction(uint32_t index) const {
  const rt::Instruction &instruction = plan.instructions[index];
  PictureNode node;
  node.id = "n" + std::to_string(index);
  node.anchor = "i" + std::to_string(index);
  std::string nodes = getPrintable(instruction.name), operation = fmt::kInstructions[uint32_t(instruction.op)].name;
  node.operation = operation;
  if (instruction.op == Opcode::launch) {
    node.operation = getPrintable(plan.kernels[instruction.a].name);
    node.share = getShare(instruction.a);
  }
  node.name = nodes.empty() ? "#" + std::to_string(index) : getShortNodes(nodes);
  node.tooltip = "#" + std::to_string(index) + " " + operation + " " + getFields(view, instruction) + "\n" + nodes;
  if (node.share > 0)
    node.tooltip += llvm::formatv("\n{0:F1} % of all {1}", 100 * node.share, work.flops ? "flops" : "bytes").str();
  return node;
}

void PlanGraph::print(llvm::raw_ostream &os) {
  isConnected.resize(flow.getCount());
  for (const GraphEdge &edge : flow.edges)
    isConnected[edge.from] = isConnected[edge.to] = true;
  std::vector<PictureNode> nodes;
  std::vector<uint32_t> numbers(flow.getCount());
  auto add = [&](uint32_t number, PictureNode node) {
    numbers[number] = nodes.size();
    nodes.push_back(std::move(node));
  };
  for (auto [i, tensor] : llvm::enumerate(plan.inputs))
    add(i, describeTensor(tensor, PictureNode::Kind::input, i));
  for (uint32_t i = 0; i < plan.instructions.size(); ++i)
    if (isShown(i))
      add(flow.getInstruction(i), describeInstruction(i));
  for (auto [i, tensor] : llvm::enumerate(plan.outputs))
    add(flow.getOutput(i), describeTensor(tensor, PictureNode::Kind::output, i));
  std::vector<GraphEdge> edges;
  for (const GraphEdge &edge : flow.edges)
    edges.push_back({numbers[edge.from], numbers[edge.to]});
  printGraphPicture(nodes, edges, os);
}

void tenon::printGraphSection(const ArtifactView &view, llvm::raw_ostream &os) {
  os << "<section id=\"graph\"><h2>Graph</h2>\n<p class=\"note\">What a run executes, with the names of fused nodes: "
        "data "
        "flows downwards, and darker kernels do more of the work. Each node links to its instruction.</p>\n";
  PlanGraph(view).print(os);
  os << "</section>\n";
}
