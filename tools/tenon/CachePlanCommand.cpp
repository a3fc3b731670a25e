//===- CachePlanCommand.cpp - tenon cache plan -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheStore.h"
#include "compiler/driver/KernelSurvey.h"
#include "compiler/errors/CompileError.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Table.h"
#include "tools/tenon/CacheSubcommands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

using namespace tenon;
using Json = nlohmann::ordered_json;

namespace {
constexpr char kCompiled[] = "compiled", kPlanned[] = "planned";

struct PlanArguments {
  CompileArguments compile;
  std::string only; ///< one of the two states; empty: both
  std::string node, operation;
  bool json = false;
};
} // namespace

static const char *getState(const PlannedKernel &kernel) { return kernel.isCompiled ? kCompiled : kPlanned; }

static std::vector<std::string> listKernelNodes(const PlannedKernel &kernel) {
  std::set<std::string> nodes;
  for (const CacheUse &use : kernel.entry.uses)
    if (!use.node.empty())
      nodes.insert(use.node);
  return {nodes.begin(), nodes.end()};
}

static bool isShown(const PlannedKernel &kernel, const PlanArguments &arguments) {
  auto contains = [](llvm::StringRef text, llvm::StringRef part) { return text.contains_insensitive(part); };
  bool hasNode = arguments.node.empty() || llvm::any_of(kernel.entry.uses, [&](const CacheUse &use) {
                   return contains(use.node, arguments.node);
                 });
  return hasNode && (arguments.only.empty() || arguments.only == getState(kernel)) &&
         contains(kernel.entry.title, arguments.operation);
}

static Json toJson(const PlannedKernel &kernel) {
  Json json = {{"state", getState(kernel)},
               {"key", kernel.entry.key},
               {"title", kernel.entry.title},
               {"hardware", kernel.entry.hardware},
               {"nodes", listKernelNodes(kernel)}};
  if (kernel.isCompiled) {
    json["bytes"] = kernel.entry.bytes;
    json["last_use"] = kernel.entry.lastUse / 1000000;
  }
  return json;
}

static void printSurvey(const KernelSurvey &survey, const PlanArguments &arguments) {
  constexpr size_t kKeyDigits = 12, kWidth = 120;
  size_t numCompiled = llvm::count_if(survey.kernels, [](const PlannedKernel &kernel) { return kernel.isCompiled; });
  Table table({"key", "state", ">size", "last use", "~what", "~nodes"});
  Json list = Json::array();
  for (const PlannedKernel &kernel : survey.kernels) {
    if (!isShown(kernel, arguments))
      continue;
    const CacheEntry &entry = kernel.entry;
    list.push_back(toJson(kernel));
    std::vector<std::string> nodes = listKernelNodes(kernel);
    for (std::string &node : nodes)
      node = getPrintable(node);
    table.add({entry.key.substr(0, kKeyDigits), getState(kernel), kernel.isCompiled ? bytesText(entry.bytes) : "-",
               kernel.isCompiled ? getTimeText(entry.lastUse) : "-", getPrintable(entry.title),
               llvm::join(nodes, "; ")});
  }
  if (arguments.json) {
    Json json = {{"kernels", survey.kernels.size()},
                 {"compiled", numCompiled},
                 {"provisional", survey.isProvisional},
                 {"list", std::move(list)}};
    llvm::outs() << json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << '\n';
    return;
  }
  if (!list.empty())
    table.print(llvm::outs(), kWidth);
  llvm::outs() << getPrintable(arguments.compile.options.input) << ": " << survey.kernels.size()
               << (survey.kernels.size() == 1 ? " kernel, " : " kernels, ") << numCompiled << " compiled, "
               << survey.kernels.size() - numCompiled << " only planned\n";
  if (survey.isProvisional)
    llvm::outs() << "The compilation measures its error, and may take other algorithms by it: faster ones within the "
                    "tolerance, or more exact ones.\n";
}

static int run(PlanArguments &arguments) {
  CompileOptions &options = arguments.compile.options;
  if (!arguments.compile.tune.empty())
    return finish(makeError(CompileStatus::misuse, "--tune: a plan runs nothing; use tenon compile"));
  if (!resolveCompileOptions(arguments.compile))
    return 2;
  options.cacheFolder = CacheStore::getDefaultFolder();
  CompileStatus status = surveyKernels(options, errors(), [&](const KernelSurvey &survey) {
    if (!survey.note.empty())
      errors() << "tenon: warning: " << getPrintable(survey.note) << '\n';
    printSurvey(survey, arguments);
    return llvm::Error::success();
  });
  return static_cast<int>(status);
}

void tenon::addCachePlanCommand(CLI::App &command, int &status) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App *plan = command.add_subcommand(
      "plan", "list the kernels that a compilation needs: those that the cache has, and those that are only planned");
  addCompileOptions(*plan, arguments->compile);
  constexpr char kGroup[] = "Which kernels";
  plan->add_option("--only", arguments->only, "'compiled', those that the cache has, or 'planned', the others")
      ->check(CLI::Validator(
          [](std::string &text) {
            return text == kCompiled || text == kPlanned ? "" : "expected compiled or planned, got '" + text + "'";
          },
          ""))
      ->type_name("STATE")
      ->group(kGroup);
  plan->add_option("--node", arguments->node, "only kernels of a node of this name")->type_name("NAME")->group(kGroup);
  plan->add_option("--operation", arguments->operation, "only kernels of this operation (contract, convolve...)")
      ->type_name("NAME")
      ->group(kGroup);
  plan->add_flag("--json", arguments->json, "print JSON");
  addExamples(*plan, {"tenon cache plan model.onnx", "tenon cache plan model.onnx --target x86-64-v4 --only planned"},
              "With the options of the compilation: another target or tolerance has other kernels.");
  plan->callback([arguments, &status] { status = run(*arguments); });
}
