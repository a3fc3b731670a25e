//===- CpuTargets.cpp - processors that kernels are compiled for ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/CpuTargets.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/format/Target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <cstdlib>
#include <unistd.h>

using namespace tenon;

/// Translates LLVM's name for a feature to the format's. They rarely differ; the format uses Linux's names for 64-bit
/// Arm.
static llvm::StringRef toFormatName(llvm::StringRef feature) {
  return llvm::StringSwitch<llvm::StringRef>(feature)
      .Case("neon", "asimd")
      .Case("fp-armv8", "fp")
      .Case("fullfp16", "asimdhp")
      .Case("dotprod", "asimddp")
      .Case("fp16fml", "asimdfhm")
      .Default(feature);
}

/// Returns "arch:feature,..." with those features that the format knows, in its order.
static std::string describeNeeds(llvm::StringRef arch, const llvm::StringSet<> &features) {
  std::string text = arch.str() + ":";
  bool first = true;
  auto add = [&](const char *feature) {
    if (!features.contains(feature))
      return;
    text += (first ? "" : ",") + std::string(feature);
    first = false;
  };
  if (arch == "x86_64")
    for (const char *feature : fmt::kX86Features)
      add(feature);
  else
    for (const char *feature : fmt::kAArch64Features)
      add(feature);
  return text;
}

/// What the features say of vector registers.
static void setVectorShape(Target &target) {
  llvm::StringRef needed = target.needed;
  Machine &machine = target.machine;
  if (target.arch == "x86_64") {
    // AMX kernels assume vectors of 64 bytes; without AVX-512, LLVM splits these into shorter ones.
    bool hasLongVectors = needed.contains("avx512f") || needed.contains("amx-tile");
    machine.vectorBytes = hasLongVectors ? 64 : needed.contains("avx") ? 32 : 16;
    machine.vectorRegisters = hasLongVectors ? 32 : 16;
    bool hasQuads = needed.contains(machine.vectorBytes == 64 ? "avx512vnni" : "avxvnni");
    bool hasPairs = machine.vectorBytes == 16 || needed.contains(machine.vectorBytes == 64 ? "avx512bw" : "avx2");
    machine.int8Dot = hasQuads ? Int8Dot::vnni : hasPairs ? Int8Dot::pmaddWd : Int8Dot::scalar;
    bool hasTiles = machine.vectorBytes == 64 && needed.contains("amx-tile");
    machine.amxInt8 = hasTiles && needed.contains("amx-int8");
    machine.amxBf16 = hasTiles && needed.contains("amx-bf16");
    // On Zen 4, bf16 dot-2 has twice the throughput in products of an f32 multiply-add. Intel's processors issue one
    // every two cycles, which is half as many products as with f32 multiply-adds.
    bool hasFastPairs = llvm::StringRef(target.cpu).starts_with("znver");
    machine.bf16Pairs = hasFastPairs && machine.vectorBytes == 64 && needed.contains("avx512bf16");
    // On the Intel server that was at hand vectors of 512 bits reach three quarters of their peak in products of
    // panels, nine tenths on Zen (docs/performance/amx.md). Processors that nobody measured are taken for such ones.
    machine.l2Bound = machine.vectorBytes == 64 && !llvm::StringRef(target.cpu).starts_with("znver");
    machine.f16Fma = machine.vectorBytes == 64 && needed.contains("avx512fp16");
    // Zen 4 has 256-bit units, which take two cycles for a 512-bit vector (AMD, Software Optimization Guide for Zen 4,
    // 2.11).
    if (machine.vectorBytes == 64 && llvm::StringRef(target.cpu) == "znver4")
      machine.multiplyAdds = 1;
  } else {
    machine.vectorBytes = 16;
    machine.vectorRegisters = 32;
    machine.f16Fma = needed.contains("asimdhp");
  }
  // The panel width is that of a register block, so that whole panels are read line by line, which the hardware
  // prefetcher recognizes. Blocks of two of four vectors, which skip every second pair of lines, are slower.
  if (machine.vectorRegisters <= 16)
    machine.panelColumns = kPanelColumns / 2;
}

void tenon::sharePanels(llvm::MutableArrayRef<Target> targets) {
  int64_t most = 0;
  for (const Target &target : targets)
    most = std::max(most, target.machine.panelColumns);
  for (Target &target : targets)
    target.machine.panelColumns = most;
}

/// Sets the cache sizes that the operating system reports for this machine. Some systems report none.
static void setCaches(Machine &machine) {
  // A virtual machine reports the whole last-level cache of its host, which other guests use, too. Its cores are
  // assumed to have their share of it, 1 to 4 MB on recent servers.
  constexpr int64_t kSharedBytesOfCore = 4 << 20;
  if (long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC); ways > 0)
    machine.l1Ways = ways;
  if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    machine.l2Bytes = bytes;
  if (long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0)
    machine.llcBytes = std::min<int64_t>(bytes, sysconf(_SC_NPROCESSORS_ONLN) * kSharedBytesOfCore);
}

/// For tests: the processor that this machine pretends to be, such as "x86-64-v2". Null if it is not set.
static const char *getPretended() {
  const char *name = std::getenv("TENON_TEST_CPU");
  return name && *name ? name : nullptr;
}

/// Returns the features that this machine's processor has or lacks, by LLVM's names.
static llvm::StringMap<bool> getOwnFeatures() {
  llvm::StringMap<bool> own = llvm::sys::getHostCPUFeatures();
  const char *name = getPretended();
  if (!name)
    return own;
  llvm::SmallVector<llvm::StringRef> features;
  llvm::X86::getFeaturesForCPU(name, features);
  llvm::StringMap<bool> withImplied;
  for (llvm::StringRef feature : features) {
    withImplied[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, withImplied);
  }
  // Features that all processors of the architecture have are not listed.
  for (auto &feature : own)
    feature.second &= feature.first() == "64bit" || withImplied.lookup(feature.first());
  return own;
}

