//===- MemoryPlan.cpp - the memory that a run will need --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/MemoryPlan.h"

#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Units.h"

#include <cinttypes>
#include <cstdio>

namespace tenon::run {

namespace {
struct Line {
  const char *key, *title;
  uint64_t bytes;
  std::string note;
};
} // namespace

/// Describes the bound of memory that depends on data.
static std::string growthText(uint64_t most) {
  return most == UINT64_MAX ? "grows in a run, depending on the data; no bound is known"
                            : "grows in a run, depending on the data; at most " + groupDigits(most);
}

static std::vector<Line> listMemory(const Model &model, const tenon_memory &memory, const tenon_memory_bounds &bounds) {
  uint32_t threads = tenon_session_threads(model.session);
  std::string least = bounds.arena_least == UINT64_MAX
                          ? "too large a plan to say how many are live at once"
                          : groupDigits(bounds.arena_least) + " are live at once: no placement needs fewer";
  std::vector<Line> lines = {{"weight_bytes", "weights", memory.weights, "mapped from the artifact"},
                             {"state_bytes", "state", memory.state, ""},
                             {"arena_bytes", "activations", memory.arena, least},
                             {"heap_bytes", "heap", memory.heap, ""},
                             {"scratch_bytes", "scratch", memory.scratch,
                              groupDigits(memory.scratch / threads) + " for each of " + std::to_string(threads) +
                                  (threads == 1 ? " thread" : " threads")},
                             {"output_bytes", "outputs", memory.outputs, ""}};
  if (bounds.heap_most != 0)
    lines[3].note = growthText(bounds.heap_most);
  if (bounds.outputs_most != memory.outputs)
    lines[5].note = growthText(bounds.outputs_most);
  lines.push_back({"total_bytes", "total", memory.total, ""});
  lines.push_back({"input_bytes", "inputs", memory.inputs, "given by the caller, not part of the total"});
  return lines;
}

static std::string boundJson(uint64_t bytes) { return bytes == UINT64_MAX ? "null" : std::to_string(bytes); }

static void printJson(const Options &options, const Model &model, const std::vector<Line> &lines,
                      const tenon_memory_bounds &bounds) {
  printf("{\"device\":%s,\"threads\":%u", jsonString(options.device).c_str(), tenon_session_threads(model.session));
  for (const Line &line : lines)
    printf(",\"%s\":%" PRIu64, line.key, line.bytes);
  printf(",\"arena_least_bytes\":%s,\"heap_most_bytes\":%s,\"output_most_bytes\":%s}\n",
         boundJson(bounds.arena_least).c_str(), boundJson(bounds.heap_most).c_str(),
         boundJson(bounds.outputs_most).c_str());
}

static void printText(const Options &options, const std::vector<Line> &lines) {
  printf("bytes on device '%s'\n", options.device.c_str());
  for (const Line &line : lines)
    printf("  %-12s %18s%s%s\n", line.title, groupDigits(line.bytes).c_str(), line.note.empty() ? "" : "  ",
           line.note.c_str());
}

Status printMemoryPlan(const Options &options, Model &model) {
  tenon_memory memory;
  tenon_memory_bounds bounds;
  TENON_TRY(model.measure(&memory, &bounds));
  std::vector<Line> lines = listMemory(model, memory, bounds);
  if (options.json)
    printJson(options, model, lines, bounds);
  else
    printText(options, lines);
  return model.checkLimit();
}

} // namespace tenon::run
