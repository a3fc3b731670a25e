//===- Reduce.cpp - tenon debug reduce ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Reduce.h"
#include "tools/tenon/debug/CommandLine.h"
#include "tools/tenon/debug/Reducer.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::debug;

/// Returns the folder of test data for a model: small.test_data_set_0 for small.onnx.
static std::string getDataFolder(llvm::StringRef output) {
  output.consume_back(".onnx");
  return (output + ".test_data_set_0").str();
}

/// What shows the failure of the part.
static std::string makeCommand(const DebugOptions &options, const Outcome &outcome, const std::string &model,
                               llvm::ArrayRef<std::string> inputs, const std::string &data) {
  std::string arguments = quote(model) + options.arguments;
  switch (outcome.stage) {
  case Outcome::Stage::compile:
    return "tenon compile " + arguments;
  case Outcome::Stage::run:
    for (auto [i, input] : llvm::enumerate(inputs))
      arguments += " --input " + quote(llvm::formatv("{0}={1}/input_{2}.pb", input, data, i).str());
    return "tenon run " + arguments;
  default:
    break;
  }
  std::string command = "tenon debug compare " + arguments + " --against " + quote(data);
  if (outcome.worst && outcome.worst->error.isFloat)
    command += run::format(" --max-error %g", outcome.worst->allowed);
  return command;
}

/// "'fc2' (MatMul), 'act2' (Relu)"
static std::string listNodes(const Reducer &reducer) {
  constexpr size_t kMaxNodes = 8;
  std::vector<size_t> nodes = reducer.getGraph().listNodes(reducer.getPart());
  std::string text;
  for (size_t node : llvm::ArrayRef(nodes).take_front(kMaxNodes))
    for (const GraphValue &value : reducer.getGraph().getValues())
      if (value.nodeIndex == node) {
        text += (text.empty() ? "'" : ", '") + value.node + "' (" + value.op + ")";
        break;
      }
  return text + (nodes.size() > kMaxNodes ? ", ..." : "");
}

int debug::runReduce(const DebugOptions &options, const std::string &output) {
  llvm::Expected<std::unique_ptr<Reducer>> created = Reducer::create(options);
  if (!created)
    return reportFailure(created.takeError());
  Reducer &reducer = **created;
  if (!reducer.isFailing())
    return reportFailure(makeError(
        CompileStatus::invalid, options.compile.input + ": it compiles, runs and agrees with the reference, so there "
                                                        "is nothing to reduce"));
  std::string data = getDataFolder(output);
  if (llvm::Error error = reducer.reduce())
    return reportFailure(std::move(error));
  llvm::Expected<std::vector<std::string>> inputs = reducer.write(output, data);
  if (!inputs)
    return reportFailure(inputs.takeError());
  const Outcome &outcome = reducer.getOutcome();
  std::string command = makeCommand(options, outcome, output, *inputs, data), failure = outcome.describe();
  size_t count = reducer.getGraph().listNodes(reducer.getPart()).size();
  bool hasData = outcome.stage != Outcome::Stage::compile;
  if (options.json) {
    nlohmann::json json = {{"model", output},    {"nodes", count},     {"of_nodes", reducer.getGraph().getNodeCount()},
                           {"failure", failure}, {"command", command}, {"tries", reducer.getTries()}};
    if (hasData)
      json["test_data"] = data;
    llvm::outs() << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return 0;
  }
  llvm::outs() << output << ": " << count << " of " << reducer.getGraph().getNodeCount() << " nodes, after "
               << reducer.getTries() << " tries: " << listNodes(reducer) << '\n';
  if (hasData)
    llvm::outs() << data << ": its inputs, and what the reference makes of them\n";
  llvm::outs() << "fails with: " << failure << "\n\n  " << command << '\n';
  return 0;
}
