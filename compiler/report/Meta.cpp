//===- Meta.cpp - what the compiler wrote for people -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Meta.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "compiler/report/WeightFormats.h"
#include "runtime/base/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <map>
#include <set>

using namespace tenon;
using Json = nlohmann::ordered_json;

/// Sets to null what is nested more than `levels` deep.
static void dropDeep(Json &json, int levels) {
  for (Json &child : json)
    if (levels > 0)
      dropDeep(child, levels - 1);
    else if (child.is_structured())
      child = nullptr;
}

Json tenon::parseMeta(llvm::StringRef text) {
  Json meta = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (meta.is_discarded())
    return {};
  // Printing recurses by nesting level: what is nested deeper than the compiler writes is dropped. (A callback of the
  // parser could do that, but looks at all elements of an array after each of them.)
  dropDeep(meta, 14);
  return meta;
}

Json tenon::readMeta(const ArtifactView &view) { return parseMeta(view.getMeta()); }

std::string tenon::getRecordsText(const ArtifactView &view) {
  Json meta = readMeta(view);
  Json records = meta.is_object() ? meta["records"] : Json();
  if (!records.is_array() || records.empty())
    return "";
  std::set<std::string> machines;
  size_t count = 0; // those of plans decide nothing
  for (const Json &record : records)
    count += !record.is_object() || !record.contains("path") || !record["path"].is_string() ||
             !llvm::StringRef(record["path"].get<std::string>()).starts_with("plan ");
  for (const Json &record : records)
    if (record.is_object() && record.contains("cpu") && record["cpu"].is_string())
      machines.insert(getPrintable(record["cpu"].get<std::string>()));
  return groupDigits(count) + (count == 1 ? " decides" : " decide") + ", measured on " + llvm::join(machines, "; ");
}

Json tenon::readForms(const ArtifactView &view) {
  Json forms = readMeta(view);
  for (const std::string &key : {std::string("forms"), view.getTarget().name})
    forms = forms.is_object() ? Json(forms[key]) : Json();
  return forms.is_array() ? forms : Json::array();
}

std::string tenon::getFormsText(const ArtifactView &view) {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (const Json &entry : readForms(view)) {
    if (!entry.is_object() || !entry.contains("form") || !entry["form"].is_string() || !entry.contains("sites") ||
        !entry["sites"].is_number_unsigned())
      continue;
    std::string form = getPrintable(entry["form"].get<std::string>());
    auto own = llvm::find_if(counts, [&](const auto &count) { return count.first == form; });
    if (own == counts.end())
      own = counts.insert(counts.end(), {form, 0});
    own->second += entry["sites"].get<uint64_t>();
  }
  std::string text;
  for (const auto &[form, count] : counts)
    text += (text.empty() ? "" : ", ") + form + " at " + groupDigits(count) + (count == 1 ? " site" : " sites");
  return text;
}

/// "3.1e-4", "1e-5".
static std::string getShortFigure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  llvm::StringRef figure = text;
  auto [mantissa, exponent] = figure.split('e');
  mantissa.consume_back(".0");
  llvm::StringRef digits = exponent.drop_front().ltrim('0');
  return (mantissa + "e" + exponent.take_front().ltrim('+') + (digits.empty() ? "0" : digits)).str();
}

std::vector<std::string> tenon::listPlanTimes(llvm::StringRef meta) {
  Json json = parseMeta(meta);
  Json plans = json.is_object() ? json["plans"] : Json();
  std::vector<std::pair<std::string, std::string>> texts; // by target
  auto isNumber = [](const Json &plan, const char *key) { return plan.contains(key) && plan[key].is_number(); };
  for (const Json &plan : plans.is_array() ? plans : Json::array()) {
    if (!plan.is_object() || !isNumber(plan, "tolerance") || !isNumber(plan, "nanoseconds") ||
        !plan.contains("target") || !plan["target"].is_string())
      continue;
    std::string target = getPrintable(plan["target"].get<std::string>());
    auto own = llvm::find_if(texts, [&](const auto &text) { return text.first == target; });
    bool isFirst = own == texts.end();
    if (isFirst)
      own = texts.insert(texts.end(), {target, "fastest plan"});
    double nanoseconds = plan["nanoseconds"].get<double>();
    bool isLong = nanoseconds >= 1e6;
    own->second += std::string(isFirst ? "" : ";") + " within " + getShortFigure(plan["tolerance"].get<double>()) +
                   ": " + rt::threeDigits(nanoseconds / (isLong ? 1e6 : 1e3)) + (isLong ? " ms" : " us");
    if (isNumber(plan, "error"))
      own->second += " (error " + getShortFigure(plan["error"].get<double>()) + ")";
  }
  std::vector<std::string> lines;
  for (const auto &[target, text] : texts)
    lines.push_back(texts.size() > 1 ? target + ": " + text : text);
  return lines;
}

