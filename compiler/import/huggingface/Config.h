//===- Config.h - reads the fields of config.json -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_CONFIG_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_CONFIG_H

#include "compiler/import/Report.h"
#include "compiler/import/huggingface/Json.h"

namespace tenon::huggingface {

/// The fields of config.json, or of an object in it. A reader that finds a fault reports it and gives a value
/// that does no harm; a field that is null counts as absent.
class Config {
public:
  /// `path` stands before the names of fields in messages: "rope_scaling.".
  Config(Json fields, Report &report, std::string path = "")
      : fields(std::move(fields)), report(report), path(std::move(path)) {}

  bool has(const std::string &key) const { return find(key) != nullptr; }
  /// Whether the field is there and null, which stands for "none" where its absence stands for a default.
  bool isNull(const std::string &key) const;
  /// A number from 1 to 2^30; a fault where it is absent and there is no other.
  int64_t getSize(const std::string &key, std::optional<int64_t> otherwise = std::nullopt) const;
  /// A number from 0 to 2^30, as those of tokens and layers are.
  int64_t getIndex(const std::string &key, int64_t otherwise) const;
  double getFloat(const std::string &key, std::optional<double> otherwise = std::nullopt) const;
  bool getBool(const std::string &key, bool otherwise) const;
  std::string getString(const std::string &key, const std::string &otherwise = "") const;
  /// An array of texts; empty where it is absent.
  std::vector<std::string> getStrings(const std::string &key) const;
  /// An array of finite numbers; empty where it is absent.
  std::vector<double> getFloats(const std::string &key) const;
  /// An object in it; one without fields where it is absent.
  Config getObject(const std::string &key) const;

  Report &getReport() const { return report; }
  /// Reports that a field has a value that is not known here.
  void reportUnsupported(const std::string &key, const std::string &found, const std::string &known) const;
  /// Reports a field that is true and asks for what there is not.
  void refuse(const std::string &key) const;

private:
  const Json *find(const std::string &key) const;
  int64_t getCount(const std::string &key, uint64_t min, std::optional<int64_t> otherwise) const;
  void reportWanted(const std::string &key, const std::string &wanted) const;

  Json fields;
  Report &report;
  std::string path;
};

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_CONFIG_H
