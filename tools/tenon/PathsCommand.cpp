//===- PathsCommand.cpp - tenon paths ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/errors/CompileError.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/PlanList.h"
#include "tools/tenon/Progress.h"
#include "tools/tenon/Usage.h"
#include "tools/tenon/debug/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <unistd.h>

using namespace tenon;
using Clock = std::chrono::steady_clock;

namespace {
struct PathsArguments {
  CompileArguments compile;
  std::optional<size_t> first, show, random;
  uint64_t seed = 0;
  std::optional<double> errorBudget;
  double budget = 60; ///< seconds
  bool isChecked = false, isTimed = false, resumes = false, json = false, isUncached = false;
  std::string chart;
  std::vector<const CLI::Option *> ofCompilation; ///< that `tenon compile` has, too
};

/// Iterates over plans: those within the error budget from the cheapest one on, or random ones.
class PlanWalk {
public:
  PlanWalk(const PathExplorer &explorer, const PathsArguments &arguments)
      : explorer(explorer),
        ordered(explorer.listPlans(arguments.errorBudget.value_or(arguments.compile.options.tolerance))),
        seed(arguments.seed), random(arguments.random) {}

  std::optional<ListedPlan> next();
  std::string count() const { return ordered.count(); }

private:
  std::optional<ListedPlan> drawNext();

  const PathExplorer &explorer;
  PlanFamilies ordered;
  uint64_t seed;
  std::optional<size_t> random; ///< how many
  size_t number = 0;
  std::optional<double> firstCost;
};

/// Runs plans while there is time, and shows the progress on a terminal.
class PlanRuns {
public:
  PlanRuns(PathExplorer &explorer, const PathsArguments &arguments, PlanList &list)
      : explorer(explorer), arguments(arguments), list(list), isTerminal(isatty(STDERR_FILENO) && !arguments.json) {}

  llvm::Error run(PlanWalk &walk);

private:
  void show(size_t number) const;
  void hide() const;
  double getSecondsLeft() const {
    return arguments.budget - std::chrono::duration<double>(Clock::now() - begin).count();
  }

  PathExplorer &explorer;
  const PathsArguments &arguments;
  PlanList &list;
  bool isTerminal;
  Clock::time_point begin;
};
} // namespace

static ListedPlan toListed(ExploredPlan explored) {
  ListedPlan plan;
  plan.options = std::move(explored.options);
  plan.estimate = explored.cost;
  plan.estimatedError = explored.error;
  return plan;
}

std::optional<ListedPlan> PlanWalk::drawNext() {
  if (number == *random)
    return std::nullopt;
  return toListed(explorer.drawPlan(seed, number));
}

std::optional<ListedPlan> PlanWalk::next() {
  std::optional<ListedPlan> plan;
  if (random)
    plan = drawNext();
  else if (std::optional<FamilyPlan> own = ordered.next())
    plan = toListed(explorer.getPlan(*own));
  if (!plan)
    return std::nullopt;
  plan->number = ++number;
  if (!firstCost)
    firstCost = plan->estimate;
  plan->estimate = *firstCost > 0 ? plan->estimate / *firstCost : 1;
  return plan;
}

void PlanRuns::show(size_t number) const {
  if (!isTerminal)
    return;
  std::string best = "none yet";
  if (const ListedPlan *fastest = list.findFastest())
    best = llvm::formatv("plan {0}, {1:F3} of the chosen one", fastest->number, fastest->measured->ratio).str();
  llvm::errs() << "\r\x1b[K"
               << llvm::formatv("plan {0}; best: {1}; {2:F0} s left", number, best, std::max(getSecondsLeft(), 0.0))
               << '\r';
  llvm::errs().flush();
}

void PlanRuns::hide() const {
  if (isTerminal)
    llvm::errs() << "\r\x1b[K";
}

llvm::Error PlanRuns::run(PlanWalk &walk) {
  // Enough for dozens of rounds of most models, which are measured in turn.
  constexpr double kSecondsOfPlan = 1;
  constexpr size_t kMaxExcluded = 64; // limit: of time, where forms exclude each other in very many plans
  if (llvm::Error error = explorer.prepare())
    return error;
  begin = Clock::now();
  for (size_t count = 0, numExcluded = 0; !arguments.first || count < *arguments.first;) {
    if ((arguments.isTimed && count > 0 && getSecondsLeft() <= 0) || numExcluded > kMaxExcluded)
      break;
    std::optional<ListedPlan> plan = walk.next();
    if (!plan)
      break;
    show(plan->number);
    llvm::Expected<std::optional<PlanMeasurement>> measured =
        arguments.isTimed ? explorer.measure(plan->options, kSecondsOfPlan, arguments.resumes)
                          : explorer.check(plan->options);
    hide();
    if (!measured)
      return measured.takeError();
    // Its forms exclude each other with its paths.
    if (!*measured) {
      ++numExcluded;
      continue;
    }
    ++count;
    plan->measured = **measured;
    list.add(std::move(*plan));
  }
  return llvm::Error::success();
}

