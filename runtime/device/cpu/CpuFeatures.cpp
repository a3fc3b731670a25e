//===- CpuFeatures.cpp - what this CPU can run ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuFeatures.h"

#include "runtime/format/Target.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tenon::rt {

#if defined(__x86_64__)

namespace {
/// The cpuid bit of a feature, and the register state that the system must save for it.
struct X86Feature {
  const char *name;
  uint32_t leaf, subleaf;
  char reg; // 'a' to 'd'
  uint8_t bit;
  uint8_t state; // index into kStates
};
} // namespace

/// Bits of XCR0: SSE and AVX; these and the AVX-512 registers; these and the AMX tiles.
static constexpr uint64_t kStates[] = {0, 0x6, 0xe6, 0x60006};

/// From the Intel SDM, volume 2, CPUID, and the AMD APM, volume 3, appendix E.
static constexpr X86Feature kFeatures[] = {
    {"sse3", 1, 0, 'c', 0, 0},          {"ssse3", 1, 0, 'c', 9, 0},
    {"sse4.1", 1, 0, 'c', 19, 0},       {"sse4.2", 1, 0, 'c', 20, 0},
    {"popcnt", 1, 0, 'c', 23, 0},       {"avx", 1, 0, 'c', 28, 1},
    {"avx2", 7, 0, 'b', 5, 1},          {"fma", 1, 0, 'c', 12, 1},
    {"f16c", 1, 0, 'c', 29, 1},         {"bmi", 7, 0, 'b', 3, 0},
    {"bmi2", 7, 0, 'b', 8, 0},          {"lzcnt", 0x80000001, 0, 'c', 5, 0},
    {"movbe", 1, 0, 'c', 22, 0},        {"avxvnni", 7, 1, 'a', 4, 1},
    {"avx512f", 7, 0, 'b', 16, 2},      {"avx512bw", 7, 0, 'b', 30, 2},
    {"avx512cd", 7, 0, 'b', 28, 2},     {"avx512dq", 7, 0, 'b', 17, 2},
    {"avx512vl", 7, 0, 'b', 31, 2},     {"avx512vnni", 7, 0, 'c', 11, 2},
    {"avx512bf16", 7, 1, 'a', 5, 2},    {"avx512fp16", 7, 0, 'd', 23, 2},
    {"avx512vbmi", 7, 0, 'c', 1, 2},    {"avx512vbmi2", 7, 0, 'c', 6, 2},
    {"avx512bitalg", 7, 0, 'c', 12, 2}, {"avx512vpopcntdq", 7, 0, 'c', 14, 2},
    {"avx512ifma", 7, 0, 'b', 21, 2},   {"amx-tile", 7, 0, 'd', 24, 3},
    {"amx-int8", 7, 0, 'd', 25, 3},     {"amx-bf16", 7, 0, 'd', 22, 3},
};

static constexpr size_t kFeatureCount = sizeof(kFeatures) / sizeof(kFeatures[0]);

static constexpr bool featuresMatchFormat() {
  constexpr size_t kCount = sizeof(fmt::kX86Features) / sizeof(fmt::kX86Features[0]);
  if (kCount != kFeatureCount || kCount > 64)
    return false;
  for (size_t i = 0; i < kCount; ++i)
    if (std::string_view(kFeatures[i].name) != fmt::kX86Features[i])
      return false;
  return true;
}
static_assert(featuresMatchFormat(), "kFeatures must list the features of Target.h in the same order");

/// Returns the register state that the system saves (XCR0); 0 if it saves none.
static uint64_t savedState() {
  uint32_t a, b, c, d;
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

CpuFeatures detectCpu() {
  CpuFeatures cpu{"x86_64", fmt::kX86Features, kFeatureCount};
  uint64_t saved = savedState();
  for (size_t i = 0; i < kFeatureCount; ++i) {
    const X86Feature &feature = kFeatures[i];
    uint32_t regs[4];
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1], &regs[2], &regs[3]))
      continue;
    uint64_t state = kStates[feature.state];
    if ((regs[feature.reg - 'a'] >> feature.bit & 1) && (saved & state) == state)
      cpu.present |= uint64_t(1) << i;
  }
  return cpu;
}

#elif defined(__aarch64__)

namespace {
struct Arm64Feature {
  const char *name;
  unsigned long capability; // AT_HWCAP or AT_HWCAP2
  uint8_t bit;
};
} // namespace

