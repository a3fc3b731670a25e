//===- Options.cpp - the command line of tenon-run -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Options.h"

#include "runtime/format/Layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace tenon::run {

bool parseNumber(const std::string &text, uint64_t *value) {
  *value = 0;
  for (char c : text)
    if (c < '0' || c > '9' || __builtin_mul_overflow(*value, 10, value) ||
        __builtin_add_overflow(*value, uint64_t(c - '0'), value))
      return false;
  return !text.empty();
}

bool parseShape(const std::string &text, std::vector<int64_t> *dims) {
  dims->clear();
  if (text == "scalar")
    return true;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find('x', start), text.size());
    uint64_t dim;
    if (!parseNumber(text.substr(start, end - start), &dim) || dim > INT64_MAX || dims->size() >= fmt::kMaxRank)
      return false;
    dims->push_back(int64_t(dim));
    start = end + 1;
  }
  return true;
}

/// A number of bytes; K, M and G stand for powers of 1024.
static bool parseBytes(std::string text, uint64_t *value) {
  unsigned shift = 0;
  if (!text.empty()) {
    const char *units = "KMG";
    if (const char *unit = strchr(units, text.back()); unit && *unit) {
      shift = 10 * unsigned(unit - units + 1);
      text.pop_back();
    }
  }
  return parseNumber(text, value) && !__builtin_mul_overflow(*value, uint64_t(1) << shift, value);
}

