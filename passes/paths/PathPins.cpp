//===- PathPins.cpp - paths that a user demands or rules out ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathPins.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/Path.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace tenon;

static std::vector<std::string> listPathNames() {
  std::vector<std::string> names;
  for (const auto &path : getPaths())
    names.push_back(path->getName().str());
  names.push_back(kBf16ActivationPath.str());
  for (llvm::StringRef form : kFormNames)
    names.push_back(form.str());
  for (llvm::StringRef form : kLaunchForms)
    names.push_back(form.str());
  return names;
}

llvm::Expected<PathPin> PathPin::parse(llvm::StringRef text, bool isForced) {
  auto [where, path] = text.rsplit('=');
  if (where.size() == text.size()) {
    if (isForced)
      return llvm::createStringError("expected REGION=PATH, got '" + text + "'");
    where = "*", path = text;
  }
  std::vector<std::string> names = listPathNames();
  if (!llvm::is_contained(names, path))
    return llvm::createStringError("there is no path '" + path + "'; the paths are " + llvm::join(names, ", "));
  if (where.empty())
    return llvm::createStringError("expected a region or a node before '=', got '" + text + "'");
  if (llvm::Expected<llvm::GlobPattern> nodes = llvm::GlobPattern::create(where); !nodes)
    return llvm::createStringError("'" + where + "' is no pattern: " + llvm::toString(nodes.takeError()));
  return PathPin{where.str(), path.str(), isForced};
}

struct PathPins::Pin : PathPin {
  explicit Pin(PathPin pin)
      : PathPin(std::move(pin)),
        nodes(llvm::cantFail(llvm::GlobPattern::create(where), "patterns are checked in parse()")) {}

  llvm::GlobPattern nodes;
  bool isMatched = false; ///< by an operation
  bool isApplied = false; ///< to an operation that has the path

  bool matches(const PinnedOperation &operation) const {
    // A prefix of few digits would match by chance.
    constexpr size_t kMinDigits = 6; // format: of a fingerprint
    bool isFingerprint = where.size() >= kMinDigits && llvm::StringRef(operation.fingerprint).starts_with(where);
    return isFingerprint || where == "*" ||
           llvm::any_of(operation.nodes, [&](llvm::StringRef node) { return nodes.match(node); });
  }
  std::string getText() const {
    return (isForced ? "--force " : "--exclude ") + (where == "*" && !isForced ? path : where + "=" + path);
  }
};

PathPins::PathPins(std::vector<PathPin> all, bool areInsistedOn) : areInsistedOn(areInsistedOn) {
  for (PathPin &pin : all)
    pins.emplace_back(std::move(pin));
}

PathPins::~PathPins() = default;

std::vector<bool> PathPins::filter(const PinnedOperation &operation, llvm::ArrayRef<llvm::StringRef> paths) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<bool> kept(paths.size(), true);
  const Pin *forced = nullptr;
  for (Pin &pin : pins) {
    if (!pin.matches(operation))
      continue;
    pin.isMatched = true;
    size_t place = llvm::find(paths, pin.path) - paths.begin();
    if (place == paths.size())
      continue;
    pin.isApplied = true;
    if (pin.isForced)
      forced = &pin;
    else
      kept[place] = false;
  }
  if (forced)
    llvm::transform(paths, kept.begin(), [&](llvm::StringRef path) { return path == forced->path; });
  if (paths.empty() || llvm::is_contained(kept, true))
    return kept;
  std::string name = operation.nodes.empty() ? operation.fingerprint : operation.nodes.front().str();
  fault = "'" + name + "' is left without a path: all of " + llvm::join(paths, ", ") + " are excluded";
  return std::vector<bool>(paths.size(), true);
}

std::string PathPins::describeDemand(const PinnedOperation &operation, llvm::ArrayRef<llvm::StringRef> paths) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  for (const Pin &pin : pins)
    if (pin.isForced && pin.matches(operation) && llvm::is_contained(paths, pin.path))
      text = pin.getText();
  return text;
}

std::optional<bool> PathPins::findActivationPin() {
  std::lock_guard<std::mutex> lock(mutex);
  std::optional<bool> found;
  for (Pin &pin : pins)
    if (pin.path == kBf16ActivationPath && (pin.where == "*" || pin.where == kActivationsRegion)) {
      found = pin.isForced;
      pin.isMatched = pin.isApplied = true;
    }
  return found;
}

void PathPins::addFault(std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  fault = std::move(text);
}

llvm::Expected<std::shared_ptr<PathPins>> tenon::parsePins(llvm::ArrayRef<std::string> forced,
                                                           llvm::ArrayRef<std::string> excluded) {
  std::vector<PathPin> all;
  for (auto [texts, isForced] : {std::pair(forced, true), {excluded, false}})
    for (const std::string &text : texts) {
      llvm::Expected<PathPin> pin = PathPin::parse(text, isForced);
      if (!pin)
        return pin.takeError();
      all.push_back(std::move(*pin));
    }
  return all.empty() ? nullptr : std::make_shared<PathPins>(std::move(all));
}

llvm::Error PathPins::check() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (!fault.empty())
    return llvm::createStringError(fault);
  if (!areInsistedOn)
    return llvm::Error::success();
  for (const Pin &pin : pins) {
    // Launches are merged after this question is asked.
    if (llvm::is_contained(kLaunchForms, pin.path))
      continue;
    if (!pin.isMatched && pin.where != "*")
      return llvm::createStringError(pin.getText() + ": no operation that paths are for is called '" + pin.where + "'");
    if (pin.isForced && !pin.isApplied)
      return llvm::createStringError(pin.getText() + ": no operation of that name can be computed so for this target");
  }
  return llvm::Error::success();
}
