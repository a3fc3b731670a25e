//===- DevicesCommand.cpp - tenon devices ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "tools/tenon/Commands.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

using namespace tenon;

/// Processors that this process may run on.
static int getCpuCount() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void printDevices(bool json) {
  Target host = *getBackendRegistry().getTarget("host");
  uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (json) {
    nlohmann::json device = {{"device", "cpu"},        {"processor", host.cpu},      {"threads", getCpuCount()},
                             {"memory_bytes", memory}, {"code_target", host.needed}, {"backends", {"llvm"}}};
    llvm::outs() << nlohmann::json::array({device}).dump(2) << '\n';
    return;
  }
  llvm::outs() << "device  processor        threads  memory     backends\n"
               << llvm::format("cpu     %-15s  %7d  %5.1f GiB  llvm\n", host.cpu.c_str(), getCpuCount(),
                               memory / 1073741824.0);
}

void tenon::addDevicesCommand(CLI::App &app, int &status) {
  auto json = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand("devices", "list the devices of this machine");
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, &status] {
    printDevices(*json);
    status = 0;
  });
}
