//===- Benchmark.h - times of many runs ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_BENCHMARK_H
#define TENON_TOOLS_TENON_RUN_BENCHMARK_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Milliseconds since an arbitrary moment.
double milliseconds();

/// Runs the model once; `*time` is its time in milliseconds.
Status timedRun(Model &model, double *time);

/// Runs the model, whose inputs are bound, and prints the times. `loadMs` is the load time.
Status benchmark(const Options &options, Model &model, double loadMs);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_BENCHMARK_H
