//===- ErrorFigures.cpp - what an artifact says of its error --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/ErrorFigures.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Meta.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tenon;
using Json = nlohmann::ordered_json;

/// Two digits: "1.9e-06".
static std::string getFigure(const Json &error) {
  if (!error.is_number())
    return "not finite";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", error.get<double>());
  return text;
}

static std::string getString(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? getPrintable(it->get<std::string>()) : "";
}

static std::string describeOutput(const Json &output) {
  std::string text = getString(output, "name") + ": ";
  if (auto differing = output.find("differing"); differing != output.end())
    text += differing->dump() + " of " + output.value("elements", Json()).dump() + " elements differ";
  else
    text += getFigure(output.value("error", Json())) + " of the largest element";
  if (auto score = output.find("score_error"); score != output.end())
    text += "; their scores are off by " + getFigure(*score) + " of the largest one";
  if (auto own = output.find("own_error"); own != output.end() && own->is_number())
    text += " (its own f16 or bf16 is off by " + getFigure(*own) + ")";
  if (std::string note = getString(output, "note"); !note.empty())
    text += ", but cannot be bounded: it " + note;
  if (std::string scores = getString(output, "scores"); !scores.empty())
    text += "; they are chosen by output '" + scores + "'";
  return text;
}

static double getNumber(const Json &object, const char *key, double otherwise) {
  auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : otherwise;
}

static std::string describePaths(const Json &paths, bool isMeasured) {
  double largest = getNumber(paths, "largest_error", 0), choices = getNumber(paths, "choices", 1);
  std::string text;
  if (largest > 0)
    text = "faster algorithms (Winograd, for example) add at most " + getFigure(largest) + " each";
  else if (choices > 1)
    text = "every operation has its default implementation";
  if (choices <= 1 || !isMeasured)
    return text;
  std::string number = paths["choices"].dump();
  if (auto widened = paths.find("widened"); widened != paths.end() && *widened == true)
    return text + "; choice " + number + ", the first one left most of --tolerance unused";
  return text + "; choice " + number + ", those before were less exact than --tolerance allows";
}

std::optional<double> tenon::getLargestError(llvm::StringRef meta) {
  Json json = parseMeta(meta);
  auto error = json.is_object() ? json.find("error") : json.end();
  if (error == json.end() || !error->is_object())
    return std::nullopt;
  // "largest" is 0 if no output counts: outputs with a note do not, such as one that depends on a cast to integers.
  auto outputs = error->find("outputs");
  auto counts = [](const Json &output) {
    return output.is_object() && (output.contains("error") || output.contains("score_error")) &&
           !output.contains("note");
  };
  if (outputs == error->end() || !outputs->is_array() || llvm::none_of(*outputs, counts))
    return std::nullopt;
  double largest = getNumber(*error, "largest", NAN);
  return std::isfinite(largest) ? std::optional(largest) : std::nullopt;
}

std::pair<size_t, size_t> tenon::countUnbounded(llvm::StringRef meta) {
  Json json = parseMeta(meta);
  auto error = json.is_object() ? json.find("error") : json.end();
  if (error == json.end() || !error->is_object() || !error->contains("outputs") || !(*error)["outputs"].is_array())
    return {0, 0};
  const Json &outputs = (*error)["outputs"];
  auto isUnbounded = [](const Json &output) { return output.is_object() && output.contains("note"); };
  return {llvm::count_if(outputs, isUnbounded), outputs.size()};
}

std::vector<std::string> tenon::listErrors(llvm::StringRef meta) {
  Json json = parseMeta(meta);
  auto error = json.is_object() ? json.find("error") : json.end();
  if (error == json.end() || !error->is_object())
    return {};
  std::vector<std::string> lines;
  if (std::string reason = getString(*error, "not_measured"); !reason.empty())
    lines.push_back("not measured: " + reason);
  auto outputs = error->find("outputs");
  if (outputs != error->end() && outputs->is_array())
    for (const Json &output : *outputs)
      if (output.is_object())
        lines.push_back(describeOutput(output));
  if (error->contains("input_sets")) {
    std::string emulator = getString(*error, "emulator");
    lines.push_back("measured with " + (*error)["input_sets"].dump() + " " + getString(*error, "inputs") +
                    ((*error)["input_sets"] == 1 ? " input set" : " input sets") +
                    (error->contains("goes_on") ? ", with states of an earlier run" : "") +
                    (emulator.empty() ? "" : ", its algorithms emulated on " + emulator));
  }
  if (auto paths = json.find("paths"); paths != json.end() && paths->is_object())
    lines.push_back(describePaths(*paths, error->contains("outputs")));
  llvm::erase_if(lines, [](const std::string &line) { return line.empty(); });
  return lines;
}
