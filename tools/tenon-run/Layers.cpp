//===- Layers.cpp - where the time of a model goes --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Layers.h"

#include "runtime/base/Processor.h"
#include "tools/limits/MachineLimits.h"
#include "tools/tenon-run/Benchmark.h"
#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Machine.h"
#include "tools/tenon-run/Profile.h"
#include "tools/tenon-run/Statistics.h"
#include "tools/tenon-run/Units.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace tenon::run {

std::string getPattern(const std::string &name) {
  std::string pattern;
  for (char c : name) {
    bool isDigit = c >= '0' && c <= '9';
    if (!isDigit)
      pattern += c;
    else if (pattern.empty() || pattern.back() != '*')
      pattern += '*';
  }
  return pattern;
}

std::string shorten(const std::string &name, size_t width) {
  if (name.size() <= width || width < 4)
    return name.substr(0, width);
  auto isInside = [&](size_t at) { return at < name.size() && (name[at] & 0xc0) == 0x80; };
  size_t front = (width - 2) / 2, back = name.size() - (width - 2 - front);
  while (front > 0 && isInside(front))
    --front;
  while (isInside(back))
    ++back;
  return name.substr(0, front) + ".." + name.substr(back);
}

namespace {
/// Instructions that are shown as one.
struct Row {
  std::string kernel, name; ///< of the first of them
  std::string pattern;
  uint32_t count = 0;
  double ms = 0;
  uint64_t flops = 0, bytes = 0;
  bool isKnown = true; ///< whether the figures are those of all of them

  void add(const tenon_instruction_info &info, double time) {
    ++count;
    ms += time;
    flops += info.flops;
    bytes += info.bytes;
    isKnown &= info.bytes > 0;
  }
};

/// What is printed of a run's time.
struct Breakdown {
  double totalMs = 0; ///< of a run, the sum over its instructions
  size_t runs = 0;
  std::vector<Row> kernels, layers;
  MachineLimits limits;
};
} // namespace

/// Computes the median time of each instruction in milliseconds.
static Status profileRuns(const Options &options, Model &model, std::vector<double> *medians, size_t *count) {
  constexpr size_t kMinRuns = 5, kMaxRuns = 10'000;
  double time;
  TENON_TRY(timedRun(model, &time));
  TENON_TRY(timedRun(model, &time));
  std::vector<std::vector<double>> times(model.info.instruction_count);
  Profile profile(model);
  double begin = milliseconds();
  size_t run = 0;
  for (; options.runs ? run < options.runs
                      : run < kMinRuns || (run < kMaxRuns && milliseconds() - begin < options.duration * 1e3);
       ++run) {
    TENON_TRY(model.rewind());
    profile.clear();
    TENON_TRY(model.run());
    std::vector<int64_t> nanoseconds = profile.measureInstructions();
    assert(nanoseconds.size() == times.size() && "each instruction is measured");
    for (size_t i = 0; i < times.size(); ++i)
      if (nanoseconds[i])
        times[i].push_back(double(nanoseconds[i]) / 1e6);
  }
  *count = run;
  for (std::vector<double> &sample : times)
    medians->push_back(sample.empty() ? 0 : computeStatistics(std::move(sample)).median);
  return {};
}

static void sortByTime(std::vector<Row> &rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row &a, const Row &b) { return a.ms != b.ms ? a.ms > b.ms : a.name < b.name; });
}

static Breakdown breakDown(const Model &model, const std::vector<double> &medians) {
  Breakdown result;
  // There are few rows, so a linear search suffices.
  auto getRow = [](std::vector<Row> &rows, const std::string &kernel, const std::string *pattern) -> Row & {
    for (Row &row : rows)
      if (row.kernel == kernel && (!pattern || row.pattern == *pattern))
        return row;
    return rows.emplace_back();
  };
  for (uint32_t i = 0; i < medians.size(); ++i) {
    if (medians[i] == 0)
      continue;
    tenon_instruction_info info;
    tenon_artifact_instruction(model.artifact, i, &info, nullptr);
    (void)tenon_session_work(model.session, i, &info.flops, &info.bytes, nullptr);
    std::string kernel = *info.kernel ? info.kernel : info.operation, pattern = getPattern(info.name);
    Row &byKernel = getRow(result.kernels, kernel, nullptr);
    Row &byLayer = getRow(result.layers, kernel, &pattern);
    for (Row *row : {&byKernel, &byLayer}) {
      if (row->count == 0) {
        row->kernel = kernel;
        row->name = info.name;
        row->pattern = pattern;
      }
      row->add(info, medians[i]);
    }
    result.totalMs += medians[i];
  }
  sortByTime(result.kernels);
  sortByTime(result.layers);
  return result;
}