/// From Linux, arch/arm64/include/uapi/asm/hwcap.h.
static constexpr Arm64Feature kFeatures[] = {
    {"fp", AT_HWCAP, 0},       {"asimd", AT_HWCAP, 1},     {"asimdhp", AT_HWCAP, 10},
    {"asimddp", AT_HWCAP, 20}, {"asimdfhm", AT_HWCAP, 23}, {"bf16", AT_HWCAP2, 14},
    {"i8mm", AT_HWCAP2, 13},   {"sve", AT_HWCAP, 22},      {"sve2", AT_HWCAP2, 1},
};

static constexpr size_t kFeatureCount = sizeof(kFeatures) / sizeof(kFeatures[0]);

static constexpr bool featuresMatchFormat() {
  constexpr size_t count = sizeof(fmt::kAArch64Features) / sizeof(fmt::kAArch64Features[0]);
  if (count != kFeatureCount || count > 64)
    return false;
  for (size_t i = 0; i < count; ++i)
    if (std::string_view(kFeatures[i].name) != fmt::kAArch64Features[i])
      return false;
  return true;
}
static_assert(featuresMatchFormat(), "kFeatures must list the features of Target.h in the same order");

CpuFeatures detectCpu() {
  CpuFeatures cpu{"aarch64", fmt::kAArch64Features, kFeatureCount};
  for (size_t i = 0; i < kFeatureCount; ++i)
    if (getauxval(kFeatures[i].capability) >> kFeatures[i].bit & 1)
      cpu.present |= uint64_t(1) << i;
  return cpu;
}

#else
#error "the CPU device knows x86-64 and aarch64; a new architecture needs its features here and in Target.h"
#endif

/// The features that name the level of a CPU's vector unit, for messages.
static bool isLevel(std::string_view name) {
  for (std::string_view level : {"sse4.2", "avx", "avx2", "avx512f", "avx512vnni", "avx512bf16", "avx512fp16",
                                 "amx-tile", "asimd", "asimdhp", "asimddp", "i8mm", "sve", "sve2"})
    if (name == level)
      return true;
  return false;
}

static const char *levelOf(const CpuFeatures &cpu) {
  const char *level = "none of the vector features";
  for (size_t i = 0; i < cpu.count; ++i)
    if (cpu.has(i) && isLevel(cpu.names[i]))
      level = cpu.names[i];
  return level;
}

Status matchTarget(const char *target, const CpuFeatures &cpu) {
  std::string_view rest(target);
  size_t colon = rest.find(':');
  std::string_view arch = rest.substr(0, colon);
  if (arch != cpu.arch)
    return Status::make(TENON_UNSUPPORTED, "needs %.*s, this CPU is %s", int(arch.size()), arch.data(), cpu.arch);
  rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string_view feature = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    size_t i = 0;
    while (i < cpu.count && feature != cpu.names[i])
      ++i;
    if (i == cpu.count)
      return Status::make(TENON_UNSUPPORTED, "needs '%.*s', which this runtime does not know", int(feature.size()),
                          feature.data());
    if (!cpu.has(i))
      return Status::make(TENON_UNSUPPORTED, "needs %.*s, this CPU has %s", int(feature.size()), feature.data(),
                          levelOf(cpu));
  }
  return {};
}

const char *getTarget(const CpuFeatures &cpu) {
  // The levels of the x86-64 psABI, with the features that each adds.
  static constexpr const char *kTargets[][2] = {
      {"x86-64-v4", "x86_64:avx512f,avx512bw,avx512cd,avx512dq,avx512vl"},
      {"x86-64-v3", "x86_64:avx2,fma,f16c,bmi,bmi2,lzcnt,movbe"},
      {"x86-64-v2", "x86_64:sse3,ssse3,sse4.1,sse4.2,popcnt"},
      {"aarch64", "aarch64:fp,asimd"},
  };
  for (auto [name, needs] : kTargets)
    if (!matchTarget(needs, cpu).failed())
      return name;
  return "";
}

Status acquireTargetState(const char *target) {
#if defined(__x86_64__)
  if (!strstr(target, "amx-"))
    return {};
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0)
    return Status::make(TENON_UNSUPPORTED, "needs AMX, which the system refuses: %s", strerror(errno));
#else
  (void)target;
#endif
  return {};
}

} // namespace tenon::rt
