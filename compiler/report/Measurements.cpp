//===- Measurements.cpp - times of kernels, and limits of a machine --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Measurements.h"
#include "compiler/report/ArtifactView.h"
#include <cmath>
#include <nlohmann/json.hpp>

using namespace tenon;
using Json = nlohmann::json;

/// Returns a member that is a positive number; 0 if it is none.
static double getPositive(const Json &object, const char *key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_number())
    return 0;
  double value = it->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

static uint64_t getCount(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

static std::string getText(const Json &object, const char *key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? getPrintable(it->get<std::string>()) : "";
}

static void readKernels(const Json &list, Measurements &measured) {
  for (const Json &entry : list) {
    auto name = entry.is_object() ? entry.find("kernel") : entry.end();
    if (!entry.is_object() || name == entry.end() || !name->is_string())
      continue;
    Measurements::Kernel kernel{getPositive(entry, "ms") / 1e3, getCount(entry, "flops"), getCount(entry, "bytes")};
    if (kernel.seconds > 0)
      measured.kernels[name->get<std::string>()] = kernel;
  }
}

llvm::Expected<Measurements> tenon::parseMeasurements(llvm::StringRef text) {
  auto isShallow = [](int depth, Json::parse_event_t, Json &) { return depth < 8; };
  Json json = Json::parse(text.begin(), text.end(), isShallow, /*allow_exceptions=*/false);
  Measurements measured;
  // tenon devices prints a list of devices.
  bool isDevices = json.is_array() && !json.empty();
  const Json &machine = isDevices ? json.front() : json;
  if (machine.is_object()) {
    measured.flopsPerSecond = getPositive(machine, isDevices ? "flops_per_second" : "peak_flops_per_second");
    measured.bytesPerSecond = getPositive(machine, "read_bytes_per_second");
    measured.processor = getText(machine, isDevices ? "model" : "processor");
    measured.threads = getCount(machine, "threads");
    if (auto kernels = machine.find("kernels"); kernels != machine.end() && kernels->is_array())
      readKernels(*kernels, measured);
  }
  if (!measured.flopsPerSecond || !measured.bytesPerSecond)
    return llvm::createStringError(
        "expected the limits of a machine, as 'tenon-run --layers --json' and 'tenon devices "
        "--json' print them");
  return measured;
}