static Target getHost() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  Target target{nullptr,
                "host",
                triple.str(),
                triple.getArchName().str(),
                getPretended() ? getPretended() : llvm::sys::getHostCPUName().str(),
                "",
                ""};
  target.runsHere = true;
  llvm::StringSet<> enabled;
  // The iteration order of a StringMap is unspecified, and the artifact must not depend on it.
  std::vector<std::string> features;
  // The operating system grants or denies the use of AMX tiles on request.
  bool hasTiles = !rt::acquireTargetState("amx-tile").failed();
  for (auto &feature : getOwnFeatures()) {
    bool isEnabled = feature.second && (hasTiles || !feature.first().starts_with("amx-"));
    features.push_back((isEnabled ? "+" : "-") + feature.first().str());
  }
  llvm::sort(features);
  for (const std::string &feature : features) {
    target.features += (target.features.empty() ? "" : ",") + feature;
    if (feature[0] == '+')
      enabled.insert(toFormatName(llvm::StringRef(feature).drop_front()));
  }
  target.needed = describeNeeds(target.arch, enabled);
  setVectorShape(target);
  if (!getPretended())
    setCaches(target.machine);
  return target;
}

/// `name` is that of a processor, optionally with additional features: "x86-64-v3+avxvnni".
static std::optional<Target> getX86(llvm::StringRef name) {
  auto [cpu, added] = name.split('+');
  if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None)
    return std::nullopt;
  Target target{nullptr, name.str(), "x86_64-unknown-linux-gnu", "x86_64", cpu.str(), "", ""};
  llvm::SmallVector<llvm::StringRef> features, own;
  llvm::X86::getFeaturesForCPU(cpu, features);
  if (cpu != name)
    added.split(own, '+');
  for (llvm::StringRef feature : own) {
    if (!llvm::is_contained(fmt::kX86Features, feature))
      return std::nullopt;
    target.features += (target.features.empty() ? "+" : ",+") + feature.str();
  }
  features.append(own);
  // LLVM lists avx512bw without the implied avx512f; an artifact lists all features that its code requires.
  llvm::StringMap<bool> withImplied;
  for (llvm::StringRef feature : features) {
    withImplied[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, withImplied);
  }
  llvm::StringSet<> enabled;
  llvm::StringMap<bool> host = getOwnFeatures();
  target.runsHere = llvm::Triple(llvm::sys::getProcessTriple()).getArch() == llvm::Triple::x86_64;
  for (auto &feature : withImplied) {
    enabled.insert(feature.first());
    if (auto it = host.find(feature.first()); it != host.end())
      target.runsHere &= it->second;
  }
  target.needed = describeNeeds(target.arch, enabled);
  setVectorShape(target);
  return target;
}

/// The features of 64-bit Arm, by LLVM's names, that code may use and that the runtime tests for. Kernels use 128-bit
/// vectors, for which SVE has no advantage.
static constexpr llvm::StringRef kArmFeatures[] = {"neon",    "fp-armv8", "fullfp16", "dotprod",
                                                   "fp16fml", "bf16",     "i8mm"};

/// `name` is "aarch64" or that of a processor, optionally with additional features: "cortex-a76", "aarch64+dotprod".
static std::optional<Target> getArm(llvm::StringRef name) {
  auto [cpu, added] = name.split('+');
  std::optional<llvm::AArch64::CpuInfo> info = llvm::AArch64::parseCpu(cpu == "aarch64" ? "generic" : cpu);
  if (!info)
    return std::nullopt;
  llvm::StringSet<> enabled;
  for (llvm::StringRef feature : kArmFeatures)
    if (auto extension = llvm::AArch64::targetFeatureToExtension(("+" + feature).str()))
      if (info->DefaultExtensions.test(extension->ID))
        enabled.insert(feature);
  llvm::SmallVector<llvm::StringRef> own;
  if (cpu != name)
    added.split(own, '+');
  for (llvm::StringRef feature : own) {
    if (!llvm::is_contained(kArmFeatures, feature))
      return std::nullopt;
    enabled.insert(feature);
  }
  // Code may only use features that the runtime tests for; other features of the processor are left out.
  Target target{nullptr, name.str(), "aarch64-unknown-linux-gnu", "aarch64", "generic", "", ""};
  if (cpu != "aarch64")
    target.tuneCpu = info->Name.str();
  llvm::StringSet<> needed;
  for (llvm::StringRef feature : kArmFeatures)
    if (enabled.contains(feature)) {
      target.features += (target.features.empty() ? "+" : ",+") + feature.str();
      needed.insert(toFormatName(feature));
    }
  target.needed = describeNeeds(target.arch, needed);
  target.runsHere = llvm::Triple(llvm::sys::getProcessTriple()).getArch() == llvm::Triple::aarch64;
  if (target.runsHere)
    for (auto &feature : getOwnFeatures())
      target.runsHere &= feature.second || !enabled.contains(feature.first());
  setVectorShape(target);
  return target;
}

std::optional<Target> tenon::getCpuTarget(llvm::StringRef name) {
  if (name == "host")
    return getHost();
  if (std::optional<Target> target = getX86(name))
    return target;
  return getArm(name);
}

std::vector<std::string> tenon::getCpuTargetNames() {
  return {"host",
          "x86-64-v2",
          "x86-64-v3",
          "x86-64-v4",
          "aarch64",
          "an x86-64 or Arm processor as LLVM calls it (znver4, sapphirerapids, cortex-a76, neoverse-n1, ...)",
          "one with more features (x86-64-v3+avxvnni, aarch64+dotprod)"};
}
