//===- PathSelection.cpp - which paths the operations of a graph took -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathSelection.h"

using namespace tenon;

void PathSelection::add(llvm::StringRef target, llvm::StringRef function, size_t index, SelectedPath selected) {
  std::lock_guard<std::mutex> lock(mutex);
  byTarget[target.str()][{function.str(), index}] = std::move(selected);
}

std::optional<SelectedPath> PathSelection::find(llvm::StringRef target, llvm::StringRef function, size_t index) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto own = byTarget.find(target);
  if (own == byTarget.end())
    return std::nullopt;
  auto it = own->second.find({function.str(), index});
  return it == own->second.end() ? std::nullopt : std::optional(it->second);
}

std::string PathSelection::describe(llvm::StringRef target) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  auto own = byTarget.find(target);
  auto getText = [](const Place &place) { return place.first + " " + std::to_string(place.second); };
  // If all forms are the default ones, the text is the same as in versions without forms.
  if (auto ownForms = forms.find(target); ownForms != forms.end())
    for (const auto &[place, selected] : ownForms->second)
      if (selected.form != selected.own)
        text += "site " + getText(place) + " " + selected.cycles[selected.form].first + "\n";
  if (own != byTarget.end())
    for (const auto &[place, selected] : own->second)
      text += getText(place) + " " + selected.path + "\n";
  if (auto ownRounded = rounded.find(target); ownRounded != rounded.end())
    for (const Place &place : ownRounded->second)
      text += getText(place) + " rounded\n";
  return text;
}

void PathSelection::addRounded(llvm::StringRef target, llvm::StringRef function, size_t index) {
  std::lock_guard<std::mutex> lock(mutex);
  rounded[target.str()].insert({function.str(), index});
}

bool PathSelection::isRounded(llvm::StringRef target, llvm::StringRef function, size_t index) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto own = rounded.find(target);
  return own != rounded.end() && own->second.count({function.str(), index}) > 0;
}

void PathSelection::addForm(llvm::StringRef target, llvm::StringRef function, size_t site, SelectedForm selected) {
  std::lock_guard<std::mutex> lock(mutex);
  forms[target.str()][{function.str(), site}] = std::move(selected);
}

std::optional<size_t> PathSelection::findForm(llvm::StringRef target, llvm::StringRef function, size_t site) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto own = forms.find(target);
  if (own == forms.end())
    return std::nullopt;
  auto it = own->second.find({function.str(), site});
  return it == own->second.end() ? std::nullopt : std::optional(it->second.form);
}

std::vector<SelectedForm> PathSelection::listForms(llvm::StringRef target) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<SelectedForm> list;
  if (auto own = forms.find(target); own != forms.end())
    for (const auto &[place, selected] : own->second)
      list.push_back(selected);
  return list;
}

void PathSelection::addCost(llvm::StringRef target, double cost) {
  std::lock_guard<std::mutex> lock(mutex);
  costs[target.str()] += cost;
}

double PathSelection::getCost(llvm::StringRef target) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto own = costs.find(target);
  return own == costs.end() ? 0 : own->second;
}

void PathSelection::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  byTarget.clear();
  rounded.clear();
  forms.clear();
  costs.clear();
}
