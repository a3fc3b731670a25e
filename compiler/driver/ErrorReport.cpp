//===- ErrorReport.cpp - how far the outputs of a model are off ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ErrorReport.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tenon;

/// Prints two digits, because further ones may depend on the measuring machine.
static std::string getFigure(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error);
  return text;
}

static nlohmann::json toJson(double error) {
  return std::isfinite(error) ? nlohmann::json(std::strtod(getFigure(error).c_str(), nullptr)) : nlohmann::json();
}

/// Rounds up to one significant digit, in the usual notation: "3e-4".
static std::string roundUp(double error) {
  int exponent = static_cast<int>(std::floor(std::log10(error)));
  double digit = std::ceil(error / std::pow(10, exponent));
  if (digit >= 10) {
    digit = 1;
    ++exponent;
  }
  return std::to_string(static_cast<int>(digit)) + "e" + std::to_string(exponent);
}

double OutputError::getAllowed(double tolerance) const {
  // Two roundings of the same value may be off in opposite directions.
  constexpr double kRoundings = 2;
  return own > 0 || roundoff > 0 ? std::max(tolerance, kRoundings * std::max(own, roundoff)) : tolerance;
}

std::optional<double> OutputError::getBounded() const {
  if (!note.empty())
    return std::nullopt;
  return isFloat ? error : scoreError;
}

bool OutputError::keeps(double tolerance) const {
  if (std::optional<double> bounded = getBounded())
    return *bounded <= getAllowed(tolerance);
  return !note.empty() || !scores.empty() || differing == 0;
}

bool ErrorReport::hasBounded() const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const OutputError &output) { return output.getBounded().has_value(); });
}

double ErrorReport::getLargest() const {
  double largest = 0;
  for (const OutputError &output : outputs)
    largest = std::max(largest, output.getBounded().value_or(0));
  return largest;
}

/// How much of what is allowed an output uses.
static double getShare(const OutputError &output, double tolerance) {
  std::optional<double> bounded = output.getBounded();
  if (output.keeps(tolerance) && bounded.value_or(0) == 0)
    return 0;
  double allowed = output.getAllowed(tolerance);
  return bounded && allowed > 0 ? *bounded / allowed : INFINITY;
}

double ErrorReport::getUsedShare(double tolerance) const {
  double used = 0;
  for (const OutputError &output : outputs)
    used = std::max(used, getShare(output, tolerance));
  return used;
}

const OutputError *ErrorReport::findExceeding(double tolerance) const {
  const OutputError *worst = nullptr;
  for (const OutputError &output : outputs)
    if (!output.keeps(tolerance) && (!worst || getShare(output, tolerance) > getShare(*worst, tolerance)))
      worst = &output;
  return worst;
}

std::string ErrorReport::describeExceeding(double tolerance, bool arePathsPinned) const {
  const OutputError *output = findExceeding(tolerance);
  assert(output && "there is an output that exceeds the tolerance");
  std::string text = "output '" + output->name + "' ";
  std::string sets = std::to_string(numSets) + (areInputsGiven ? " given" : " generated") +
                     (numSets == 1 ? " input set" : " input sets");
  std::optional<double> bounded = output->getBounded();
  if (!bounded)
    return text + "differs from the model in f64 in " + std::to_string(output->differing) + " of " +
           std::to_string(output->count) + " integers that depend on no float, with " + sets;
  if (!std::isfinite(*bounded) && !output->isFloat)
    return text + "has places that its scores do not have, or of scores that are not finite, with " + sets;
  if (!std::isfinite(*bounded))
    return text + "has elements that are not finite where those of the model in f64 are, or the reverse, with " + sets +
           (areInputsGiven ? "" : "; --error-inputs takes typical ones");
  text += (output->isFloat ? "is off by " + getFigure(*bounded) + " of its largest element"
                           : "has places of scores that are off by " + getFigure(*bounded) + " of the largest one") +
          " with " + sets + ", more than --tolerance " + getFigure(tolerance);
  if (output->own > 0)
    text += " and more than twice what its own f16 or bf16 is off by, " + getFigure(output->own);
  text += ", even with the most exact algorithms";
  text += arePathsPinned ? " that --force and --exclude leave" : "";
  text += "; pass --tolerance " + roundUp(*bounded);
  return text + (areInputsGiven ? "" : ", or typical inputs with --error-inputs");
}

void ErrorReport::merge(const ErrorReport &other) {
  assert(outputs.size() == other.outputs.size() && "reports are of one model");
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputError &mine = outputs[i];
    const OutputError &theirs = other.outputs[i];
    mine.error = std::max(mine.error, theirs.error);
    mine.differing = std::max(mine.differing, theirs.differing);
    if (mine.scoreError && theirs.scoreError)
      mine.scoreError = std::max(*mine.scoreError, *theirs.scoreError);
    if (mine.note.empty())
      mine.note = theirs.note;
  }
  if (emulator.empty())
    emulator = other.emulator;
}

std::string ErrorReport::toJson() const {
  if (!reason.empty())
    return nlohmann::json({{"not_measured", reason}}).dump();
  nlohmann::json json;
  json["input_sets"] = numSets;
  if (goesOn)
    json["goes_on"] = true;
  json["inputs"] = areInputsGiven ? "given" : "generated";
  json["largest"] = ::toJson(getLargest());
  if (!emulator.empty())
    json["emulator"] = emulator;
  for (const OutputError &output : outputs) {
    nlohmann::json entry = {{"name", output.name}};
    if (output.isFloat)
      entry["error"] = ::toJson(output.error);
    else
      entry.update({{"differing", output.differing}, {"elements", output.count}});
    if (output.scoreError)
      entry["score_error"] = ::toJson(*output.scoreError);
    if (output.own > 0)
      entry["own_error"] = ::toJson(output.own);
    if (!output.note.empty())
      entry["note"] = output.note;
    if (!output.scores.empty())
      entry["scores"] = output.scores;
    json["outputs"].push_back(std::move(entry));
  }
  return json.dump();
}