std::vector<std::pair<std::string, std::string>> tenon::listCompilation(const ArtifactView &view) {
  Json meta = readMeta(view);
  std::vector<std::pair<std::string, std::string>> facts;
  if (!meta.is_object())
    return facts;
  if (Json tolerance = meta["tolerance"]; tolerance.is_number())
    facts.emplace_back("tolerance",
                       llvm::formatv("{0:e1} of an output's largest element", tolerance.get<double>()).str());
  Json paths = meta["paths"].is_object() ? meta["paths"] : Json::object();
  if (Json choices = paths["choices"]; choices.is_number_unsigned())
    facts.emplace_back("choices of paths", groupDigits(choices) + " tried");
  if (Json error = paths["largest_error"]; error.is_number() && error.get<double>() > 0)
    facts.emplace_back("faster algorithms",
                       llvm::formatv("add an error of {0:e1} at most each", error.get<double>()).str());
  if (std::string text = getFormsText(view); !text.empty())
    facts.emplace_back("forms of the graph", text);
  if (std::string text = getRecordsText(view); !text.empty())
    facts.emplace_back("records of real runs", text);
  for (const std::string &line : listPlanTimes(view.getMeta()))
    facts.emplace_back("time", line);
  for (const std::string &line : listWeightFormats(view.getMeta()))
    facts.emplace_back("formats of weights", line);
  if (Json count = meta["recomputed"]; count.is_number_unsigned())
    facts.emplace_back("rematerialized", "up to " + groupDigits(count) + " activations of a block, to save memory");
  if (Json budget = meta["weight_budget"]; budget.is_number_unsigned())
    facts.emplace_back("weight budget", bytesText(budget) + " of weights stay in memory");
  return facts;
}

std::vector<std::pair<std::string, uint64_t>> tenon::listMachineFigures(const ArtifactView &view,
                                                                        const std::string &target) {
  Json meta = readMeta(view);
  // Whatever is missing on the way is null.
  Json machine = meta.is_object() ? meta["targets"] : Json();
  machine = machine.is_object() ? machine[target] : Json();
  std::vector<std::pair<std::string, uint64_t>> figures;
  if (machine.is_object())
    for (const auto &figure : machine.items())
      if (figure.value().is_number_unsigned())
        figures.emplace_back(getPrintable(figure.key()), figure.value().get<uint64_t>());
  return figures;
}

std::string tenon::getMachineText(const ArtifactView &view, const std::string &target) {
  std::map<std::string, uint64_t> figures;
  for (auto &[name, value] : listMachineFigures(view, target))
    figures[name] = value;
  std::string text;
  // Removes known figures, so that those of another compiler version remain.
  auto take = [&](const char *name) {
    auto figure = figures.extract(name);
    return figure ? figure.mapped() : 0;
  };
  auto add = [&](uint64_t value, const std::string &words) {
    if (value)
      text += (text.empty() ? "" : ", ") + words;
  };
  uint64_t registers = take("vector_registers"), vector = take("vector_bytes"), rate = take("multiply_adds");
  add(vector && registers, groupDigits(registers) + " vector registers of " + groupDigits(vector) + " bytes");
  add(rate, groupDigits(rate) + (rate == 1 ? " multiply-add a cycle" : " multiply-adds a cycle"));
  if (uint64_t products = take("int8_dot"); products > 1)
    add(products, "dot products of " + groupDigits(products) + " int8");
  add(take("bf16_pairs"), "dot products of 2 bf16");
  add(take("f16_fma"), "multiply-adds of f16");
  add(take("l2_bound"), "products of panels that wait for L2");
  add(take("amx_int8"), "AMX of int8");
  add(take("amx_bf16"), "AMX of bf16");
  if (uint64_t columns = take("panel_columns"))
    add(columns, "panels of " + groupDigits(columns) + " columns");
  if (uint64_t ways = take("l1_ways"))
    add(ways, "L1 of " + groupDigits(ways) + " ways");
  if (uint64_t bytes = take("l2_bytes"))
    add(bytes, "L2 " + bytesText(bytes));
  if (uint64_t bytes = take("llc_bytes"))
    add(bytes, "last-level cache " + bytesText(bytes));
  for (const auto &[name, value] : figures)
    add(1, name + " " + groupDigits(value));
  return text;
}

