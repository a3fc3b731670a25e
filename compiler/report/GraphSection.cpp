//===- GraphSection.cpp - the graphs of the page about an artifact ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/GraphSection.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/CompileRecord.h"
#include "compiler/report/DataFlow.h"
#include "compiler/report/Describe.h"
#include "compiler/report/GraphPicture.h"
#include "compiler/report/Html.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using fmt::Opcode;

/// limit: columns of a tooltip. Names in a file may have any length, and a thousand instructions may share one.
static constexpr size_t kMaxTooltip = 400;

namespace {
/// The graph of a run: inputs, instructions that move data, outputs.
class PlanGraph {
public:
  explicit PlanGraph(const ArtifactView &view, std::string prefix = "", bool isLinked = true)
      : view(view), plan(view.getPlan()), meta(readMeta(view)), prefix(std::move(prefix)), isLinked(isLinked),
        flow(findDataFlow(plan, [&](uint32_t expr) { return view.getConstant(expr); })), ownWork(view.addUpKernels()),
        work(view.addUpWork()) {}
  void build();
  size_t countInstructions() const { return nodes.size() - plan.inputs.size() - plan.outputs.size(); }
  void print(llvm::raw_ostream &os) const;

private:
  bool isShown(uint32_t instruction) const;
  double getShare(uint32_t kernel) const;
  PictureNode describeTensor(const rt::Tensor &tensor, PictureNode::Kind kind, uint32_t index) const;
  PictureNode describeInstruction(uint32_t index) const;

  const ArtifactView &view;
  const rt::Plan &plan;
  nlohmann::ordered_json meta; // that names of launches are from
  std::string prefix;          // of the nodes' ids
  bool isLinked;
  DataFlow flow;
  std::vector<RunWork> ownWork;
  RunWork work;
  std::vector<bool> isConnected; // by the numbers of `flow`
  std::vector<PictureNode> nodes;
  std::vector<GraphEdge> edges;
};

/// The model before fusion.
class SourcePicture {
public:
  SourcePicture(const CompileRecord &record, const rt::Plan &plan);
  size_t countOperations() const;
  void print(llvm::raw_ostream &os) const;

private:
  PictureNode describe(const SourceGraph::Node &node, size_t index) const;

  const CompileRecord &record;
  llvm::StringMap<std::vector<uint32_t>> launches; // the instructions that compute a node
};
} // namespace

/// Jumps and similar instructions move no data, and would be disconnected.
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
  node.id = prefix + (isInput ? "nx" : "ny") + std::to_string(index);
  node.name = getPrintable(tensor.name);
  node.operation = getType(view, tensor);
  node.tooltip = (isInput ? "input " : "output ") + shorten(node.name, kMaxTooltip) + "\n" + node.operation;
  node.kind = kind;
  return node;
}

PictureNode PlanGraph::describeInstruction(uint32_t index) const {
  const rt::Instruction &instruction = plan.instructions[index];
  PictureNode node;
  node.id = prefix + "n" + std::to_string(index);
  if (isLinked)
    node.anchor = "i" + std::to_string(index);
  std::string nodes = getPrintable(instruction.name), operation = fmt::kInstructions[uint32_t(instruction.op)].name;
  node.operation = operation;
  if (instruction.op == Opcode::launch) {
    node.operation = getPrintable(plan.kernels[instruction.a].name);
    node.share = getShare(instruction.a);
  }
  node.name = nodes.empty() ? "#" + std::to_string(index) : nameInstruction(view, meta, instruction);
  node.tooltip = "#" + std::to_string(index) + " " + operation + " " + getFields(view, instruction) + "\n" +
                 shorten(nodes, kMaxTooltip);
  if (node.share > 0)
    node.tooltip += llvm::formatv("\n{0:F1} % of all {1}", 100 * node.share, work.flops ? "flops" : "bytes").str();
  return node;
}

void PlanGraph::build() {
  isConnected.resize(flow.getCount());
  for (const GraphEdge &edge : flow.edges)
    isConnected[edge.from] = isConnected[edge.to] = true;
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
  for (const GraphEdge &edge : flow.edges)
    edges.push_back({numbers[edge.from], numbers[edge.to]});
}

