//===- Benchmark.cpp - times of many runs --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Benchmark.h"

#include "runtime/base/Processor.h"
#include "tools/tenon-run/BindTimes.h"
#include "tools/tenon-run/Json.h"
#include "tools/tenon-run/Machine.h"
#include "tools/tenon-run/Statistics.h"
#include "tools/tenon-run/Units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/resource.h>

namespace tenon::run {

double milliseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

/// Returns the peak memory of this process. getrusage would include that of the shell before exec.
static uint64_t peakMemory() {
  uint64_t kilobytes = 0;
  if (FILE *file = fopen("/proc/self/status", "r")) {
    char line[256];
    unsigned long long value;
    while (fgets(line, sizeof line, file))
      if (sscanf(line, "VmHWM: %llu", &value) == 1)
        kilobytes = value;
    fclose(file);
  }
  rusage usage;
  if (!kilobytes && getrusage(RUSAGE_SELF, &usage) == 0)
    kilobytes = uint64_t(usage.ru_maxrss);
  return kilobytes * 1024;
}

Status timedRun(Model &model, double *time) {
  TENON_TRY(model.rewind());
  double begin = milliseconds();
  TENON_TRY(model.run());
  *time = milliseconds() - begin;
  return {};
}

/// Runs the model `options.warmup` times or, by default, until clocks and caches have settled.
static Status warmUp(const Options &options, Model &model) {
  constexpr double kMilliseconds = 200;
  constexpr uint32_t kMinRuns = 3;
  double begin = milliseconds(), ignored;
  for (uint32_t run = 0;
       options.warmup ? run < *options.warmup : run < kMinRuns || milliseconds() - begin < kMilliseconds; ++run)
    TENON_TRY(timedRun(model, &ignored));
  return {};
}

/// Times `options.runs` runs or, by default, as many as fit into `options.duration`.
static Status measure(const Options &options, Model &model, std::vector<double> *times) {
  constexpr size_t kMinRuns = 5, kMaxRuns = 10'000'000;
  double begin = milliseconds();
  auto isEnough = [&] {
    if (options.runs)
      return times->size() >= options.runs;
    return times->size() >= kMaxRuns || (times->size() >= kMinRuns && milliseconds() - begin >= options.duration * 1e3);
  };
  while (!isEnough()) {
    double time;
    TENON_TRY(timedRun(model, &time));
    times->push_back(time);
  }
  return {};
}

namespace {
/// An open dimension as it is bound.
struct Size {
  std::string symbol;
  int64_t value;
};

/// The items that a run processes, for the reported throughput.
struct Items {
  const char *unit = nullptr; ///< "samples", "tokens"; null where the inputs do not say
  int64_t count = 0;          ///< of a run
};

struct Report {
  const Options &options;
  Model &model;
  Statistics times;
  std::vector<double> samples;
  double loadMs, firstRunMs;
  BindTimes binding;
  tenon_memory memory;
  const char *program;
  std::vector<Size> sizes;
  Items items;
  double loadAverage; // when the benchmark began
};
} // namespace

static std::vector<Size> listSizes(const Model &model) {
  std::vector<Size> sizes;
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    for (size_t p = 0; p < model.inputs[i].ports.size(); ++p) {
      const std::vector<tenon_dim_info> &dims = model.inputs[i].ports[p].dims;
      for (size_t d = 0; d < dims.size(); ++d) {
        bool isKnown =
            std::any_of(sizes.begin(), sizes.end(), [&](const Size &size) { return size.symbol == dims[d].text; });
        if (dims[d].value < 0 && !isKnown)
          sizes.push_back({dims[d].text, model.boundTensors(i)[p].dims[d]});
      }
    }
  return sizes;
}

/// If all integer inputs are [samples, tokens], they are texts; otherwise the first dimension is the number of samples,
/// if all inputs that have one agree.
static Items countItems(const Model &model) {
  bool isText = true;
  const std::vector<int64_t> *first = nullptr;
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    for (const HostTensor &tensor : model.boundTensors(i)) {
      if (tensor.dims.empty())
        continue;
      if (first && (*first)[0] != tensor.dims[0])
        return {};
      isText &= (tensor.dtype == TENON_I64 || tensor.dtype == TENON_I32) && tensor.dims.size() == 2 &&
                (!first || *first == tensor.dims);
      first = first ? first : &tensor.dims;
    }
  if (!first)
    return {};
  return isText ? Items{"tokens", (*first)[0] * (*first)[1]} : Items{"samples", (*first)[0]};
}

/// Lists reasons why the times may be unreliable, one sentence each.
static std::vector<std::string> listWarnings(const Report &report) {
  // limit: an idle machine stays below these.
  constexpr double kSpread = 0.1, kTail = 1.5, kLoad = 0.5;
  const Statistics &times = report.times;
  std::vector<std::string> warnings;
  if (times.count < 10)
    warnings.push_back(format("%zu run%s too few for percentiles: use a longer --duration or more --runs", times.count,
                              times.count == 1 ? " is" : "s are"));
  if (times.count >= 10 && times.interquartileRange > kSpread * times.median)
    warnings.push_back(format("the middle half of the runs differs by %.0f %%: is the machine busy?",
                              100 * times.interquartileRange / times.median));
  else if (times.count >= 10 && times.p90 > kTail * times.median)
    warnings.push_back(
        format("one run in ten takes %.1f times the median or more: is the machine busy?", times.p90 / times.median));
  if (report.loadAverage > kLoad)
    warnings.push_back(format("other programs were running: the load average was %.1f", report.loadAverage));
  return warnings;
}

static double getRunsPerSecond(const Report &report) { return 1e3 / report.times.mean; }

static void printText(const Report &report) {
  const Statistics &t = report.times;
  std::string sizes;
  for (const Size &size : report.sizes)
    sizes += ", " + size.symbol + "=" + std::to_string(size.value);
  uint32_t threads = tenon_session_threads(report.model.session);
  printf("%s%s, target %s, %u thread%s on %s\n", report.model.info.model, sizes.c_str(),
         *report.model.info.target_name ? report.model.info.target_name : report.model.info.target, threads,
         threads == 1 ? "" : "s", rt::getProcessorName().c_str());
  printf("  time        median %s, min %s, p90 %s, p99 %s, max %s, sd %s; %s runs\n", timeText(t.median).c_str(),
         timeText(t.min).c_str(), timeText(t.p90).c_str(), timeText(t.p99).c_str(), timeText(t.max).c_str(),
         timeText(t.deviation).c_str(), groupDigits(t.count).c_str());
  printf("  throughput  %s runs/s", rateText(getRunsPerSecond(report)).c_str());
  if (report.items.unit)
    printf(", %s %s/s", rateText(getRunsPerSecond(report) * double(report.items.count)).c_str(), report.items.unit);
  printf("\n  start       load %s, first run %s\n", timeText(report.loadMs).c_str(),
         timeText(report.firstRunMs).c_str());
  printf("  memory      peak %s; weights %s, arena %s", bytesText(peakMemory()).c_str(),
         bytesText(report.memory.weights).c_str(), bytesText(report.memory.arena).c_str());
  if (report.memory.heap)
    printf(", heap %s", bytesText(report.memory.heap).c_str());
  printf("\n");
  if (!std::isnan(report.binding.seen))
    printf("  sizes       bound in %s if they are known from an earlier run, in %s if they are new\n",
           timeText(report.binding.seen / 1e3).c_str(), timeText(report.binding.fresh / 1e3).c_str());
  if (strcmp(report.program, "general") != 0)
    printf("  program     for %s\n", report.program);
  for (const std::string &warning : listWarnings(report))
    printf("  warning     %s\n", warning.c_str());
}

static std::string microsecondsJson(double value) { return std::isnan(value) ? "null" : format("%.3f", value); }

static void printJson(const Report &report) {
  const Statistics &t = report.times;
  printf("{\"median_ms\":%.6f,\"min_ms\":%.6f,\"mean_ms\":%.6f,\"p90_ms\":%.6f,\"p99_ms\":%.6f,\"max_ms\":%.6f,"
         "\"deviation_ms\":%.6f,\"runs\":%zu",
         t.median, t.min, t.mean, t.p90, t.p99, t.max, t.deviation, t.count);
  printf(",\"runs_per_second\":%s", jsonNumber(getRunsPerSecond(report)).c_str());
  if (report.items.unit)
    printf(",\"%s_per_second\":%s", report.items.unit,
           jsonNumber(getRunsPerSecond(report) * double(report.items.count)).c_str());
  printf(",\"load_ms\":%.4f,\"first_run_ms\":%.4f,\"peak_rss_bytes\":%llu,\"arena_bytes\":%llu,\"weight_bytes\":%llu,"
         "\"heap_bytes\":%llu,\"bind_seen_us\":%s,\"bind_new_us\":%s,\"program\":%s,\"target\":%s",
         report.loadMs, report.firstRunMs, (unsigned long long)peakMemory(), (unsigned long long)report.memory.arena,
         (unsigned long long)report.memory.weights, (unsigned long long)report.memory.heap,
         microsecondsJson(report.binding.seen).c_str(), microsecondsJson(report.binding.fresh).c_str(),
         jsonString(report.program).c_str(), jsonString(report.model.info.target_name).c_str());
  printf(",\"model\":%s,\"artifact\":%s,\"sizes\":{", jsonString(report.model.info.model).c_str(),
         jsonString(report.options.artifact).c_str());
  for (size_t i = 0; i < report.sizes.size(); ++i)
    printf("%s%s:%lld", i ? "," : "", jsonString(report.sizes[i].symbol).c_str(), (long long)report.sizes[i].value);
  printf("},\"threads\":%u,\"processor\":%s,\"governor\":%s,\"load_average\":%s,\"date\":%s,\"version\":%s,"
         "\"warnings\":[",
         tenon_session_threads(report.model.session), jsonString(rt::getProcessorName()).c_str(),
         jsonString(rt::getGovernor()).c_str(), jsonNumber(report.loadAverage).c_str(), jsonString(getDate()).c_str(),
         jsonString(tenon_runtime_version()).c_str());
  std::vector<std::string> warnings = listWarnings(report);
  for (size_t i = 0; i < warnings.size(); ++i)
    printf("%s%s", i ? "," : "", jsonString(warnings[i]).c_str());
  printf("]");
  if (report.options.samples) {
    printf(",\"samples_ms\":[");
    for (size_t i = 0; i < report.samples.size(); ++i)
      printf("%s%.6f", i ? "," : "", report.samples[i]);
    printf("]");
  }
  printf("}\n");
}

Status benchmark(const Options &options, Model &model, double loadMs) {
  Report report{options, model, {}, {}, loadMs, 0, {}, {}, "", {}, {}, getLoadAverage()};
  TENON_TRY(timedRun(model, &report.firstRunMs));
  TENON_TRY(warmUp(options, model));
  TENON_TRY(measure(options, model, &report.samples));
  report.times = computeStatistics(report.samples);
  TENON_TRY(model.rewind());
  tenon_error error;
  if (tenon_status code = tenon_session_measure(model.session, &report.memory, &error))
    return Status::make(code, "%s", error.message);
  TENON_TRY(model.programSizes(&report.program));
  report.sizes = listSizes(model);
  report.items = countItems(model);
  TENON_TRY(measureBinding(model, &report.binding));
  if (options.json)
    printJson(report);
  else
    printText(report);
  return {};
}

} // namespace tenon::run
