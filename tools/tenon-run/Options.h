//===- Options.h - the command line of tenon-run -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_OPTIONS_H
#define TENON_TOOLS_TENON_RUN_OPTIONS_H

#include "tools/tenon-run/Compare.h"

#include <string>
#include <vector>

namespace tenon::run {

struct Options {
  bool help = false, version = false;
  std::string artifact;
  std::vector<std::string> inputs, inputShapes, sizes; // NAME=VALUE, or VALUE alone
  std::vector<std::string> outputs;                    // NAME=FILE, or FILE alone
  std::vector<std::string> plugins;
  std::string outputDir, testData, profile, target, device = "cpu";
  Tolerance tolerance;
  bool benchmark = false, planOnly = false, json = false;
  tenon_verify verify = TENON_VERIFY_USED;
  uint32_t runs = 20, warmup = 3, threads = 0;
  uint64_t memoryLimit = 0;
  uint32_t program = TENON_ANY_PROGRAM;
  bool isGeneral = false; // the program for all sizes, whatever its number
  bool hasSeed = false;
  uint64_t seed = 0;
};

/// Reads the arguments of main(). Fails with TENON_MISUSE.
Status parseOptions(int count, char **arguments, Options *options);

/// What --help prints.
std::string helpText();

/// An argument "NAME=VALUE" where `names` has NAME. `*index` tells which; `*value` is the rest. Names may
/// hold '=', too. Where there is one name alone, it may be left out.
bool splitNamed(const std::string &argument, const std::vector<std::string> &names, size_t *index, std::string *value);

/// A whole number without sign.
bool parseNumber(const std::string &text, uint64_t *value);

/// "1x3x32", or "scalar".
bool parseShape(const std::string &text, std::vector<int64_t> *dims);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_OPTIONS_H
