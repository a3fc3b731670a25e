//===- Benchmark.cpp - times of many runs --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Benchmark.h"
#include "tools/tenon-run/Json.h"

#include "tools/tenon-run/BindTimes.h"

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

/// The most memory that this process has had. getrusage would count what the shell had before it became
/// this program.
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

static Status timedRun(Model &model, double *time) {
  double begin = milliseconds();
  TENON_TRY(model.run());
  *time = milliseconds() - begin;
  return {};
}

static std::string microsecondsText(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.3f", value);
  return std::isnan(value) ? "null" : text;
}

Status benchmark(const Options &options, Model &model, double loadMs) {
  BindTimes bindTimes;
  double firstRunMs, ignored;
  TENON_TRY(timedRun(model, &firstRunMs));
  for (uint32_t i = 0; i < options.warmup; ++i)
    TENON_TRY(timedRun(model, &ignored));
  std::vector<double> times(options.runs);
  for (double &time : times)
    TENON_TRY(timedRun(model, &time));
  tenon_memory memory;
  tenon_error error;
  if (tenon_status code = tenon_session_measure(model.session, &memory, &error))
    return Status::make(code, "%s", error.message);

  const char *program;
  TENON_TRY(model.programSizes(&program));
  TENON_TRY(measureBinding(model, &bindTimes));

  std::sort(times.begin(), times.end());
  size_t middle = times.size() / 2;
  double median = times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  double sum = 0;
  for (double time : times)
    sum += time;
  const char *text =
      options.json
          ? "{\"median_ms\":%.4f,\"min_ms\":%.4f,\"mean_ms\":%.4f,\"p99_ms\":%.4f,\"runs\":%u,\"load_ms\":%.4f,"
            "\"first_run_ms\":%.4f,\"peak_rss_bytes\":%llu,\"arena_bytes\":%llu,\"weight_bytes\":%llu,"
            "\"heap_bytes\":%llu,\"bind_seen_us\":%s,\"bind_new_us\":%s,\"program\":%s,\"target\":%s}\n"
          : "median %.4f ms, min %.4f ms, mean %.4f ms, 99th percentile %.4f ms of %u runs\n"
            "load %.4f ms, first run %.4f ms\n"
            "peak memory %llu bytes, arena %llu bytes, weights %llu bytes, heap %llu bytes\n"
            "binding of sizes seen before %s us, of new ones %s us\n"
            "program %s, target %s\n";
  printf(text, median, times.front(), sum / double(times.size()), times[(times.size() - 1) * 99 / 100], options.runs,
         loadMs, firstRunMs, (unsigned long long)peakMemory(), (unsigned long long)memory.arena,
         (unsigned long long)memory.weights, (unsigned long long)memory.heap, microsecondsText(bindTimes.seen).c_str(),
         microsecondsText(bindTimes.fresh).c_str(), options.json ? jsonString(program).c_str() : program,
         options.json ? jsonString(model.info.target_name).c_str() : model.info.target_name);
  return {};
}

} // namespace tenon::run
