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

/// The fields of config.json or another file, or of an object in it. A getter that finds an error reports it and
/// returns a harmless value; a null field counts as absent.
class Config {
public:
  /// `path` is prepended to the names of fields in messages: "rope_scaling."; `file` is the name of the file.
  Config(Json fields, Report &report, std::string path = "", std::string file = "config.json")
      : fields(std::move(fields)), report(report), path(std::move(path)), file(std::move(file)) {}

  bool has(const std::string &key) const { return find(key) != nullptr; }
  /// True if the field is present and null, which means "none" for fields whose absence means a default.
  bool isNull(const std::string &key) const;
  /// Returns a number from 1 to 2^30; reports an error if it is absent and there is no default.
  int64_t getSize(const std::string &key, std::optional<int64_t> otherwise = std::nullopt) const;
  /// Returns a number from 0 to 2^30, such as that of a token or a layer.
  int64_t getIndex(const std::string &key, int64_t otherwise) const;
  double getFloat(const std::string &key, std::optional<double> otherwise = std::nullopt) const;
  bool getBool(const std::string &key, bool otherwise) const;
  std::string getString(const std::string &key, const std::string &otherwise = "") const;
  /// An array of texts; empty where it is absent.
  std::vector<std::string> getStrings(const std::string &key) const;
  /// Returns an array of finite numbers; empty if it is absent.
  std::vector<double> getFloats(const std::string &key) const;
  /// Returns an array of numbers from 0 to 2^30, such as those of tokens; empty if it is absent.
  std::vector<int64_t> getIndices(const std::string &key) const;
  /// Returns an object field; one without fields if it is absent.
  Config getObject(const std::string &key) const;

  Report &getReport() const { return report; }
  /// Reports that the value of a field is unsupported.
  void reportUnsupported(const std::string &key, const std::string &found, const std::string &known) const;
  /// Reports that a true field requests an unsupported feature.
  void refuse(const std::string &key) const;

private:
  const Json *find(const std::string &key) const;
  int64_t getCount(const std::string &key, uint64_t min, std::optional<int64_t> otherwise) const;
  void reportWanted(const std::string &key, const std::string &wanted) const;

  Json fields;
  Report &report;
  std::string path, file;
};

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_CONFIG_H
