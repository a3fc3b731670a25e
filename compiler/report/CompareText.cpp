//===- CompareText.cpp - two artifacts side by side ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Compare.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

using namespace tenon;
using Json = nlohmann::ordered_json;

/// Rows of a table; --json has all.
static constexpr size_t kMaxRows = 20;

static std::string getNumber(std::optional<uint64_t> number) { return number ? groupDigits(*number) : "-"; }

/// Prints the facts that differ, long ones on separate lines, and the names of the others.
static void printFacts(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  constexpr size_t kMaxColumns = 36;
  Table table({"", "a", "b"});
  std::vector<const Comparison::Fact *> wide;
  bool isAny = false;
  for (const Comparison::Fact &fact : comparison.facts) {
    if (fact.isEqual())
      continue;
    if (std::max(getColumns(fact.a), getColumns(fact.b)) > kMaxColumns) {
      wide.push_back(&fact);
    } else {
      table.add({fact.key, fact.a.empty() ? "-" : fact.a, fact.b.empty() ? "-" : fact.b});
      isAny = true;
    }
  }
  if (isAny) {
    os << '\n';
    table.print(os, options.width);
  }
  for (const Comparison::Fact *fact : wide) {
    os << "\n  " << fact->key << '\n';
    printWords("  a", fact->a.empty() ? "-" : fact->a, options.width, os);
    printWords("  b", fact->b.empty() ? "-" : fact->b, options.width, os);
  }
  if (std::vector<std::string> equal = listEqual(comparison); !equal.empty()) {
    os << '\n';
    printList("equal", equal, ",", options.width, os);
  }
}

static void printFigures(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  os << '\n';
  Table table({"", ">a", ">b", ">change"});
  for (const Comparison::Figure &figure : comparison.figures)
    if (figure.a || figure.b)
      table.add({figure.title, getNumber(figure.a), getNumber(figure.b), describeChange(figure.a, figure.b)});
  table.print(os, options.width);
}

/// Returns "direct", or "direct -> winograd-4" if the sides differ.
static std::string joinSides(const std::string &a, const std::string &b) { return a == b ? a : a + " -> " + b; }

/// "=" or the change of a number.
static std::string getChange(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return a && a == b ? "=" : describeChange(a, b);
}

static void addKernels(const Comparison::KernelPair &pair, Table &table) {
  Comparison::KernelPair::Side none, a = pair.a.value_or(none), b = pair.b.value_or(none);
  auto join = [&](const std::string &ofA, const std::string &ofB) {
    return joinSides(pair.a ? ofA : "none", pair.b ? ofB : "none");
  };
  std::string path =
      a.path.empty() && b.path.empty() ? "" : joinSides(a.path.empty() ? "-" : a.path, b.path.empty() ? "-" : b.path);
  table.add({std::to_string(pair.launches), join(a.kernel, b.kernel), path, getChange(a.flops, b.flops),
             getChange(a.bytes, b.bytes), getChange(a.code, b.code), getShortNodes(pair.nodes)});
}

static void printKernels(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  size_t numDifferent = llvm::count_if(comparison.kernels, [](const auto &pair) { return !pair.isEqual(); });
  if (!numDifferent) {
    os << "\nkernels: all are equal\n";
    return;
  }
  os << "\nkernels: those that differ for the same nodes, then those of only one artifact\n";
  Table table({">launches", "~kernel", "path", ">flops", ">bytes", ">code", "~computes"});
  for (const Comparison::KernelPair &pair :
       llvm::ArrayRef(comparison.kernels).take_front(std::min(numDifferent, kMaxRows)))
    addKernels(pair, table);
  table.print(os, options.width);
  if (numDifferent > kMaxRows)
    os << "  and " << groupDigits(numDifferent - kMaxRows) << " more, which --json lists\n";
}

static void printWeights(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  os << "\nweights, by their names or the nodes that read them: " << groupDigits(comparison.equalWeights) << " equal, "
     << groupDigits(comparison.weights.size()) << " different in size\n";
  if (comparison.weights.empty())
    return;
  Table table({">bytes in a", ">bytes in b", ">change", "~name"});
  for (const Comparison::Weight &weight : llvm::ArrayRef(comparison.weights).take_front(kMaxRows))
    table.add({weight.bytesOfA ? groupDigits(weight.bytesOfA) : "-",
               weight.bytesOfB ? groupDigits(weight.bytesOfB) : "-", describeChange(weight.bytesOfA, weight.bytesOfB),
               weight.name});
  table.print(os, options.width);
  if (comparison.weights.size() > kMaxRows)
    os << "  and " << groupDigits(comparison.weights.size() - kMaxRows) << " more, which --json lists\n";
}

void tenon::printComparison(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  for (auto [name, path] : {std::pair("a", &options.a), std::pair("b", &options.b)})
    os << name << "  " << (options.width ? shortenPath(*path, options.width - 3) : *path) << '\n';
  printFacts(comparison, options, os);
  printFigures(comparison, options, os);
  printKernels(comparison, options, os);
  printWeights(comparison, options, os);
}

static Json getJson(std::optional<uint64_t> number) { return number ? Json(*number) : Json(); }

static Json getSide(const std::optional<Comparison::KernelPair::Side> &side) {
  if (!side)
    return {};
  return {{"kernel", side->kernel},
          {"path", side->path.empty() ? Json() : Json(side->path)},
          {"flops", getJson(side->flops)},
          {"bytes", getJson(side->bytes)},
          {"code_bytes", getJson(side->code)}};
}

void tenon::printComparisonJson(const Comparison &comparison, const CompareOptions &options, llvm::raw_ostream &os) {
  Json json = {{"a", options.a}, {"b", options.b}};
  for (const Comparison::Fact &fact : comparison.facts)
    json["facts"][fact.key] = {{"a", fact.a}, {"b", fact.b}, {"equal", fact.isEqual()}};
  for (const Comparison::Figure &figure : comparison.figures)
    json["figures"][figure.key] = {{"a", getJson(figure.a)}, {"b", getJson(figure.b)}, {"equal", figure.isEqual()}};
  json["kernels"] = Json::array();
  for (const Comparison::KernelPair &pair : comparison.kernels)
    json["kernels"].push_back({{"a", getSide(pair.a)},
                               {"b", getSide(pair.b)},
                               {"equal", pair.isEqual()},
                               {"launches", pair.launches},
                               {"nodes", pair.nodes}});
  json["equal_weights"] = comparison.equalWeights;
  json["weights"] = Json::array();
  for (const Comparison::Weight &weight : comparison.weights)
    json["weights"].push_back(
        {{"name", weight.name}, {"bytes_of_a", weight.bytesOfA}, {"bytes_of_b", weight.bytesOfB}});
  os << json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << '\n';
}
