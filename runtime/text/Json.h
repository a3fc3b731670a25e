//===- Json.h - JSON that nobody vouches for ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JSON_H
#define TENON_RUNTIME_TEXT_JSON_H

#include "runtime/base/Status.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::text {

using Json = nlohmann::json;
using rt::Status;

/// Parses a JSON text. Fails if it is invalid, has a duplicate key, or nests deeper than tokenizer files: readers
/// disagree about such texts, or they are crafted to consume memory.
Status parseJson(std::string_view text, Json &json);
/// Fails where parseJson does, and keeps nothing.
Status checkJson(std::string_view text);

/// The fields of a JSON object. The first error is kept, so that all fields can be read before it is checked; invalid
/// fields have an arbitrary value.
class Fields {
public:
  /// `path` names the object in errors: "model", "normalizer". `json` must outlive this.
  Fields(const Json &json, std::string path);

  bool has(const char *key) const { return find(key) != nullptr; }
  /// Without `otherwise` the field is required; null counts as absent.
  std::string getString(const char *key, const std::optional<std::string> &otherwise = std::nullopt);
  bool getBool(const char *key, std::optional<bool> otherwise = std::nullopt);
  /// An integer from 0 to `most`.
  uint64_t getCount(const char *key, uint64_t most, std::optional<uint64_t> otherwise = std::nullopt);
  double getNumber(const char *key, std::optional<double> otherwise = std::nullopt);
  /// A string that is one character.
  char32_t getCharacter(const char *key, std::optional<char32_t> otherwise = std::nullopt);
  /// Returns an array or an object; an empty one if it is absent or invalid.
  const Json &getArray(const char *key);
  const Json &getObject(const char *key);

  const std::string &getPath() const { return path; }
  /// Keeps the fault, if it is the first.
  void fail(Status status);
  /// The same, for a field with an unknown value.
  void failUnknown(const char *key, const std::string &found, const char *known);
  /// Of all fields that were read.
  Status takeStatus() { return std::move(status); }

private:
  const Json *find(const char *key) const;
  /// Returns the field, or null; records an error if it is required.
  const Json *read(const char *key, bool isRequired, bool (*isOfType)(const Json &), const char *wanted);

  const Json &json;
  std::string path;
  Status status;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_JSON_H