std::map<uint64_t, std::string> tenon::readWeightTypes(const ArtifactView &view) {
  Json meta = readMeta(view);
  Json list = meta.is_object() ? meta["weights"] : Json();
  std::map<uint64_t, std::string> types;
  if (!list.is_array())
    return types;
  for (const Json &weight : list) {
    if (!weight.is_object() || !weight.contains("offset") || !weight["offset"].is_number_unsigned() ||
        !weight.contains("dtype") || !weight["dtype"].is_string() || !weight.contains("shape") ||
        !weight["shape"].is_array())
      continue;
    std::string dims;
    for (const Json &dim : weight["shape"])
      dims += (dims.empty() ? "" : ", ") + dim.dump();
    types[weight["offset"].get<uint64_t>()] = getPrintable(weight["dtype"].get<std::string>() + "[" + dims + "]");
  }
  return types;
}

std::string tenon::readPlace(const Json &meta, llvm::StringRef node) {
  if (!meta.is_object() || !meta.contains("places") || !meta["places"].is_object())
    return "";
  auto place = meta["places"].find(node.str());
  return place == meta["places"].end() || !place->is_string() ? "" : place->get<std::string>();
}

Json tenon::readPaths(const ArtifactView &view) {
  Json paths = readMeta(view);
  for (const std::string &key : {std::string("paths"), std::string("kernels"), view.getTarget().name})
    paths = paths.is_object() ? Json(paths[key]) : Json();
  return paths.is_object() ? paths : Json::object();
}

std::string tenon::getPathName(const Json &paths, const std::string &kernel) {
  auto entry = paths.find(kernel);
  if (entry == paths.end() || !entry->is_object() || !entry->contains("path") || !(*entry)["path"].is_string())
    return "";
  return getPrintable((*entry)["path"].get<std::string>());
}

std::vector<PathEstimate> tenon::listPathEstimates(const Json &paths, const std::string &kernel) {
  std::string taken = getPathName(paths, kernel);
  if (taken.empty())
    return {};
  Json cycles = paths[kernel].value("cycles", Json());
  if (!cycles.is_object())
    return {};
  Json times = paths[kernel].value("nanoseconds", Json());
  auto getTime = [&](const std::string &path) -> std::optional<uint64_t> {
    auto time = times.is_object() ? times.find(path) : times.end();
    bool isThere = time != times.end() && time->is_number_unsigned();
    return isThere ? std::optional(time->get<uint64_t>()) : std::nullopt;
  };
  std::vector<PathEstimate> estimates;
  for (const auto &estimate : cycles.items())
    if (estimate.value().is_number_unsigned())
      estimates.push_back(
          {getPrintable(estimate.key()), estimate.value().get<uint64_t>(), getTime(estimate.key()), false});
  auto own = std::find_if(estimates.begin(), estimates.end(), [&](const auto &it) { return it.path == taken; });
  if (own == estimates.end())
    return {};
  std::rotate(estimates.begin(), own, own + 1);
  const PathEstimate &first = estimates.front();
  for (PathEstimate &estimate : estimates) {
    bool areMeasured = first.nanoseconds && estimate.nanoseconds;
    // If only one of both was measured, the choice was based on records that this file does not contain.
    bool areEstimated = !first.nanoseconds && !estimate.nanoseconds;
    estimate.isTooInexact =
        areMeasured ? *estimate.nanoseconds < *first.nanoseconds : areEstimated && estimate.cycles < first.cycles;
  }
  return estimates;
}

/// Returns "55.5 us", or "34,000 cycles" if there is no measurement; `saysCycles` adds the unit to an estimate.
static std::string getCostText(const PathEstimate &estimate, bool saysCycles) {
  if (!estimate.nanoseconds)
    return groupDigits(estimate.cycles) + (saysCycles ? " cycles" : "");
  auto nanoseconds = static_cast<double>(*estimate.nanoseconds);
  bool isLong = nanoseconds >= 1e6;
  return rt::threeDigits(nanoseconds / (isLong ? 1e6 : 1e3)) + (isLong ? " ms" : " us");
}

std::string tenon::getPathText(const Json &paths, const std::string &kernel) {
  std::vector<PathEstimate> estimates = listPathEstimates(paths, kernel);
  if (estimates.empty())
    return getPathName(paths, kernel);
  bool isMeasured = estimates.front().nanoseconds.has_value();
  std::string text =
      estimates.front().path + " (" + (isMeasured ? "measured " : "") + getCostText(estimates.front(), true);
  for (const PathEstimate &estimate : llvm::ArrayRef(estimates).drop_front())
    text += "; " + estimate.path + " " + getCostText(estimate, isMeasured) +
            (estimate.isTooInexact ? ", not exact enough" : "");
  return text + ")";
}