static bool parseCount(const std::string &text, uint32_t *value) {
  uint64_t number;
  if (!parseNumber(text, &number) || number > 1'000'000'000)
    return false;
  *value = uint32_t(number);
  return true;
}

/// A program's number, or "general".
static bool parseProgram(const std::string &text, Options *options) {
  options->isGeneral = text == "general";
  return options->isGeneral || parseCount(text, &options->program);
}

static bool parseTolerance(const std::string &text, double *value) {
  char *end;
  *value = strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(*value) && *value >= 0;
}

namespace {
/// One option, declared once: for the parser and for --help.
struct Flag {
  const char *name;
  const char *value; // what it takes, for --help; null where it takes nothing
  const char *help;
  bool (*apply)(Options &options, const std::string &value);
};
} // namespace

static constexpr Flag kFlags[] = {
    {"--input", "NAME=FILE",
     "value of an input: a .npy file, an ONNX file (.pb), zeros, ones or\nrandom:SEED; for a sequence a "
     "folder with 0.npy, 1.npy...; for an\noptional also none; NAME= may be left out where there is one "
     "input",
     [](Options &o, const std::string &v) { return o.inputs.push_back(v), true; }},
    {"--input-shape", "NAME=1x3x32", "shape of an input that zeros, ones or random makes",
     [](Options &o, const std::string &v) { return o.inputShapes.push_back(v), true; }},
    {"--size", "SYMBOL=N", "value of an open dimension, for all inputs that are made",
     [](Options &o, const std::string &v) { return o.sizes.push_back(v), true; }},
    {"--output", "NAME=FILE.npy", "where to write an output, a sequence as a folder; without it a\nsummary is printed",
     [](Options &o, const std::string &v) { return o.outputs.push_back(v), true; }},
    {"--output-dir", "DIR", "write every output to DIR/NAME.npy, a sequence to DIR/NAME/0.npy...",
     [](Options &o, const std::string &v) { return o.outputDir = v, !v.empty(); }},
    {"--test-data", "DIR",
     "run the inputs of an ONNX test_data_set folder and compare the outputs;\nexit 5 where they differ",
     [](Options &o, const std::string &v) { return o.testData = v, !v.empty(); }},
    {"--rtol", "R", "relative tolerance of --test-data (1e-3)",
     [](Options &o, const std::string &v) { return parseTolerance(v, &o.tolerance.relative); }},
    {"--atol", "A", "absolute tolerance of --test-data (1e-7); integers are compared\nexactly without it",
     [](Options &o, const std::string &v) {
       o.tolerance.forIntegers = true;
       return parseTolerance(v, &o.tolerance.absolute);
     }},
    {"--benchmark", nullptr, "run many times and print times; inputs without a value are random",
     [](Options &o, const std::string &) { return o.benchmark = true; }},
    {"--plan-only", nullptr,
     "run nothing; print the memory that the inputs' sizes need, which --size,\n--input-shape or --input say",
     [](Options &o, const std::string &) { return o.planOnly = true; }},
    {"--runs", "N", "measured runs of --benchmark (20)",
     [](Options &o, const std::string &v) { return parseCount(v, &o.runs) && o.runs > 0; }},
    {"--warmup", "N", "runs before them (3)",
     [](Options &o, const std::string &v) { return parseCount(v, &o.warmup); }},
    {"--threads", "T", "threads to use; as many as there are CPUs for this process without it",
     [](Options &o, const std::string &v) { return parseCount(v, &o.threads) && o.threads > 0; }},
    {"--seed", "N", "seed of the random numbers that a model draws; each run has its own without it",
     [](Options &o, const std::string &v) { return o.hasSeed = true, parseNumber(v, &o.seed); }},
    {"--json", nullptr, "print results as JSON", [](Options &o, const std::string &) { return o.json = true; }},
    {"--profile", "FILE.json", "write a Chrome trace: one slice an instruction a thread",
     [](Options &o, const std::string &v) { return o.profile = v, !v.empty(); }},
    {"--device", "D", "device to run on: cpu",
     [](Options &o, const std::string &v) { return o.device = v, !v.empty(); }},
    {"--target", "T",
     "use the artifact's code for this target (x86-64-v3, host...); without it\nthe first that this CPU can run",
     [](Options &o, const std::string &v) { return o.target = v, !v.empty(); }},
    {"--plugin", "FILE", "a plug-in with operators that the model calls; may be repeated",
     [](Options &o, const std::string &v) { return o.plugins.push_back(v), !v.empty(); }},
    {"--program", "K|general",
     "run the artifact's program number K, or the one for all sizes; without\nit the first that the sizes fit",
     [](Options &o, const std::string &v) { return parseProgram(v, &o); }},
    {"--memory-limit", "BYTES", "fail before the run where it needs more; K, M and G are understood",
     [](Options &o, const std::string &v) { return parseBytes(v, &o.memoryLimit) && o.memoryLimit > 0; }},
    {"--verify", nullptr,
     "check the hashes of all sections before the run; without it weights are checked\nwhen they are first used",
     [](Options &o, const std::string &) { return o.verify = TENON_VERIFY_ALL, true; }},
    {"--no-verify", nullptr, "do not check the weights' hashes",
     [](Options &o, const std::string &) { return o.verify = TENON_VERIFY_NONE, true; }},
    {"--help", nullptr, "print this", [](Options &o, const std::string &) { return o.help = true; }},
    {"--version", nullptr, "print the version", [](Options &o, const std::string &) { return o.version = true; }},
};

std::string helpText() {
  std::string text = "usage: tenon-run ARTIFACT [OPTION...]\n\n"
                     "Runs a compiled model.\n\n"
                     "  tenon-run model.tenon --input x=cat.npy --output y=probs.npy\n"
                     "  tenon-run model.tenon --benchmark --size batch=8 --json\n\n"
                     "options:\n";
  for (const Flag &flag : kFlags) {
    std::string left = std::string("  ") + flag.name + (flag.value ? std::string(" ") + flag.value : "");
    constexpr size_t kColumn = 30;
    left.resize(std::max(left.size() + 1, kColumn), ' ');
    text += left;
    for (const char *c = flag.help; *c; ++c)
      text.append(1, *c).append(*c == '\n' ? kColumn : 0, ' ');
    text += '\n';
  }
  text += "\nexit codes: 0 done; 1 artifact or input at fault; 2 wrong usage; 3 not supported; 4 resources;\n"
          "            5 a comparison failed; 70 a fault of the compiler or the runtime\n";
  return text;
}

static const Flag *findFlag(const std::string &name) {
  for (const Flag &flag : kFlags)
    if (name == flag.name)
      return &flag;
  return nullptr;
}

#define USAGE(format, ...) Status::make(TENON_MISUSE, format "; see tenon-run --help", __VA_ARGS__)

Status parseOptions(int count, char **arguments, Options *options) {
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      if (!options->artifact.empty())
        return USAGE("two artifacts, '%s' and '%s'", options->artifact.c_str(), argument.c_str());
      options->artifact = argument;
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    const Flag *flag = findFlag(name);
    if (!flag)
      return USAGE("unknown option '%s'", name.c_str());
    std::string value;
    if (!flag->value && equals != argument.npos)
      return USAGE("option '%s' takes no value", name.c_str());
    if (flag->value) {
      if (equals == argument.npos && i + 1 == count)
        return USAGE("option '%s' wants %s", name.c_str(), flag->value);
      value = equals == argument.npos ? arguments[++i] : argument.substr(equals + 1);
    }
    if (!flag->apply(*options, value))
      return USAGE("option '%s' wants %s, not '%s'", name.c_str(), flag->value, value.c_str());
  }
  if (options->help || options->version)
    return {};
  if (options->artifact.empty())
    return USAGE("%s", "an artifact is wanted");
  if (options->benchmark && !options->testData.empty())
    return USAGE("%s", "--benchmark and --test-data do not go together");
  if (options->planOnly && (options->benchmark || !options->testData.empty() || !options->profile.empty()))
    return USAGE("%s", "--plan-only runs nothing: it does not go with --benchmark, --test-data and --profile");
  if (options->benchmark && (!options->outputs.empty() || !options->outputDir.empty()))
    return USAGE("%s", "--benchmark writes no outputs");
  return {};
}

bool splitNamed(const std::string &argument, const std::vector<std::string> &names, size_t *index, std::string *value) {
  // The longest name wins: one may begin with another and '='.
  for (size_t equals = argument.rfind('='); equals != argument.npos;
       equals = equals ? argument.rfind('=', equals - 1) : argument.npos)
    for (size_t i = 0; i < names.size(); ++i)
      if (argument.compare(0, equals, names[i]) == 0 && names[i].size() == equals) {
        *index = i;
        *value = argument.substr(equals + 1);
        return true;
      }
  if (names.size() != 1 || argument.find('=') != argument.npos)
    return false;
  *index = 0;
  *value = argument;
  return true;
}

} // namespace tenon::run
