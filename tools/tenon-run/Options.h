//===- Options.h - the command line of tenon-run -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_OPTIONS_H
#define TENON_TOOLS_TENON_RUN_OPTIONS_H

#include "tools/tenon-run/Compare.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::run {

struct Options {
  bool help = false, version = false;
  std::string artifact;
  std::vector<std::string> inputs, inputShapes, sizes; // NAME=VALUE, or VALUE alone
  std::vector<std::string> outputs;                    // NAME=FILE, or FILE alone
  std::vector<std::string> plugins;
  std::string weightsDir, outputDir, testData, profile, target, device = "cpu";
  Tolerance tolerance;
  bool benchmark = false, layers = false, planOnly = false, json = false;
  bool samples = false; // of --benchmark --json: every time
  bool cold = false;    // of --profile: the first run
  tenon_verify verify = TENON_VERIFY_USED;
  double duration = 2;            // seconds of measured runs, where `runs` is 0
  uint32_t runs = 0, threads = 0; // 0: as many as fit, and as there are CPUs
  std::optional<uint32_t> warmup; // runs; without it some time
  uint64_t memoryLimit = 0, weightBudget = 0;
  tenon_read_ahead readAhead = TENON_READ_AHEAD_COLD;
  uint32_t program = TENON_ANY_PROGRAM;
  bool isGeneral = false; // the program for all sizes, whatever its number
  bool hasSeed = false;
  uint64_t seed = 0;
  std::string restoreState, saveState; // files
  std::vector<std::string> setStates;
  uint32_t sequences = 1; // of a run, each with states of its own: the batch

  /// True if the model runs more than once for one result.
  bool repeats() const { return benchmark || layers || !profile.empty(); }
};

/// Parses the arguments of main(). Fails with TENON_MISUSE.
Status parseOptions(int count, char **arguments, Options *options);

/// Prints "tenon-run: error: MESSAGE" to standard error.
void printError(const char *message);

/// What --help prints.
std::string helpText();

/// Splits an argument "NAME=VALUE", where NAME is in `names`. `*index` is its index; `*value` is the rest. Names may
/// contain '='. If there is only one name, it may be omitted.
bool splitNamed(const std::string &argument, const std::vector<std::string> &names, size_t *index, std::string *value);

/// A whole number without sign.
bool parseNumber(const std::string &text, uint64_t *value);

/// "1x3x32", or "scalar".
bool parseShape(const std::string &text, std::vector<int64_t> *dims);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_OPTIONS_H
