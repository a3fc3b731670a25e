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
#include <cstdio>
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

/// Parses a number of bytes; K, M and G stand for powers of 1024.
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

static bool parseReadAhead(const std::string &text, tenon_read_ahead *value) {
  constexpr const char *kNames[] = {"cold", "never", "always"};
  for (int i = 0; i < 3; ++i)
    if (text == kNames[i])
      return *value = tenon_read_ahead(i), true;
  return false;
}

static bool parseTolerance(const std::string &text, double *value) {
  char *end;
  *value = strtod(text.c_str(), &end);
  return !text.empty() && !*end && std::isfinite(*value) && *value >= 0;
}

namespace {
/// The declaration of an option, for the parser and for --help.
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
    {"--input-shape", "NAME=1x3x32", "shape of an input that zeros, ones or random generates",
     [](Options &o, const std::string &v) { return o.inputShapes.push_back(v), true; }},
    {"--size", "SYMBOL=N", "value of a dynamic dimension, for all generated inputs",
     [](Options &o, const std::string &v) { return o.sizes.push_back(v), true; }},
    {"--output", "NAME=FILE.npy", "where to write an output, a sequence as a folder; without it a\nsummary is printed",
     [](Options &o, const std::string &v) { return o.outputs.push_back(v), true; }},
    {"--output-dir", "DIR", "write every output to DIR/NAME.npy, a sequence to DIR/NAME/0.npy...",
     [](Options &o, const std::string &v) { return o.outputDir = v, !v.empty(); }},
    {"--test-data", "DIR",
     "run the inputs of an ONNX test_data_set folder and compare the outputs;\nexit 5 where they differ",
     [](Options &o, const std::string &v) { return o.testData = v, !v.empty(); }},
    {"--rtol", "R",
     "with --test-data: compare as ONNX does, each element with A + R * |want|\n(R: 1e-3); default: the tolerances in "
     "data.json beside DIR, or the largest\nerror over the largest element with the artifact's tolerance",
     [](Options &o, const std::string &v) {
       o.tolerance.rule = Tolerance::byElement;
       return parseTolerance(v, &o.tolerance.relative);
     }},
    {"--atol", "A", "the absolute tolerance A of that (1e-7); without it, integers have to be\nequal",
     [](Options &o, const std::string &v) {
       o.tolerance.rule = Tolerance::byElement;
       o.tolerance.forIntegers = true;
       return parseTolerance(v, &o.tolerance.absolute);
     }},
    {"--benchmark", nullptr, "run many times and print times; inputs without a value are random",
     [](Options &o, const std::string &) { return o.benchmark = true; }},
    {"--layers", nullptr, "profile warm runs and print which kernels and layers their time goes to",
     [](Options &o, const std::string &) { return o.layers = true; }},
    {"--plan-only", nullptr,
     "print the memory needed for the sizes that --size, --input-shape or --input\ngive, without running",
     [](Options &o, const std::string &) { return o.planOnly = true; }},
    {"--duration", "SECONDS", "time of the measured runs of --benchmark and --layers (2)",
     [](Options &o, const std::string &v) { return parseTolerance(v, &o.duration) && o.duration <= 86400; }},
    {"--runs", "N", "number of measured runs, instead of --duration",
     [](Options &o, const std::string &v) { return parseCount(v, &o.runs) && o.runs > 0; }},
    {"--warmup", "N", "number of runs before them; default: 0.2 seconds of them",
     [](Options &o, const std::string &v) { return parseCount(v, &o.warmup.emplace()); }},
    {"--samples", nullptr, "with --benchmark --json: also every time that was measured",
     [](Options &o, const std::string &) { return o.samples = true; }},
    {"--threads", "T", "threads to use; default: the CPUs that this process may use",
     [](Options &o, const std::string &v) { return parseCount(v, &o.threads) && o.threads > 0; }},
    {"--seed", "N", "seed of the random numbers that a model draws; default: a new one for each run",
     [](Options &o, const std::string &v) { return o.hasSeed = true, parseNumber(v, &o.seed); }},
    {"--json", nullptr, "print results as JSON", [](Options &o, const std::string &) { return o.json = true; }},
    {"--profile", "FILE.json",
     "write a trace of one more, warm, run for ui.perfetto.dev or\nchrome://tracing: one slice per instruction and "
     "thread",
     [](Options &o, const std::string &v) { return o.profile = v, !v.empty(); }},
    {"--cold", nullptr, "with --profile: trace the first run instead",
     [](Options &o, const std::string &) { return o.cold = true; }},
    {"--device", "D", "device to run on: cpu",
     [](Options &o, const std::string &v) { return o.device = v, !v.empty(); }},
    {"--target", "T",
     "use the artifact's code for this target (x86-64-v3, host...); without it\nthe first that this CPU can run",
     [](Options &o, const std::string &v) { return o.target = v, !v.empty(); }},
    {"--weights-dir", "DIR",
     "folder with the files that weights of the artifact are in; default: that of\nthe artifact",
     [](Options &o, const std::string &v) { return o.weightsDir = v, !v.empty(); }},
    {"--plugin", "FILE", "a plug-in with operators that the model calls; may be repeated",
     [](Options &o, const std::string &v) { return o.plugins.push_back(v), !v.empty(); }},
    {"--program", "K|general",
     "run the artifact's program number K, or the one for all sizes; without\nit the first that the sizes fit",
     [](Options &o, const std::string &v) { return parseProgram(v, &o); }},
    {"--sequences", "COUNT",
     "run the program for so many sequences, each with states of its own, which\ntenon compile --sequences adds; "
     "inputs "
     "have this batch",
     [](Options &o, const std::string &v) {
       return parseCount(v, &o.sequences) && o.sequences > 0 && o.sequences <= 4096;
     }},
    {"--restore-state", "FILE", "begin with the states that --save-state wrote, instead of those of a new session",
     [](Options &o, const std::string &v) { return o.restoreState = v, !v.empty(); }},
    {"--set-state", "NAME=FILE.npy",
     "begin with this value of a state all of whose rows are live, such as the\nsampling of a language model; for all "
     "sequences",
     [](Options &o, const std::string &v) { return o.setStates.push_back(v), true; }},
    {"--save-state", "FILE", "after the run, write the states that the model keeps for the next run",
     [](Options &o, const std::string &v) { return o.saveState = v, !v.empty(); }},
    {"--memory-limit", "BYTES", "refuse to run if more memory is needed; BYTES may end in K, M or G",
     [](Options &o, const std::string &v) { return parseBytes(v, &o.memoryLimit) && o.memoryLimit > 0; }},
    {"--weight-budget", "BYTES",
     "have no more weights in memory than that: the others are read from the\nfile, ahead of their use, in every run",
     [](Options &o, const std::string &v) { return parseBytes(v, &o.weightBudget) && o.weightBudget > 0; }},
    {"--read-ahead", "cold|never|always",
     "whether threads read weights before the first run needs them; default:\nwhere they are not in memory yet",
     [](Options &o, const std::string &v) { return parseReadAhead(v, &o.readAhead); }},
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
                     "  tenon-run model.tenon --benchmark --size batch=8\n"
                     "  tenon-run model.tenon --layers --size batch=8\n\n"
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

void printError(const char *message) { fprintf(stderr, "tenon-run: error: %s\n", message); }

/// Returns the Levenshtein distance of two words.
static size_t countEdits(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

/// Returns "; did you mean '--output'?" if an option is similar.
static std::string suggestOption(const std::string &name) {
  const Flag *nearest = nullptr;
  size_t least = name.size() / 3 + 1;
  for (const Flag &flag : kFlags)
    if (size_t edits = countEdits(name, flag.name); edits < least) {
      least = edits;
      nearest = &flag;
    }
  return nearest ? std::string("; did you mean '") + nearest->name + "'?" : "";
}

#define USAGE(format, ...) Status::make(TENON_MISUSE, format "; see tenon-run --help", __VA_ARGS__)

/// Checks for conflicting modes, and for options that only one of them has.
static Status checkModes(const Options &options) {
  bool isTest = !options.testData.empty(), measures = options.benchmark || options.layers;
  if (measures && isTest)
    return USAGE("%s", "--test-data goes neither with --benchmark nor with --layers");
  if (options.planOnly && (measures || isTest || !options.profile.empty()))
    return USAGE("%s", "--plan-only runs nothing: it goes with none of --benchmark, --layers, --test-data, --profile");
  if (measures && (!options.outputs.empty() || !options.outputDir.empty()))
    return USAGE("%s", "--benchmark and --layers write no outputs");
  if (options.samples && !(options.benchmark && options.json))
    return USAGE("%s", "--samples is for --benchmark --json");
  if (options.cold && (options.profile.empty() || measures))
    return USAGE("%s", "--cold is for --profile without --benchmark and --layers");
  if (!options.saveState.empty() && (options.repeats() || isTest || options.planOnly))
    return USAGE("%s",
                 "--save-state is for one run: it goes with none of --benchmark, --layers, --profile, --test-data, "
                 "--plan-only");
  return {};
}

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
      return USAGE("unknown option '%s'%s", name.c_str(), suggestOption(name).c_str());
    std::string value;
    if (!flag->value && equals != argument.npos)
      return USAGE("%s takes no value", name.c_str());
    if (flag->value) {
      if (equals == argument.npos && i + 1 == count)
        return USAGE("%s: expected %s", name.c_str(), flag->value);
      value = equals == argument.npos ? arguments[++i] : argument.substr(equals + 1);
    }
    if (!flag->apply(*options, value))
      return USAGE("%s: expected %s, got '%s'", name.c_str(), flag->value, value.c_str());
  }
  if (options->help || options->version)
    return {};
  if (options->artifact.empty())
    return USAGE("%s", "no artifact is given");
  return checkModes(*options);
}

bool splitNamed(const std::string &argument, const std::vector<std::string> &names, size_t *index, std::string *value) {
  // The longest matching name is used, since one may be a prefix of another followed by '='.
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
