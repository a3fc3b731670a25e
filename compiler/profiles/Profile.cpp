//===- Profile.cpp - what is known of a kernel's real runs ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/profiles/Profile.h"
#include "compiler/errors/CompileError.h"
#include "runtime/base/CpuCount.h"
#include "runtime/base/Processor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include "xxhash.h"

using namespace tenon;
using Json = nlohmann::ordered_json;

static std::string getHash(llvm::StringRef text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16);
}

std::string Hardware::getFingerprint() const {
  std::string text;
  llvm::raw_string_ostream(text) << cpu << '\n'
                                 << features << '\n'
                                 << cores << '\n'
                                 << l1Bytes << '\n'
                                 << l2Bytes << '\n'
                                 << llcBytes;
  return getHash(text);
}

std::string KernelVariant::getRegionFingerprint() const { return getHash(region); }

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

static std::string readFile(const char *path) {
  // Files of the kernel tell no size.
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Returns the processor's name with its identifying numbers, since virtual machines give different processors the same
/// name.
static std::string getCpuName() {
  static constexpr llvm::StringLiteral kNumbers[] = {"vendor_id",       "cpu family", "model",      "stepping",
                                                     "CPU implementer", "CPU part",   "CPU variant"};
  std::string numbers;
  std::string cpuinfo = readFile("/proc/cpuinfo");
  for (llvm::StringRef line : llvm::split(cpuinfo, '\n')) {
    // The next processor begins.
    if (line.trim().empty())
      break;
    auto [key, value] = line.split(':');
    if (llvm::is_contained(kNumbers, key.trim()))
      numbers += (numbers.empty() ? "" : " ") + value.trim().str();
  }
  return rt::getProcessorName() + (numbers.empty() ? "" : " (" + numbers + ")");
}

static int64_t getSystemFigure(int name) { return std::max<int64_t>(sysconf(name), 0); }

Hardware tenon::getThisHardware(llvm::StringRef features) {
  Hardware hardware;
  hardware.cpu = getCpuName();
  hardware.features = features.str();
  hardware.cores = rt::usableCpus();
  hardware.l1Bytes = getSystemFigure(_SC_LEVEL1_DCACHE_SIZE);
  hardware.l2Bytes = getSystemFigure(_SC_LEVEL2_CACHE_SIZE);
  hardware.llcBytes = getSystemFigure(_SC_LEVEL3_CACHE_SIZE);
  utsname system;
  if (uname(&system) == 0)
    hardware.os = std::string(system.sysname) + " " + system.release;
  hardware.governor = rt::getGovernor();
  return hardware;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

void tenon::setTimes(ProfileRecord &record, std::vector<double> times) {
  assert(!times.empty() && "a record is made of one run or more");
  llvm::sort(times);
  // The nearest rank, so that every percentile is a measured time.
  auto getRank = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  record.runs = static_cast<int64_t>(times.size());
  record.min = times.front();
  record.median = getRank(0.5);
  record.p95 = getRank(0.95);
  record.spread = record.median > 0 ? (getRank(0.75) - getRank(0.25)) / record.median : 0;
}

//===----------------------------------------------------------------------===//
// Hostile records
//===----------------------------------------------------------------------===//

llvm::Error tenon::checkRecord(const ProfileRecord &record) {
  // Implausible values: times of a day, or less than a cycle, and huge numbers of runs or threads.
  constexpr double kMaxTime = 86400e9, kMinTime = 0.1;
  constexpr int64_t kMaxCount = int64_t(1) << 32;
  constexpr size_t kMaxText = 1 << 20;
  const Hardware &hardware = record.hardware;
  for (auto [name, value] : {std::pair("min", record.min), {"median", record.median}, {"p95", record.p95}})
    if (!(value >= kMinTime && value <= kMaxTime))
      return makeError(CompileStatus::invalid, std::string(name) + " is no time of a run");
  if (!(record.min <= record.median && record.median <= record.p95))
    return makeError(CompileStatus::invalid, "min, median and p95 are not in order");
  if (!(record.spread >= 0 && record.spread <= kMaxTime))
    return makeError(CompileStatus::invalid, "spread is not in range");
  if (record.error && !(*record.error >= 0 && std::isfinite(*record.error)))
    return makeError(CompileStatus::invalid, "error is not finite and 0 or more");
  for (auto [name, value] : {std::pair("threads", record.threads), {"runs", record.runs}, {"cores", hardware.cores}})
    if (value < 1 || value > kMaxCount)
      return makeError(CompileStatus::invalid, std::string(name) + " is not in range");
  if (record.time < 0)
    return makeError(CompileStatus::invalid, "time is not in range");
  for (int64_t bytes : {hardware.l1Bytes, hardware.l2Bytes, hardware.llcBytes})
    if (bytes < 0)
      return makeError(CompileStatus::invalid, "the size of a cache is not in range");
  if (record.kernel.region.empty() || record.kernel.schedule.empty() || hardware.cpu.empty())
    return makeError(CompileStatus::invalid, "region, schedule or cpu is empty");
  for (const std::string *text :
       {&record.kernel.region, &record.kernel.schedule, &record.kernel.compiler, &hardware.cpu, &hardware.features,
        &hardware.os, &hardware.governor, &record.errorReference})
    if (text->size() > kMaxText || !llvm::json::isUTF8(*text) || llvm::StringRef(*text).contains('\0'))
      return makeError(CompileStatus::invalid, "a text is too long or no UTF-8");
  return llvm::Error::success();
}

std::string tenon::toJsonLine(const ProfileRecord &record) {
  const Hardware &hardware = record.hardware;
  Json json = {{"region", record.kernel.region},
               {"schedule", record.kernel.schedule},
               {"compiler", record.kernel.compiler},
               {"cpu", hardware.cpu},
               {"features", hardware.features},
               {"cores", hardware.cores},
               {"l1_bytes", hardware.l1Bytes},
               {"l2_bytes", hardware.l2Bytes},
               {"llc_bytes", hardware.llcBytes},
               {"os", hardware.os},
               {"governor", hardware.governor},
               {"threads", record.threads},
               {"runs", record.runs},
               {"min_ns", record.min},
               {"median_ns", record.median},
               {"p95_ns", record.p95},
               {"spread", record.spread},
               {"error", record.error ? Json(*record.error) : Json()},
               {"error_reference", record.errorReference},
               {"warm", record.isWarm},
               {"time", record.time}};
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

namespace {
/// Reads the fields of an object, and remembers the first one that is missing or has another type.
class FieldReader {
public:
  explicit FieldReader(const Json &object) : object(object) {}

  void read(const char *name, std::string &value) {
    if (const Json *field = find(name, &Json::is_string))
      value = field->get<std::string>();
  }
  void read(const char *name, int64_t &value) {
    if (const Json *field = find(name, &Json::is_number_integer))
      value = field->get<int64_t>();
  }
  void read(const char *name, double &value) {
    if (const Json *field = find(name, &Json::is_number))
      value = field->get<double>();
  }
  void read(const char *name, bool &value) {
    if (const Json *field = find(name, &Json::is_boolean))
      value = field->get<bool>();
  }
  void read(const char *name, std::optional<double> &value) {
    auto it = object.find(name);
    if (it != object.end() && it->is_null())
      return;
    double number = 0;
    read(name, number);
    value = number;
  }
  const std::string &getFault() const { return fault; }

private:
  const Json *find(const char *name, bool (Json::*isRight)() const noexcept) {
    auto it = object.find(name);
    if (it != object.end() && ((*it).*isRight)())
      return &*it;
    if (fault.empty())
      fault = std::string("'") + name + (it == object.end() ? "' is missing" : "' has another type");
    return nullptr;
  }

  const Json &object;
  std::string fault;
};
} // namespace

llvm::Expected<ProfileRecord> tenon::parseJsonLine(llvm::StringRef line) {
  // Records are flat.
  auto isShallow = [](int depth, Json::parse_event_t, Json &) { return depth < 4; };
  Json json = Json::parse(line.begin(), line.end(), isShallow, /*allow_exceptions=*/false);
  if (!json.is_object())
    return makeError(CompileStatus::invalid, "no JSON object");
  ProfileRecord record;
  FieldReader reader(json);
  reader.read("region", record.kernel.region);
  reader.read("schedule", record.kernel.schedule);
  reader.read("compiler", record.kernel.compiler);
  reader.read("cpu", record.hardware.cpu);
  reader.read("features", record.hardware.features);
  reader.read("cores", record.hardware.cores);
  reader.read("l1_bytes", record.hardware.l1Bytes);
  reader.read("l2_bytes", record.hardware.l2Bytes);
  reader.read("llc_bytes", record.hardware.llcBytes);
  reader.read("os", record.hardware.os);
  reader.read("governor", record.hardware.governor);
  reader.read("threads", record.threads);
  reader.read("runs", record.runs);
  reader.read("min_ns", record.min);
  reader.read("median_ns", record.median);
  reader.read("p95_ns", record.p95);
  reader.read("spread", record.spread);
  reader.read("error", record.error);
  reader.read("error_reference", record.errorReference);
  reader.read("warm", record.isWarm);
  reader.read("time", record.time);
  record.origin = "imported";
  if (!reader.getFault().empty())
    return makeError(CompileStatus::invalid, reader.getFault());
  if (llvm::Error error = checkRecord(record))
    return error;
  return record;
}

void tenon::forEachJsonLine(llvm::StringRef text,
                            llvm::function_ref<void(size_t line, llvm::Expected<ProfileRecord> record)> use) {
  for (size_t number = 1; !text.empty(); ++number) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    if (!line.trim().empty())
      use(number, parseJsonLine(line));
  }
}
