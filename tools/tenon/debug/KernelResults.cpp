//===- KernelResults.cpp - what kernels of the compiled model make --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/KernelResults.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace tenon;
using namespace tenon::debug;

/// Returns the error of a tensor relative to a value of the reference; none if they are incompatible.
static std::optional<ValueError> compareAs(const CapturedTensor &got, const CapturedTensor &want,
                                           const ErrorLimit &limit) {
  if (got.getCount() != want.getCount())
    return std::nullopt;
  llvm::Expected<ValueError> error = compareTensors(got, want);
  if (error && !limit.allows(*error, got.dtype))
    error = compareElements(got, want);
  if (!error) {
    llvm::consumeError(error.takeError());
    return std::nullopt;
  }
  return error->mismatch.empty() ? std::optional(*error) : std::nullopt;
}

/// The nodes that a kernel computes.
static std::vector<std::string> listNodes(const KernelResult &result) {
  std::vector<std::string> nodes;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(result.nodes).split(names, " + ");
  for (llvm::StringRef name : names)
    nodes.push_back(name.str());
  return nodes;
}

static KernelResult compareResult(const OnnxGraph &graph, const CapturedTensor &got, const Captured &want,
                                  const ErrorLimit &limit) {
  // Splits "3 k1_contract: fc2 + act2", see tenon-keep-results.
  auto [kernel, nodes] = llvm::StringRef(got.name).split(": ");
  KernelResult result{kernel.split(' ').second.str(), nodes.str(), "", got.describeType(), {}, 0, false};
  result.allowed = limit.getAllowed(got.dtype);
  std::vector<std::string> names = listNodes(result);
  // Among values with the same distance the last one is taken: a kernel stores its last value, not intermediate ones.
  for (const GraphValue &value : graph.getValues()) {
    const CapturedTensor *wanted = findTensor(want.tensors, value.name);
    if (!wanted || !llvm::is_contained(names, value.node))
      continue;
    std::optional<ValueError> error = compareAs(got, *wanted, limit);
    if (!error || (!result.value.empty() && error->error > result.error.error))
      continue;
    result.value = value.name;
    result.error = *error;
  }
  result.diverges = !result.value.empty() && !limit.allows(result.error, got.dtype);
  return result;
}

/// True if a tensor is a permutation of another one's elements.
static bool isPermutation(const CapturedTensor &a, const CapturedTensor &b) {
  llvm::Expected<ValueError> error = compareElements(a, b);
  bool isEqual = error && error->mismatch.empty() && error->error == 0;
  if (!error)
    llvm::consumeError(error.takeError());
  return isEqual;
}

/// If several kernels compute a node, the results of the first ones are intermediate and no values of the model, unless
/// the last kernel only changes the layout.
static void forgetParts(std::vector<KernelResult> &results, llvm::ArrayRef<CapturedTensor> tensors) {
  llvm::StringMap<size_t> last; // the last kernel that computes some of a node
  for (auto [i, result] : llvm::enumerate(results))
    for (const std::string &node : listNodes(result))
      last[node] = i;
  for (size_t i = 0; i < results.size(); ++i) {
    bool isPart = llvm::any_of(listNodes(results[i]), [&](const std::string &node) {
      return last.lookup(node) > i && !isPermutation(tensors[i], tensors[last.lookup(node)]);
    });
    if (!results[i].diverges || !isPart)
      continue;
    results[i].diverges = false;
    results[i].value.clear();
  }
}

std::vector<KernelResult> debug::compareKernels(Comparison &comparison, const Captured &want) {
  CompileOptions compile = comparison.getOptions().compile;
  std::vector<KernelResult> results;
  if (!comparison.getGraph() || !compile.programs.empty() || compile.targets.size() > 1)
    return results;
  compile.keepsResults = true;
  Captured got = comparison.runCompiled(compile);
  size_t outputs = comparison.runPrepared().tensors.size();
  auto tensors = llvm::ArrayRef(got.tensors).drop_front(std::min(outputs, got.tensors.size()));
  for (const CapturedTensor &tensor : tensors)
    results.push_back(compareResult(*comparison.getGraph(), tensor, want, comparison.getLimit()));
  forgetParts(results, tensors);
  return results;
}
