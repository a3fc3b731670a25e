//===- DevicesCommand.cpp - tenon devices ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/report/Table.h"
#include "runtime/base/CpuCount.h"
#include "runtime/base/Processor.h"
#include "tools/limits/MachineLimits.h"
#include "tools/tenon/Commands.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace tenon;

namespace {
/// What there is to say of the processor.
struct Processor {
  Target target = *getBackendRegistry().getTarget("host");
  std::string model = rt::getProcessorName();
  int threads = static_cast<int>(rt::usableCpus());
  uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  uint64_t l1Bytes = std::max<long>(sysconf(_SC_LEVEL1_DCACHE_SIZE), 0);
  std::optional<MachineLimits> limits;

  explicit Processor(bool measures) {
    MachineLimits found;
    if (measures && measureMachineLimits(threads, MeasuringEffort{}, &found))
      limits = found;
  }
};
} // namespace

static void printJson(const Processor &processor) {
  const Target &target = processor.target;
  nlohmann::ordered_json device = {{"device", "cpu"},
                                   {"processor", target.cpu},
                                   {"model", processor.model},
                                   {"threads", processor.threads},
                                   {"memory_bytes", processor.memory},
                                   {"l1_bytes", processor.l1Bytes},
                                   {"l2_bytes", target.machine.l2Bytes},
                                   {"llc_bytes", target.machine.llcBytes},
                                   {"code_target", target.needed},
                                   {"backends", {target.backend->getName()}}};
  if (processor.limits) {
    device["flops_per_second"] = processor.limits->flopsPerSecond;
    device["read_bytes_per_second"] = processor.limits->readBytesPerSecond;
  }
  llvm::outs() << nlohmann::ordered_json::array({device}).dump(2) << '\n';
}

static void printText(const Processor &processor) {
  constexpr size_t kWidth = 100;
  const Target &target = processor.target;
  llvm::outs() << "cpu: " << target.cpu << ", " << processor.model << "\n";
  auto print = [&](llvm::StringRef title, llvm::ArrayRef<std::string> items) {
    printList(title, items, ",", kWidth, llvm::outs());
  };
  print("threads", {std::to_string(processor.threads)});
  print("memory", {bytesText(processor.memory)});
  print("caches", {"L1 " + bytesText(processor.l1Bytes) + " and L2 " + bytesText(target.machine.l2Bytes) + " a core",
                   "last level " + bytesText(target.machine.llcBytes)});
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(target.needed).split(':').second.split(features, ',');
  print("features", llvm::map_to_vector(features, [](llvm::StringRef feature) { return feature.str(); }));
  print("backend", {target.backend->getName().str()});
  if (processor.limits)
    print("measured", {llvm::formatv("{0:F1} GFLOP/s of f32 multiply-adds", processor.limits->flopsPerSecond / 1e9),
                       llvm::formatv("{0:F1} GB/s read from memory", processor.limits->readBytesPerSecond / 1e9)});
}

void tenon::addDevicesCommand(CLI::App &app, int &status) {
  auto json = std::make_shared<bool>(false), quick = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("devices", "list the devices of this machine");
  command->add_flag("--json", *json, "print JSON");
  command->add_flag("--quick", *quick, "do not measure arithmetic and memory, which takes about a second");
  command->callback([json, quick, &status] {
    (*json ? printJson : printText)(Processor(!*quick));
    status = 0;
  });
}
