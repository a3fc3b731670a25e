//===- OperatorsCommand.cpp - tenon operators -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/ImportModel.h"
#include "compiler/import/onnx/Operators.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <climits>
#include <map>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

using namespace tenon;

/// Describes how an operator is supported; `how` is OperatorSupport's.
static std::string describeSupport(llvm::StringRef how) {
  return llvm::StringSwitch<std::string>(how)
      .Case("handler", "operations of its own")
      .Case("function", "the function by which ONNX defines it")
      .Case("none", "none: not supported, or of a plug-in")
      .Default(how.str());
}

static void printOperators(bool json) {
  std::vector<OperatorSupport> operators = getOperatorSupport();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const OperatorSupport &op : operators)
      list.push_back({{"domain", op.domain}, {"name", op.name}, {"since", op.since}, {"how", op.how}});
    llvm::outs() << list.dump(2) << '\n';
    return;
  }
  Table table({"domain", "operator", ">from opset", "compiled as"});
  size_t missing = 0;
  for (const OperatorSupport &op : operators) {
    missing += op.how == "none";
    table.add({op.domain, op.name, std::to_string(op.since), describeSupport(op.how)});
  }
  table.print(llvm::outs());
  llvm::outs() << operators.size() - missing << " of " << operators.size()
               << " operators are supported; 'tenon operators MODEL' lists those of a model\n";
}

namespace {
/// An operator of a model, and the number of its nodes.
struct Use {
  size_t nodes = 0;
  std::string how = "none"; ///< as OperatorSupport says it, or "a function of the model"
};
using Uses = std::map<std::pair<std::string, std::string>, Use>; // by domain and name
} // namespace

static void countNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, int depth, Uses &uses) {
  // limit: what the import accepts.
  if (depth > ImportLimits::kMaxNesting)
    return;
  for (const onnx::NodeProto &node : nodes) {
    ++uses[{node.domain().empty() ? "ai.onnx" : node.domain(), node.op_type()}].nodes;
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      countNodes(attribute.g().node(), depth + 1, uses);
      for (const onnx::GraphProto &graph : attribute.graphs())
        countNodes(graph.node(), depth + 1, uses);
    }
  }
}

static Uses listUses(const onnx::ModelProto &model) {
  Uses uses;
  countNodes(model.graph().node(), 0, uses);
  for (const onnx::FunctionProto &function : model.functions())
    countNodes(function.node(), 0, uses);
  for (const OperatorSupport &op : getOperatorSupport())
    if (auto it = uses.find({op.domain, op.name}); it != uses.end())
      it->second.how = op.how;
  for (const onnx::FunctionProto &function : model.functions())
    if (auto it = uses.find({function.domain(), function.name()}); it != uses.end())
      it->second.how = "a function of the model";
  return uses;
}

/// Lists the operators of a model; the exit code is 3 if any is unsupported.
static int printModel(const std::string &path, bool json) {
  auto fail = [&](const std::string &text) {
    errors() << "tenon: error: " << path << ": " << text << '\n';
    return 1;
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  onnx::ModelProto model;
  llvm::StringRef bytes = (*file)->getBuffer();
  if (bytes.size() > INT_MAX || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !model.has_graph())
    return fail("not an ONNX model, or truncated");
  Uses uses = listUses(model);
  size_t missing = 0;
  nlohmann::json list = nlohmann::json::array();
  Table table({"domain", "operator", ">nodes", "compiled as"});
  for (const auto &[name, use] : uses) {
    bool isMissing = use.how == "none";
    missing += isMissing;
    list.push_back({{"domain", name.first}, {"name", name.second}, {"nodes", use.nodes}, {"how", use.how}});
    table.add(
        {getPrintable(name.first), getPrintable(name.second), std::to_string(use.nodes), describeSupport(use.how)});
  }
  if (json) {
    llvm::outs() << list.dump(2) << '\n';
  } else {
    table.print(llvm::outs());
    llvm::outs() << uses.size() - missing << " of " << uses.size() << " operators are supported\n";
  }
  return missing ? 3 : 0;
}

void tenon::addOperatorsCommand(CLI::App &app, int &status) {
  auto json = std::make_shared<bool>(false);
  auto model = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand("operators", "list the supported ONNX operators, or those of a model");
  command->add_option("model", *model, "ONNX file whose operators to list; exit 3 if some are missing")
      ->type_name("MODEL");
  command->add_flag("--json", *json, "print JSON");
  addExamples(*command, {"tenon operators", "tenon operators model.onnx"});
  command->callback([json, model, &status] {
    status = model->empty() ? 0 : printModel(*model, *json);
    if (model->empty())
      printOperators(*json);
  });
}
