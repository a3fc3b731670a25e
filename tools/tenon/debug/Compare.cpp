//===- Compare.cpp - the first value of a model that a compilation gets wrong ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Compare.h"
#include "compiler/report/Table.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/debug/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

using namespace tenon;
using namespace tenon::debug;

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

int debug::reportFailure(const StepEnd &end) {
  llvm::StringRef message = end.message;
  errors() << (message.starts_with("tenon: ") ? "" : "tenon: error: ") << message << '\n';
  return static_cast<int>(end.status);
}

llvm::Error debug::toError(const StepEnd &end) { return makeError(end.status, end.message); }

int debug::reportFailure(llvm::Error error) {
  StepEnd end;
  end.status = takeError(std::move(error), end.message);
  return reportFailure(end);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// True if one value diverges in an earlier iteration of the loops that contain both.
static bool isOfEarlierIteration(const ComparedValue &a, const ComparedValue &b) {
  size_t shared = 0;
  while (shared < std::min(a.iteration.size(), b.iteration.size()) && a.loops[shared] == b.loops[shared])
    ++shared;
  return llvm::ArrayRef(a.iteration).take_front(shared) < llvm::ArrayRef(b.iteration).take_front(shared);
}

const ComparedValue *CompareResult::getFirst() const {
  const ComparedValue *first = nullptr;
  for (const ComparedValue &value : values)
    if (value.diverges && (!first || isOfEarlierIteration(value, *first)))
      first = &value;
  return first;
}

bool CompareResult::diverges() const {
  return getFirst() || llvm::any_of(outputs, [](const ComparedValue &value) { return value.diverges; });
}

/// The names of the outputs of a run, each once.
static std::vector<std::string> listNames(const Captured &captured) {
  std::vector<std::string> names;
  llvm::StringSet<> seen;
  for (const CapturedTensor &tensor : captured.tensors)
    if (seen.insert(tensor.name).second)
      names.push_back(tensor.name);
  return names;
}

/// Compares one value, while the rest of the model is compiled unchanged. None if that is not possible.
static std::optional<ComparedValue> compareAlone(Comparison &comparison, const Captured &want,
                                                 const std::string &name) {
  Captured got = comparison.runCompiled(comparison.getOptions().compile, name);
  llvm::Expected<std::vector<ComparedValue>> compared = comparison.compare(got, want, name);
  if (!compared) {
    llvm::consumeError(compared.takeError());
    return std::nullopt;
  }
  return compared->empty() ? std::nullopt : std::optional(compared->front());
}

/// Bisects the values up to a wrong output.
static void findAlone(Comparison &comparison, const Captured &want, CompareResult &result) {
  auto output = llvm::find_if(result.outputs, [](const ComparedValue &value) { return value.diverges; });
  std::vector<std::string> names;
  for (const ComparedValue &value : result.values)
    if (value.whyNot.empty() && value.value != output->value && value.nodeIndex <= output->nodeIndex)
      names.push_back(value.value);
  // Number n is the n-th value, 0 stands for the inputs, and the last number for the output.
  std::vector<std::optional<ComparedValue>> found(names.size() + 2);
  found.back() = *output;
  size_t first = findFirstFailing(0, names.size() + 1, [&](size_t n) {
    found[n] = compareAlone(comparison, want, names[n - 1]);
    return found[n] && found[n]->diverges;
  });
  result.firstWrong = found[first];
  result.lastRight = found[first - 1];
}

/// Quantization may round nearly equal values to neighbouring integers, and all values computed from these then differ
/// by as much. Such a difference does not measure accuracy.
static void excuseRounding(const Comparison &comparison, std::vector<ComparedValue> &values) {
  llvm::StringMap<std::string> causes; // of values that are excused, or make others so
  for (ComparedValue &value : values) {
    std::string cause; // of the node
    for (const std::string &name : comparison.listReads(value.value))
      if (auto it = causes.find(name); it != causes.end() && cause.empty())
        cause = it->second;
    if (!cause.empty())
      causes[value.value] = cause;
    else if (!value.error.isFloat && value.error.differing > 0 && !value.diverges)
      causes[value.value] = value.value;
    if (!cause.empty() && std::exchange(value.diverges, false))
      value.follows = cause;
  }
}

/// An output that is an excused value is excused, too.
static void excuseOutputs(CompareResult &result) {
  for (ComparedValue &output : result.outputs)
    for (const ComparedValue &value : result.values)
      if (value.name == output.name && !value.follows.empty() && std::exchange(output.diverges, false))
        output.follows = value.follows;
}

/// Returns the values of the main graph, with the inner values of each node before those of the node.
static std::vector<std::string> mergeNames(const Comparison &comparison, llvm::ArrayRef<std::string> names,
                                           llvm::ArrayRef<std::string> inner) {
  std::vector<std::string> all;
  for (const std::string &name : names) {
    size_t node = comparison.findValue(name)->nodeIndex;
    while (!inner.empty() && comparison.findValue(inner.front())->nodeIndex <= node) {
      all.push_back(inner.front());
      inner = inner.drop_front();
    }
    all.push_back(name);
  }
  llvm::append_range(all, inner);
  return all;
}

/// Captures values of the main graph, and in separate runs those inside its nodes, because these change its loops.
static Captured keepAll(Comparison &comparison, llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> inner,
                        bool ofReference) {
  Captured all = comparison.keepValues(names, ofReference);
  if (!all.end || inner.empty())
    return all;
  Captured more = comparison.keepValues(inner, ofReference);
  for (CapturedTensor &tensor : more.tensors)
    if (!findTensor(all.tensors, tensor.name, tensor.role))
      all.tensors.push_back(std::move(tensor));
  return all;
}

llvm::Expected<CompareResult> debug::compareValues(Comparison &comparison, bool outputsOnly) {
  std::vector<std::string> names, inner;
  if (!outputsOnly) {
    names = comparison.listValues();
    inner = comparison.listInnerValues();
  }
  Captured want = keepAll(comparison, names, inner, /*ofReference=*/true);
  if (!want.end)
    return toError(want.end);
  Captured got = comparison.runPrepared();
  if (!got.end)
    return toError(got.end);
  CompareResult result;
  result.want = want;
  llvm::Expected<std::vector<ComparedValue>> outputs = comparison.compare(got, want, listNames(got));
  if (!outputs)
    return outputs.takeError();
  result.outputs = std::move(*outputs);
  if (names.empty() && inner.empty())
    return result;
  Captured kept = keepAll(comparison, names, inner, /*ofReference=*/false);
  if (!kept.end)
    return toError(kept.end);
  llvm::Expected<std::vector<ComparedValue>> values =
      comparison.compare(kept, want, mergeNames(comparison, names, inner));
  if (!values)
    return values.takeError();
  result.values = std::move(*values);
  excuseRounding(comparison, result.values);
  excuseOutputs(result);
  result.kept = std::move(kept);
  if (const ComparedValue *first = result.getFirst())
    result.reads = comparison.listReads(first->value);
  else if (result.diverges())
    findAlone(comparison, want, result);
  if (llvm::any_of(result.outputs, [](const ComparedValue &output) { return output.diverges; }))
    result.kernels = compareKernels(comparison, want);
  result.isHidden = result.firstWrong.has_value();
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string describeNode(const ComparedValue &value) {
  return value.node.empty() ? "" : " of node '" + value.node + "' (" + value.op + ")";
}

static std::string describeAllowed(double allowed) { return run::format("%g", allowed); }

/// Returns " in iteration 3 of loop 'decode' and 0 of loop 'decode/body/search'"
static std::string describeIteration(const ComparedValue &value) {
  std::string text;
  for (auto [loop, place] : llvm::zip(value.loops, value.iteration))
    text += (text.empty() ? " in iteration " : " and ") + std::to_string(place) + " of loop '" + loop + "'";
  return text;
}

static std::string describeVerdict(const ComparedValue &value) {
  if (value.diverges && !value.iteration.empty())
    return "diverges at [" +
           llvm::join(llvm::map_range(value.iteration, [](int64_t place) { return std::to_string(place); }), ",") + "]";
  if (value.diverges)
    return "diverges";
  return value.follows.empty() ? value.whyNot : "follows '" + value.follows + "'";
}

static void printTable(llvm::ArrayRef<ComparedValue> values, size_t width) {
  Table table({"~node", "operator", "~value", "type", ">error", ">allowed", "~"});
  for (const ComparedValue &value : values)
    table.add({value.node, value.op, value.name, value.type, value.whyNot.empty() ? value.error.describe() : "-",
               describeAllowed(value.allowed), describeVerdict(value)});
  table.print(llvm::outs(), width);
}

static std::string describeDivergence(const ComparedValue &value) {
  return "value '" + value.name + "'" + describeNode(value) + describeIteration(value) + ": " +
         (value.error.mismatch.empty() ? "error " : "") + value.error.describe() + ", allowed " +
         describeAllowed(value.allowed);
}

/// What the first wrong value was computed of.
static void printReads(const CompareResult &result) {
  std::vector<std::string> texts;
  for (const std::string &name : result.reads)
    for (const ComparedValue &value : result.values)
      if (value.value == name && value.whyNot.empty())
        texts.push_back("'" + value.name + "' " + value.error.describe());
  if (texts.empty())
    llvm::outs() << "  its node only reads inputs and constants\n";
  else
    llvm::outs() << "  errors of what its node reads: " << llvm::join(texts, ", ") << '\n';
}

/// "x f32[2,8], mask bool[8]"
static std::string describeInputs(const Comparison &comparison) {
  std::string text;
  for (const CapturedTensor &input : comparison.getInputs())
    text += (text.empty() ? "" : ", ") + input.name + " " + input.describeType();
  return text.empty() ? "no inputs" : text;
}

static void printKernels(llvm::ArrayRef<KernelResult> kernels, size_t width) {
  Table table({"kernel", "~nodes", "~value", "type", ">error", ">allowed", ""});
  const KernelResult *first = nullptr;
  for (const KernelResult &kernel : kernels) {
    bool isKnown = !kernel.value.empty();
    table.add({kernel.kernel, kernel.nodes, kernel.value, kernel.type, isKnown ? kernel.error.describe() : "-",
               describeAllowed(kernel.allowed),
               kernel.diverges ? "diverges"
               : isKnown       ? ""
                               : "is no value of the model"});
    if (kernel.diverges && !first)
      first = &kernel;
  }
  llvm::outs() << "\nresults of kernels, as the model is compiled\n";
  table.print(llvm::outs(), width);
  if (first)
    llvm::outs() << "\nfirst kernel that is wrong: " << first->kernel << ", which computes " << first->nodes << '\n';
  else
    llvm::outs() << "\nno kernel can be said to be wrong\n";
}

static void printFindings(const CompareResult &result) {
  if (const ComparedValue *first = result.getFirst()) {
    llvm::outs() << "first divergence: " << describeDivergence(*first) << '\n';
    printReads(result);
    return;
  }
  if (!result.isHidden) {
    llvm::outs() << "no value diverges\n";
    return;
  }
  llvm::outs()
      << "no value diverges once all are kept: what the compiler fuses or simplifies between them is at fault\n"
      << "first divergence with one value kept at a time: " << describeDivergence(*result.firstWrong) << '\n';
  if (result.lastRight)
    llvm::outs() << "  still right: value '" << result.lastRight->name << "'" << describeNode(*result.lastRight)
                 << ": error " << result.lastRight->error.describe() << '\n';
}

static void printText(const Comparison &comparison, const CompareResult &result) {
  size_t width = comparison.getOptions().width;
  size_t wrong = llvm::count_if(result.outputs, [](const ComparedValue &value) { return value.diverges; });
  llvm::outs() << comparison.getOptions().compile.input << " against " << comparison.getReference().describe() << ": "
               << wrong << " of " << result.outputs.size() << " outputs" << (wrong == 1 ? " diverges" : " diverge")
               << ", with " << describeInputs(comparison) << '\n';
  printTable(result.outputs, width);
  if (result.values.empty())
    return;
  llvm::outs() << "\nvalues, each kept as an output\n";
  printTable(result.values, width);
  llvm::outs() << '\n';
  printFindings(result);
  if (!result.kernels.empty())
    printKernels(result.kernels, width);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static nlohmann::json toJson(const ComparedValue &value) {
  nlohmann::json json = {{"name", value.name}, {"type", value.type}, {"diverges", value.diverges}};
  if (!value.node.empty())
    json.update({{"node", value.node}, {"operator", value.op}});
  if (!value.follows.empty())
    json["follows"] = value.follows;
  if (!value.loops.empty())
    json["loops"] = value.loops;
  if (!value.iteration.empty())
    json["iteration"] = value.iteration;
  if (!value.whyNot.empty()) {
    json["not_compared"] = value.whyNot;
    return json;
  }
  json["allowed"] = value.allowed;
  if (!value.error.mismatch.empty())
    json["mismatch"] = value.error.mismatch;
  else
    json.update({{"error", std::isfinite(value.error.error) ? nlohmann::json(value.error.error) : nlohmann::json()},
                 {"differing", value.error.differing},
                 {"elements", value.error.count}});
  return json;
}

static nlohmann::json toJson(llvm::ArrayRef<ComparedValue> values) {
  nlohmann::json list = nlohmann::json::array();
  for (const ComparedValue &value : values)
    list.push_back(toJson(value));
  return list;
}

static nlohmann::json toJson(llvm::ArrayRef<KernelResult> kernels) {
  nlohmann::json list = nlohmann::json::array();
  for (const KernelResult &kernel : kernels) {
    nlohmann::json entry = {
        {"kernel", kernel.kernel}, {"nodes", kernel.nodes}, {"type", kernel.type}, {"diverges", kernel.diverges}};
    if (!kernel.value.empty())
      entry.update(
          {{"value", kernel.value},
           {"allowed", kernel.allowed},
           {"error", std::isfinite(kernel.error.error) ? nlohmann::json(kernel.error.error) : nlohmann::json()}});
    list.push_back(std::move(entry));
  }
  return list;
}

static void printJson(const Comparison &comparison, const CompareResult &result) {
  nlohmann::json json = {{"model", comparison.getOptions().compile.input},
                         {"against", comparison.getOptions().against},
                         {"diverges", result.diverges()},
                         {"inputs", describeInputs(comparison)},
                         {"outputs", toJson(result.outputs)},
                         {"values", toJson(result.values)},
                         {"kernels", toJson(result.kernels)}};
  if (const ComparedValue *first = result.getFirst())
    json["first"] = toJson(*first);
  json["hidden_by_keeping"] = result.isHidden;
  if (result.firstWrong)
    json["first_alone"] = toJson(*result.firstWrong);
  if (result.lastRight)
    json["last_right_alone"] = toJson(*result.lastRight);
  llvm::outs() << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

int debug::runCompare(DebugOptions options, bool outputsOnly) {
  llvm::Expected<std::unique_ptr<Comparison>> comparison = Comparison::create(std::move(options));
  if (!comparison)
    return reportFailure(comparison.takeError());
  if (StepEnd end = (*comparison)->compile(); !end)
    return reportFailure(end);
  if (StepEnd end = (*comparison)->makeInputs(); !end)
    return reportFailure(end);
  llvm::Expected<CompareResult> result = compareValues(**comparison, outputsOnly);
  if (!result)
    return reportFailure(result.takeError());
  ((*comparison)->getOptions().json ? printJson : printText)(**comparison, *result);
  return result->diverges() ? run::kMismatch : 0;
}
