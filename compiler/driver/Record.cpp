//===- Record.cpp - takes down what a page shows of a compilation ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Record.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/Dims.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

/// The names in a location, each once.
static std::vector<std::string> listNames(Location loc) {
  std::vector<std::string> list;
  for (StringRef name : listNodes(loc))
    list.push_back(name.str());
  return list;
}

/// "f32[N,64]", not longer than anybody reads.
static std::string describeType(Type type) {
  constexpr size_t kMaxLength = 120;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  tensor.getElementType().print(os);
  os << '[';
  llvm::interleave(getDims(tensor), os, [&](AffineExpr dim) { printDim(os, dim); }, ",");
  os << ']';
  if (text.size() > kMaxLength)
    text = text.substr(0, kMaxLength) + "...";
  return text;
}

namespace {
class SourceRecorder {
public:
  explicit SourceRecorder(func::FuncOp function) : function(function) {}
  SourceGraph run();

private:
  void addInputs();
  void addOperation(Operation &op);
  void addOutputs();
  void addUse(Value value, uint32_t node);
  std::string getName(DictionaryAttr attrs, const char *kind, size_t index) const;

  func::FuncOp function;
  SourceGraph graph;
  std::string last; // the name of the node that the operation before became
  llvm::DenseMap<Value, uint32_t> makers;
};
} // namespace

std::string SourceRecorder::getName(DictionaryAttr attrs, const char *kind, size_t index) const {
  auto name = attrs ? attrs.getAs<StringAttr>(kNameAttr) : StringAttr();
  return name ? name.str() : kind + std::to_string(index);
}

void SourceRecorder::addInputs() {
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    makers[argument] = graph.nodes.size();
    graph.nodes.push_back({getName(function.getArgAttrDict(i), "arg", i), "", describeType(argument.getType()),
                           SourceGraph::Kind::input});
  }
}

/// Weights have no node, and values within a node are no edges.
void SourceRecorder::addUse(Value value, uint32_t node) {
  auto it = makers.find(value);
  if (it != makers.end() && it->second != node)
    graph.edges.push_back({it->second, node});
}

void SourceRecorder::addOperation(Operation &op) {
  if (isa<WeightOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
    return;
  std::vector<std::string> names = listNames(op.getLoc());
  StringRef mnemonic = op.getName().stripDialect();
  bool isContinued = !names.empty() && !graph.nodes.empty() && names.front() == last;
  if (!isContinued)
    graph.nodes.push_back({names.empty() ? mnemonic.str() : names.front(), "", "", SourceGraph::Kind::operation});
  last = names.empty() ? "" : names.front();
  uint32_t number = graph.nodes.size() - 1;
  SourceGraph::Node &node = graph.nodes.back();
  node.operations += (node.operations.empty() ? "" : ", ") + mnemonic.str();
  if (op.getNumResults())
    node.type = describeType(op.getResult(0).getType());
  // Loops and conditionals read values from outside.
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      addUse(operand, number);
  });
  for (Value result : op.getResults())
    makers[result] = number;
}

void SourceRecorder::addOutputs() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    uint32_t node = graph.nodes.size();
    graph.nodes.push_back({getName(function.getResultAttrDict(i), "result", i), "", describeType(value.getType()),
                           SourceGraph::Kind::output});
    addUse(value, node);
  }
}

SourceGraph SourceRecorder::run() {
  addInputs();
  for (Operation &op : function.getBody().front())
    addOperation(op);
  addOutputs();
  llvm::sort(graph.edges);
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
  return std::move(graph);
}

SourceGraph tenon::recordSource(ModuleOp imported) {
  for (auto function : imported.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration())
      return SourceRecorder(function).run();
  return {};
}

/// Returns the program for all sizes; null if the module has none.
static plan::ProgramOp getProgram(ModuleOp target) {
  for (auto program : target.getOps<plan::ProgramOp>())
    if (!program.getSizes())
      return program;
  return nullptr;
}

std::vector<std::vector<std::string>> tenon::recordLaunches(ModuleOp target) {
  std::vector<std::vector<std::string>> launches;
  if (plan::ProgramOp program = getProgram(target))
    program.walk<WalkOrder::PreOrder>([&](plan::LaunchOp launch) { launches.push_back(listNames(launch.getLoc())); });
  return launches;
}

/// Prints a function without the elements of constants, truncated to a readable length.
static std::string printKernel(func::FuncOp kernel) {
  constexpr size_t kMaxBytes = 32 << 10;
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  kernel.print(os, flags.elideLargeElementsAttrs(16).elideLargeResourceString(0).useLocalScope());
  if (text.size() <= kMaxBytes)
    return text;
  text.resize(std::min(text.rfind('\n', kMaxBytes), kMaxBytes));
  return text + "\n... (the rest is left out)";
}

void tenon::recordTensorKernels(ModuleOp target, KernelIRs &kernels) {
  for (auto kernel : target.getOps<func::FuncOp>())
    if (kernel->hasAttr(kKernelAttr))
      kernels[kernel.getName().str()].tensors = printKernel(kernel);
}

void tenon::recordBufferKernels(ModuleOp target, KernelIRs &kernels) {
  for (auto own : target.getOps<ModuleOp>())
    for (auto kernel : own.getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttr))
        kernels[kernel.getName().str()].buffers = printKernel(kernel);
}

void PhaseClock::begin(StringRef phase) { beginnings.emplace_back(phase, Clock::now()); }

std::vector<CompileRecord::Phase> PhaseClock::list() const {
  std::vector<CompileRecord::Phase> phases;
  for (size_t i = 0; i < beginnings.size(); ++i) {
    Clock::time_point end = i + 1 < beginnings.size() ? beginnings[i + 1].second : Clock::now();
    phases.push_back({beginnings[i].first, std::chrono::duration<double>(end - beginnings[i].second).count()});
  }
  return phases;
}
