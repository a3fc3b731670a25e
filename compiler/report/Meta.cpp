//===- Meta.cpp - what the compiler wrote for people -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Meta.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include <algorithm>

using namespace tenon;
using Json = nlohmann::ordered_json;

Json tenon::readMeta(const ArtifactView &view) {
  // Printing goes as deep as the value does, so what nests deeper than any compiler writes is left out.
  auto isShallow = [](int depth, Json::parse_event_t, Json &) { return depth < 16; };
  Json meta = Json::parse(view.getMeta(), isShallow, /*allow_exceptions=*/false);
  return meta.is_discarded() ? Json() : meta;
}

std::string tenon::getMachineText(const ArtifactView &view, const std::string &target) {
  Json meta = readMeta(view);
  // Whatever is missing on the way is null.
  Json machine = meta.is_object() ? meta["targets"] : Json();
  machine = machine.is_object() ? machine[target] : Json();
  std::string text;
  if (!machine.is_object())
    return text;
  for (const auto &figure : machine.items())
    if (figure.value().is_number_unsigned())
      text += (text.empty() ? "" : ", ") + getPrintable(figure.key()) + " " + groupDigits(figure.value());
  return text;
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
  std::vector<PathEstimate> estimates;
  for (const auto &estimate : cycles.items())
    if (estimate.value().is_number_unsigned())
      estimates.push_back({getPrintable(estimate.key()), estimate.value().get<uint64_t>(), false});
  auto own = std::find_if(estimates.begin(), estimates.end(), [&](const auto &it) { return it.path == taken; });
  if (own == estimates.end())
    return {};
  std::rotate(estimates.begin(), own, own + 1);
  for (PathEstimate &estimate : estimates)
    estimate.isTooInexact = estimate.cycles < estimates.front().cycles;
  return estimates;
}

std::string tenon::getPathText(const Json &paths, const std::string &kernel) {
  std::vector<PathEstimate> estimates = listPathEstimates(paths, kernel);
  if (estimates.empty())
    return getPathName(paths, kernel);
  std::string text = estimates.front().path + " (" + groupDigits(estimates.front().cycles) + " cycles";
  for (size_t i = 1; i < estimates.size(); ++i)
    text += "; " + estimates[i].path + " " + groupDigits(estimates[i].cycles) +
            (estimates[i].isTooInexact ? ", not exact enough" : "");
  return text + ")";
}