static llvm::Error writeChart(const PathsArguments &arguments, const PlanList &list) {
  std::vector<PlanPoint> points = list.listPoints();
  const CompileOptions &options = arguments.compile.options;
  if (points.empty())
    return makeError(CompileStatus::unsupported, arguments.chart + ": no plan was timed that has an error");
  bool isSvg = llvm::sys::path::extension(arguments.chart) == ".svg";
  llvm::Error error = writeOutputFile(arguments.chart, [&](llvm::raw_pwrite_stream &os) {
    if (isSvg)
      printPlanChart(points, options.tolerance, os);
    else
      printPlanPage(llvm::sys::path::filename(options.input), points, options.tolerance, os);
  });
  return error ? makeError(CompileStatus::resources,
                           "cannot write " + arguments.chart + ": " + llvm::toString(std::move(error)))
               : llvm::Error::success();
}

/// Returns the plan with a number; fails if there are fewer.
static llvm::Expected<ListedPlan> findPlan(PlanWalk &walk, size_t number) {
  for (size_t i = 1; std::optional<ListedPlan> plan = walk.next(); ++i)
    if (i == number)
      return std::move(*plan);
  return makeError(CompileStatus::misuse, "--show: there are fewer plans than " + std::to_string(number));
}

/// Returns the options for compiling the same model, as they were given; the pins are those of the plan.
static std::string getCompileArguments(const PathsArguments &arguments) {
  std::string text;
  for (const CLI::Option *option : arguments.ofCompilation) {
    if (llvm::is_contained({"model", "--force", "--exclude"}, option->get_name()))
      continue;
    for (const std::string &value : option->results())
      text += " " + option->get_name() + (option->get_type_size_max() > 0 ? " " + debug::quote(value) : "");
  }
  return text;
}

static llvm::Error explore(PathExplorer &explorer, PathsArguments &arguments) {
  CompileOptions &options = arguments.compile.options;
  PlanList list(explorer, options, getCompileArguments(arguments), arguments.json);
  PlanWalk walk(explorer, arguments);
  if (arguments.show) {
    llvm::Expected<ListedPlan> plan = findPlan(walk, *arguments.show);
    if (!plan)
      return plan.takeError();
    list.printPlan(*plan);
    options.pins = explorer.getPins(plan->options);
    return llvm::Error::success();
  }
  list.printDecisions(walk.count());
  if (arguments.isTimed || arguments.isChecked) {
    if (llvm::Error error = PlanRuns(explorer, arguments, list).run(walk))
      return error;
  } else {
    constexpr size_t kListed = 10;
    for (size_t i = 0, count = arguments.first.value_or(arguments.random.value_or(kListed)); i < count; ++i) {
      std::optional<ListedPlan> plan = walk.next();
      if (!plan)
        break;
      list.add(std::move(*plan));
    }
  }
  list.finish();
  return arguments.chart.empty() ? llvm::Error::success() : writeChart(arguments, list);
}

/// Fails if arguments conflict.
static llvm::Error checkArguments(const PathsArguments &arguments) {
  const CompileOptions &options = arguments.compile.options;
  if (!arguments.compile.tune.empty())
    return makeError(CompileStatus::misuse, "--tune: pass --profile to time plans, or use tenon compile");
  if (arguments.isChecked && arguments.isTimed)
    return makeError(CompileStatus::misuse,
                     "--check and --profile exclude each other: plans that are timed are checked, too");
  bool runs = arguments.isChecked || arguments.isTimed;
  for (auto [name, isGiven] : {std::pair("--resume", arguments.resumes), {"--report", !arguments.chart.empty()}})
    if (isGiven && !arguments.isTimed)
      return makeError(CompileStatus::misuse, llvm::Twine(name) + " needs --profile");
  if (arguments.show && runs)
    return makeError(CompileStatus::misuse, "--show describes a plan; --check and --profile run several");
  if (!options.output.empty() && !arguments.show)
    return makeError(CompileStatus::misuse, "--output needs --show: which plan is compiled");
  // Checked first, so that minutes of measurements are not lost because a file cannot be written.
  for (auto [name, file] : {std::pair("--report", &arguments.chart), {"--output", &options.output}})
    if (llvm::StringRef folder = llvm::sys::path::parent_path(*file);
        !folder.empty() && !llvm::sys::fs::is_directory(folder))
      return makeError(CompileStatus::misuse, llvm::Twine(name) + ": there is no folder '" + folder.str() + "'");
  if (runs && options.skipsError)
    return makeError(CompileStatus::misuse,
                     "--no-measure-error: plans that are run are always compared with the reference");
  return llvm::Error::success();
}