/// Returns the fraction of the machine's limit that a row reaches: of its multiply-adds or of its memory bandwidth,
/// whichever is larger.
static double getShareOfLimit(const Row &row, const MachineLimits &limits) {
  assert(row.ms > 0 && "instructions that take no time have no row");
  double seconds = row.ms / 1e3;
  return std::max(double(row.flops) / seconds / limits.flopsPerSecond,
                  double(row.bytes) / seconds / limits.readBytesPerSecond);
}

static void printRows(const char *title, const std::vector<Row> &rows, const Breakdown &all, size_t width) {
  constexpr double kSmallShare = 0.001;
  printf("\n%10s %7s %9s %7s %7s %6s  %s\n", "time", "share", "GFLOP/s", "GB/s", "limit", "runs", title);
  size_t left = 0;
  double leftMs = 0;
  for (const Row &row : rows) {
    double share = row.ms / all.totalMs;
    if (share < kSmallShare) {
      ++left;
      leftMs += row.ms;
      continue;
    }
    double seconds = row.ms / 1e3;
    std::string gflops = row.flops ? format("%.1f", double(row.flops) / seconds / 1e9) : "",
                gigabytes = row.isKnown ? format("%.1f", double(row.bytes) / seconds / 1e9) : "",
                limit = row.isKnown ? format("%.0f %%", 100 * getShareOfLimit(row, all.limits)) : "";
    std::string name = row.count > 1 ? row.pattern : row.name;
    std::string what = title[0] == 'k' ? row.kernel : row.kernel + "  " + name;
    printf("%10s %6.1f%% %9s %7s %7s %6u  %s\n", timeText(row.ms).c_str(), 100 * share, gflops.c_str(),
           gigabytes.c_str(), limit.c_str(), row.count, shorten(what, width).c_str());
  }
  if (left)
    printf("%10s %6.1f%% %33s  and %zu more\n", timeText(leftMs).c_str(), 100 * leftMs / all.totalMs, "", left);
}

static void printText(const Model &model, const Breakdown &all) {
  // The columns before names, and the rest of a hundred.
  constexpr size_t kNameWidth = 44;
  printf("%s: %s in the instructions of a run, median of %zu; %u threads on %s\n", model.info.model,
         timeText(all.totalMs).c_str(), all.runs, tenon_session_threads(model.session), rt::getProcessorName().c_str());
  printf("limits: %.1f GFLOP/s of f32 multiply-adds, %.1f GB/s read from memory, as measured now\n",
         all.limits.flopsPerSecond / 1e9, all.limits.readBytesPerSecond / 1e9);
  printRows("kernel", all.kernels, all, kNameWidth);
  printRows("layer", all.layers, all, kNameWidth);
}

static void printRowsJson(const char *key, const std::vector<Row> &rows, const Breakdown &all) {
  printf(",\"%s\":[", key);
  for (const Row &row : rows) {
    printf("%s\n{\"kernel\":%s,\"name\":%s,\"launches\":%u,\"ms\":%.6f,\"share\":%.6f", &row == rows.data() ? "" : ",",
           jsonString(row.kernel).c_str(), jsonString(row.count > 1 ? row.pattern : row.name).c_str(), row.count,
           row.ms, row.ms / all.totalMs);
    if (row.isKnown)
      printf(",\"flops\":%llu,\"bytes\":%llu,\"share_of_limit\":%.4f", (unsigned long long)row.flops,
             (unsigned long long)row.bytes, getShareOfLimit(row, all.limits));
    printf("}");
  }
  printf("]");
}

static void printJson(const Model &model, const Breakdown &all) {
  printf("{\"model\":%s,\"threads\":%u,\"processor\":%s,\"date\":%s,\"version\":%s,\"runs\":%zu,\"total_ms\":%.6f,"
         "\"peak_flops_per_second\":%.4g,\"read_bytes_per_second\":%.4g",
         jsonString(model.info.model).c_str(), tenon_session_threads(model.session),
         jsonString(rt::getProcessorName()).c_str(), jsonString(getDate()).c_str(),
         jsonString(tenon_runtime_version()).c_str(), all.runs, all.totalMs, all.limits.flopsPerSecond,
         all.limits.readBytesPerSecond);
  printRowsJson("kernels", all.kernels, all);
  printRowsJson("layers", all.layers, all);
  printf("}\n");
}

Status printLayers(const Options &options, Model &model) {
  std::vector<double> medians;
  size_t runs;
  TENON_TRY(profileRuns(options, model, &medians, &runs));
  Breakdown breakdown = breakDown(model, medians);
  breakdown.runs = runs;
  MeasuringEffort effort;
  effort.readBytes = size_t(256) << 20;
  if (!measureMachineLimits(tenon_session_threads(model.session), effort, &breakdown.limits))
    return Status::make(TENON_RESOURCES, "there is not enough memory, or there are not enough threads, to measure what "
                                         "the machine can do");
  if (options.json)
    printJson(model, breakdown);
  else
    printText(model, breakdown);
  return {};
}

} // namespace tenon::run
