//===- Bisector.cpp - the step of a compilation that breaks a model -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Bisector.h"
#include "tools/tenon/debug/Compare.h"
#include "tools/tenon/debug/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tenon;
using namespace tenon::debug;

/// More than any compilation has.
static constexpr uint64_t kAll = UINT32_MAX;

/// The outputs of the model that were compared.
static std::vector<std::string> listOutputs(const Captured &got) {
  std::vector<std::string> names;
  for (const CapturedTensor &tensor : got.tensors)
    if (!llvm::is_contained(names, tensor.name))
      names.push_back(tensor.name);
  return names;
}

/// Returns the steps that a compilation logged: "(12) cse on main", "(12.3) pattern X of ...".
static std::vector<std::string> takeLog(llvm::StringRef message) {
  std::vector<std::string> log;
  llvm::SmallVector<llvm::StringRef> lines;
  message.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.consume_front("bisect: running "))
      log.push_back(line.str());
  return log;
}

/// Everything else that it said.
static std::string dropLog(llvm::StringRef message) {
  llvm::SmallVector<llvm::StringRef> lines;
  message.split(lines, '\n');
  llvm::erase_if(lines, [](llvm::StringRef line) { return line.starts_with("bisect: "); });
  return llvm::join(lines, "\n");
}

/// Returns the text of a numbered step: that of "(12) cse on main" for "12".
static std::string findText(llvm::ArrayRef<std::string> log, const std::string &number) {
  for (llvm::StringRef line : log)
    if (line.consume_front("(" + number + ") "))
      return line.str();
  return "";
}

Outcome Bisector::tryLimit(const StepLimit &limit, std::vector<std::string> *log) {
  ++tries;
  CompileOptions compile = options.compile;
  compile.bisect = limit;
  StepEnd said;
  Captured got = comparison->runCompiled(compile, {}, &said);
  if (log)
    *log = takeLog(said.message);
  if (!said)
    return {Outcome::Stage::compile, {said.status, dropLog(said.message)}, {}};
  if (!got.end)
    return {Outcome::Stage::run, got.end, {}};
  llvm::Expected<std::vector<ComparedValue>> outputs = comparison->compare(got, want, listOutputs(got));
  if (!outputs)
    return {Outcome::Stage::run, {CompileStatus::resources, llvm::toString(outputs.takeError())}, {}};
  std::optional<ComparedValue> worst = Outcome::findWorst(*outputs);
  Outcome outcome{worst ? Outcome::Stage::compare : Outcome::Stage::none, {}, worst};
  if (!worst)
    outcome.worst = Outcome::findLargest(*outputs);
  return outcome;
}

llvm::Expected<std::unique_ptr<Bisector>> Bisector::create(DebugOptions options) {
  std::unique_ptr<Bisector> bisector(new Bisector(std::move(options)));
  llvm::Expected<std::unique_ptr<Comparison>> comparison = Comparison::create(bisector->options);
  if (!comparison)
    return comparison.takeError();
  bisector->comparison = std::move(*comparison);
  Comparison &whole = *bisector->comparison;
  if (StepEnd end = whole.compile(); !end) {
    // A model that cannot be imported has no steps, whatever the options are.
    bisector->whole = {Outcome::Stage::compile, end, {}};
    return bisector;
  }
  if (StepEnd end = whole.makeInputs(); !end)
    return toError(end);
  bisector->want = whole.runReference();
  if (!bisector->want.end)
    return toError(bisector->want.end);
  bisector->whole = bisector->tryLimit({kAll, {}});
  return bisector;
}

std::optional<Culprit> Bisector::find() {
  std::vector<std::string> log;
  auto fails = [&](const StepLimit &limit) { return tryLimit(limit, &log).isLike(whole); };
  tryLimit({kAll, {}}, &log);
  stepCount = log.size();
  plain = tryLimit({0, {}});
  if (plain.isLike(whole) || stepCount == 0)
    return std::nullopt;
  Culprit culprit;
  uint64_t step = findFirstFailing(0, stepCount, [&](size_t n) { return fails({n, {}}); });
  culprit.with = {step, {}};
  culprit.without = {step - 1, {}};
  culprit.after = tryLimit(culprit.with, &log);
  culprit.step = findText(log, std::to_string(step));
  // If the pass causes the failure without any of its parts, the pass as a whole is the culprit.
  fails({step, kAll});
  culprit.partCount =
      llvm::count_if(log, [&](llvm::StringRef line) { return line.starts_with("(" + std::to_string(step) + "."); });
  if (culprit.partCount > 0 && !fails({step, 0})) {
    uint64_t part = findFirstFailing(0, culprit.partCount, [&](size_t n) { return fails({step, n}); });
    culprit.with = {step, part};
    culprit.without = {step, part - 1};
    culprit.after = tryLimit(culprit.with, &log);
    culprit.part = findText(log, culprit.with.toString());
  }
  culprit.before = tryLimit(culprit.without);
  return culprit;
}
