//===- Config.cpp - reads the fields of config.json -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Config.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace tenon;
using namespace tenon::huggingface;

const Json *Config::find(const std::string &key) const {
  auto it = fields.find(key);
  return it == fields.end() || it->is_null() ? nullptr : &*it;
}

bool Config::isNull(const std::string &key) const {
  auto it = fields.find(key);
  return it != fields.end() && it->is_null();
}

void Config::reportWanted(const std::string &key, const std::string &wanted) const {
  const Json *found = find(key);
  constexpr size_t kShown = 80;
  std::string text = found ? found->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kShown) : "";
  report.add(ImportFault::invalidModel,
             file + ": '" + path + key + "' has to be " + wanted + (found ? ", found " + text : ", and is not there"));
}

/// True for integers from `min` to 2^30.
static bool isCount(const Json &json, uint64_t min) {
  constexpr uint64_t kMax = uint64_t(1) << 30;
  return json.is_number_unsigned() && json.get<uint64_t>() >= min && json.get<uint64_t>() <= kMax;
}

int64_t Config::getCount(const std::string &key, uint64_t min, std::optional<int64_t> otherwise) const {
  const Json *found = find(key);
  if (!found && otherwise)
    return *otherwise;
  if (found && isCount(*found, min))
    return found->get<int64_t>();
  reportWanted(key, "a number from " + std::to_string(min) + " to 2^30");
  return 1;
}

int64_t Config::getSize(const std::string &key, std::optional<int64_t> otherwise) const {
  return getCount(key, 1, otherwise);
}

int64_t Config::getIndex(const std::string &key, int64_t otherwise) const { return getCount(key, 0, otherwise); }

double Config::getFloat(const std::string &key, std::optional<double> otherwise) const {
  const Json *found = find(key);
  if (!found && otherwise)
    return *otherwise;
  if (found && found->is_number() && std::isfinite(found->get<double>()))
    return found->get<double>();
  reportWanted(key, "a number");
  return 1;
}

bool Config::getBool(const std::string &key, bool otherwise) const {
  const Json *found = find(key);
  if (!found)
    return otherwise;
  if (found->is_boolean())
    return found->get<bool>();
  reportWanted(key, "true or false");
  return otherwise;
}

std::string Config::getString(const std::string &key, const std::string &otherwise) const {
  const Json *found = find(key);
  if (!found)
    return otherwise;
  if (found->is_string())
    return found->get<std::string>();
  reportWanted(key, "a text");
  return otherwise;
}

std::vector<std::string> Config::getStrings(const std::string &key) const {
  const Json *found = find(key);
  if (!found)
    return {};
  if (found->is_array() && llvm::all_of(*found, [](const Json &element) { return element.is_string(); }))
    return found->get<std::vector<std::string>>();
  reportWanted(key, "a list of texts");
  return {};
}

std::vector<double> Config::getFloats(const std::string &key) const {
  const Json *found = find(key);
  if (!found)
    return {};
  auto isFinite = [](const Json &element) { return element.is_number() && std::isfinite(element.get<double>()); };
  if (found->is_array() && llvm::all_of(*found, isFinite))
    return found->get<std::vector<double>>();
  reportWanted(key, "a list of numbers");
  return {};
}

std::vector<int64_t> Config::getIndices(const std::string &key) const {
  const Json *found = find(key);
  if (!found)
    return {};
  if (found->is_array() && llvm::all_of(*found, [](const Json &element) { return isCount(element, 0); }))
    return found->get<std::vector<int64_t>>();
  reportWanted(key, "a list of numbers from 0 to 2^30");
  return {};
}

Config Config::getObject(const std::string &key) const {
  const Json *found = find(key);
  if (found && !found->is_object())
    reportWanted(key, "an object");
  return Config(found && found->is_object() ? *found : Json::object(), report, path + key + ".", file);
}

void Config::reportUnsupported(const std::string &key, const std::string &found, const std::string &known) const {
  report.add(ImportFault::unsupported,
             file + ": '" + path + key + "' is '" + found + "', which is not supported; known are " + known);
}

void Config::refuse(const std::string &key) const {
  if (getBool(key, false))
    report.add(ImportFault::unsupported, file + ": '" + path + key + "' is true, which is not supported");
}