void PlanGraph::print(llvm::raw_ostream &os) const {
  if (flow.isComplete)
    printGraphPicture(nodes, edges, os);
  else
    os << "<p>There is no picture: too many instructions read what too many others write.</p>\n";
}

SourcePicture::SourcePicture(const CompileRecord &record, const rt::Plan &plan) : record(record) {
  size_t launch = 0;
  for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
    if (instruction.op != Opcode::launch)
      continue;
    if (launch == record.launches.size())
      break;
    for (const std::string &name : record.launches[launch])
      launches[name].push_back(i);
    ++launch;
  }
}

size_t SourcePicture::countOperations() const {
  return llvm::count_if(record.source.nodes,
                        [](const auto &node) { return node.kind == SourceGraph::Kind::operation; });
}

PictureNode SourcePicture::describe(const SourceGraph::Node &source, size_t index) const {
  PictureNode node;
  node.id = "s" + std::to_string(index);
  node.name = getPrintable(source.name);
  node.operation = source.operations;
  node.tooltip = shorten(node.name, kMaxTooltip) + "\n" +
                 (source.operations.empty() ? "" : shorten(source.operations, kMaxTooltip) + ", ") +
                 getPrintable(source.type);
  switch (source.kind) {
  case SourceGraph::Kind::input:
  case SourceGraph::Kind::output:
    node.kind = source.kind == SourceGraph::Kind::input ? PictureNode::Kind::input : PictureNode::Kind::output;
    node.operation = getPrintable(source.type);
    return node;
  case SourceGraph::Kind::operation:
    break;
  }
  auto it = launches.find(source.name);
  if (it == launches.end()) {
    node.tooltip += "\nno kernel: folded into weights, a change of shape, or not needed";
    node.isFaint = true;
    return node;
  }
  node.anchor = "n" + std::to_string(it->second.front());
  node.tooltip += "\ncomputed by";
  constexpr size_t kMaxListed = 8;
  for (uint32_t instruction : llvm::ArrayRef(it->second).take_front(kMaxListed))
    node.tooltip += " #" + std::to_string(instruction);
  if (it->second.size() > kMaxListed)
    node.tooltip += " and " + groupDigits(it->second.size() - kMaxListed) + " more";
  return node;
}

void SourcePicture::print(llvm::raw_ostream &os) const {
  std::vector<PictureNode> nodes;
  for (auto [i, node] : llvm::enumerate(record.source.nodes))
    nodes.push_back(describe(node, i));
  printGraphPicture(nodes, record.source.edges, os);
}

static std::string count(size_t number, const char *what) {
  return groupDigits(number) + " " + what + (number == 1 ? "" : "s");
}

void tenon::printGraphSection(const ArtifactView &view, const CompileRecord *record, llvm::raw_ostream &os) {
  PlanGraph planGraph(view);
  planGraph.build();
  os << beginSection("Graph")
     << "<p class=\"note\">Data flows downwards. What a run executes has the "
        "names "
        "of fused nodes, is darker the more of the work it does, and links to its instruction. ";
  // A compilation that resumed from launches has not imported the model.
  if (!record || record->source.nodes.empty()) {
    os << "<code>tenon compile --report</code> of the model also draws the graph before fusion.</p>\n";
    planGraph.print(os);
    os << "</section>\n";
    return;
  }
  SourcePicture source(*record, view.getPlan());
  os << "Nodes of the model link to what computes them; those without a kernel are dashed.</p>\n<div "
        "class=\"graphs\"><div><h3>Before fusion: "
     << Html(count(source.countOperations(), "node")) << "</h3>\n";
  source.print(os);
  os << "</div><div><h3>After fusion: " << Html(count(planGraph.countInstructions(), "instruction")) << "</h3>\n";
  planGraph.print(os);
  os << "</div></div>\n</section>\n";
}

void tenon::printPlanGraph(const ArtifactView &view, const char *prefix, llvm::raw_ostream &os) {
  PlanGraph graph(view, prefix, /*isLinked=*/false);
  graph.build();
  graph.print(os);
}