static int run(PathsArguments &arguments) {
  CompileOptions &options = arguments.compile.options;
  if (llvm::Error error = checkArguments(arguments))
    return finish(std::move(error));
  // Times are added to the records.
  if (arguments.isTimed)
    arguments.compile.tune = std::to_string(arguments.budget);
  if (!resolveCompileOptions(arguments.compile))
    return 2;
  std::string cache = arguments.isUncached ? "" : CacheStore::getDefaultFolder();
  CompileOptions exploring = options;
  exploring.output.clear();
  exploring.cacheFolder = cache;
  CompileStatus status = explorePaths(
      exploring, errors(), [&](PathExplorer &explorer) -> llvm::Error { return explore(explorer, arguments); });
  if (status != CompileStatus::done || options.output.empty())
    return static_cast<int>(status);
  if (llvm::sys::path::extension(options.output) == ".mlir")
    options.emit = kIROutput;
  // The compilation runs in this process, because a process with threads must not be forked.
  options.cacheFolder = cache;
  ResultOrigin origin;
  options.onKernels = [&](const KernelCounts &counts) { origin.kernels = counts; };
  auto begin = Clock::now();
  status = compileModel(options, errors());
  if (status == CompileStatus::done)
    printResult(options, origin, std::chrono::duration<double>(Clock::now() - begin).count(), arguments.json);
  return static_cast<int>(status);
}

static void addWalkOptions(CLI::App &command, PathsArguments &arguments) {
  constexpr char kGroup[] = "Plans";
  auto number = [](std::optional<size_t> &value, const char *name, size_t least) {
    return [&value, name, least](const std::string &text) {
      size_t parsed = 0;
      if (llvm::StringRef(text).getAsInteger(10, parsed) || parsed < least)
        throw CLI::ValidationError(name,
                                   "expected a whole number from " + std::to_string(least) + " on, got '" + text + "'");
      value = parsed;
    };
  };
  command
      .add_option_function<std::string>("--first", number(arguments.first, "--first", 1),
                                        "number of plans to list; default: 10, or as many as the budget allows")
      ->type_name("N")
      ->group(kGroup);
  auto *random = command
                     .add_option_function<std::string>("--random", number(arguments.random, "--random", 1),
                                                       "number of random plans, with any error, of which "
                                                       "the first have each path once")
                     ->type_name("N")
                     ->group(kGroup);
  command.add_option("--seed", arguments.seed, "of --random")
      ->needs(random)
      ->capture_default_str()
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option("--error-budget", arguments.errorBudget,
                  "largest estimated error of a plan that is listed, the root of the sum of the squared errors of all "
                  "operations; default: the tolerance")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("E")
      ->group(kGroup);
  command
      .add_option_function<std::string>("--show", number(arguments.show, "--show", 1),
                                        "describe the plan of this number, and how to compile it")
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option("-o,--output", arguments.compile.options.output,
                  "with --show: compile the plan to FILE, which is an artifact, or IR where it ends in .mlir")
      ->type_name("FILE")
      ->group(kGroup);
}

static void addRunOptions(CLI::App &command, PathsArguments &arguments) {
  constexpr char kGroup[] = "Measuring plans";
  command.add_flag("--check", arguments.isChecked, "compile the plans and compare them with the f64 reference")
      ->group(kGroup);
  auto *profile = command
                      .add_flag("--profile", arguments.isTimed,
                                "run the plans as well, in turn with the one that tenon compile chooses, and keep the "
                                "records: compilations take a plan that is faster")
                      ->group(kGroup);
  command.add_option("--budget", arguments.budget, "seconds, or 10m or 1h, after which no other plan is begun")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::CASE_SENSITIVE, "")
                      .description(""))
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->needs(profile)
      ->capture_default_str()
      ->type_name("TIME")
      ->group(kGroup);
  command.add_flag("--resume", arguments.resumes, "plans that have a record are not measured again")->group(kGroup);
  command
      .add_option("--report", arguments.chart,
                  "also write a chart of times over errors: a page, or a picture where FILE ends in .svg")
      ->type_name("FILE")
      ->group(kGroup);
}

void tenon::addPathsCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<PathsArguments>();
  CLI::App *command = app.add_subcommand("paths", "list, check and time the plans that a model has");
  addCompileOptions(*command, arguments->compile);
  for (const CLI::Option *option : std::as_const(*command).get_options())
    if (option != command->get_help_ptr())
      arguments->ofCompilation.push_back(option);
  addWalkOptions(*command, *arguments);
  addRunOptions(*command, *arguments);
  command->add_flag("--no-cache", arguments->isUncached, "generate all kernels again; see tenon cache");
  command->add_flag("--json", arguments->json, "print JSON");
  addExamples(*command,
              {"tenon paths model.onnx --tolerance 1e-2", "tenon paths model.onnx --show 17 -o plan17.tenon",
               "tenon paths model.onnx --profile --budget 10m --resume --report plans.html"},
              "A plan is a form for each site of the graph that has several, such as products of one value that may be "
              "one product, and a path for each region: operations that are equal but for their weights.");
  command->callback([arguments, &status] { status = run(*arguments); });
}
