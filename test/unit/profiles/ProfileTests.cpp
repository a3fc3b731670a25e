//===- ProfileTests.cpp - records, and what cannot be one -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "runtime/base/CpuCount.h"
#include "test/unit/profiles/MakeRecord.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace tenon;

TEST_CASE("figures of a sample are times that were measured") {
  ProfileRecord record;
  setTimes(record, {50, 10, 30, 20, 40});
  CHECK(record.runs == 5);
  CHECK(record.min == 10);
  CHECK(record.median == 30);
  CHECK(record.p95 == 40);
  CHECK(record.spread == Approx(20.0 / 30));
  setTimes(record, {7});
  CHECK(record.median == 7);
  CHECK(record.p95 == 7);
  CHECK(record.spread == 0);
}

TEST_CASE("a record comes back from its line") {
  ProfileRecord record = makeRecord("conv\n\"x\"", "winograd-4", 1234.5);
  std::optional<ProfileRecord> back = llvm::expectedToOptional(parseJsonLine(toJsonLine(record)));
  REQUIRE(back);
  CHECK(back->kernel.region == record.kernel.region);
  CHECK(back->kernel.schedule == "winograd-4");
  CHECK(back->hardware.getFingerprint() == record.hardware.getFingerprint());
  CHECK(back->median == 1234.5);
  CHECK(back->p95 == record.p95);
  CHECK(*back->error == 1e-6);
  CHECK(back->origin == "imported");
  record.error.reset();
  CHECK(!llvm::cantFail(parseJsonLine(toJsonLine(record))).error);
}

TEST_CASE("fingerprints tell machines and regions apart") {
  Hardware one = makeRecord("a", "s", 1).hardware, two = one;
  CHECK(one.getFingerprint().size() == 32);
  CHECK(one.getFingerprint() == two.getFingerprint());
  two.governor = "powersave";
  CHECK(one.getFingerprint() == two.getFingerprint());
  for (auto change :
       {+[](Hardware &h) { h.cpu += "x"; }, +[](Hardware &h) { h.features += ",fma"; }, +[](Hardware &h) { ++h.cores; },
        +[](Hardware &h) { h.l2Bytes *= 2; }, +[](Hardware &h) { h.llcBytes *= 2; }}) {
    Hardware changed = one;
    change(changed);
    CHECK(changed.getFingerprint() != one.getFingerprint());
  }
  CHECK(makeRecord("a", "s", 1).kernel.getRegionFingerprint() == makeRecord("a", "t", 2).kernel.getRegionFingerprint());
  CHECK(makeRecord("a", "s", 1).kernel.getRegionFingerprint() != makeRecord("b", "s", 1).kernel.getRegionFingerprint());
  CHECK(!getThisHardware("x86_64:avx2").cpu.empty());
  // Or a record would not be found again: it is made with the threads of a session.
  CHECK(getThisHardware("x86_64:avx2").cores == rt::usableCpus());
  CHECK(!llvm::errorToBool(checkRecord(makeRecord("a", "s", 100))));
}

TEST_CASE("what cannot have been measured is a fault") {
  auto refuses = [](void (*change)(ProfileRecord &), const char *words) {
    ProfileRecord record = makeRecord("a", "s", 100);
    change(record);
    INFO(words);
    CHECK_THAT(llvm::toString(checkRecord(record)), Catch::Matchers::Contains(words));
  };
  refuses([](ProfileRecord &r) { r.median = NAN; }, "median is no time");
  refuses([](ProfileRecord &r) { r.min = -1; }, "min is no time");
  refuses([](ProfileRecord &r) { r.min = 0; }, "min is no time");
  refuses([](ProfileRecord &r) { r.p95 = INFINITY; }, "p95 is no time");
  refuses([](ProfileRecord &r) { r.min = 101; }, "not in order");
  refuses([](ProfileRecord &r) { r.spread = -0.5; }, "spread");
  refuses([](ProfileRecord &r) { r.error = NAN; }, "error is not finite");
  refuses([](ProfileRecord &r) { r.error = -1e-9; }, "error is not finite");
  refuses([](ProfileRecord &r) { r.threads = 0; }, "threads");
  refuses([](ProfileRecord &r) { r.runs = -1; }, "runs");
  refuses([](ProfileRecord &r) { r.hardware.cores = 0; }, "cores");
  refuses([](ProfileRecord &r) { r.hardware.llcBytes = -1; }, "cache");
  refuses([](ProfileRecord &r) { r.time = -1; }, "time is not in range");
  refuses([](ProfileRecord &r) { r.kernel.region.clear(); }, "empty");
  refuses([](ProfileRecord &r) { r.kernel.schedule = "\xff"; }, "no UTF-8");
  refuses([](ProfileRecord &r) { r.kernel.region.assign((1 << 20) + 1, 'a'); }, "too long");
  refuses([](ProfileRecord &r) { r.hardware.cpu = std::string("a\0b", 3); }, "no UTF-8");
}

TEST_CASE("lines that are no records are refused with a reason") {
  auto getError = [](const std::string &line) {
    std::string message;
    CompileStatus category = takeError(parseJsonLine(line).takeError(), message);
    CHECK(category == (message.empty() ? CompileStatus::done : CompileStatus::invalid));
    return message;
  };
  std::string good = toJsonLine(makeRecord("a", "s", 100));
  CHECK(getError(good).empty());
  CHECK(getError("") == "no JSON object");
  CHECK(getError("[1]") == "no JSON object");
  CHECK(getError(std::string(100000, '[')) == "no JSON object");
  CHECK(getError("{}") == "'region' is missing");
  auto replace = [&](const std::string &from, const std::string &to) {
    std::string line = good;
    size_t at = line.find(from);
    REQUIRE(at != std::string::npos);
    return line.replace(at, from.size(), to);
  };
  CHECK(getError(replace("\"threads\":2", "\"threads\":\"2\"")) == "'threads' has another type");
  CHECK(getError(replace("\"threads\":2", "\"threads\":2.5")) == "'threads' has another type");
  CHECK(getError(replace("\"median_ns\":100.0", "\"median_ns\":1e999")).size() > 0);
  CHECK(getError(replace("\"median_ns\":100.0", "\"median_ns\":null")) == "'median_ns' has another type");
  CHECK(getError(replace("\"warm\":true", "\"cold\":true")) == "'warm' is missing");
}

TEST_CASE("damaged lines never crash the reader") {
  std::mt19937 random(20261126);
  std::string good = toJsonLine(makeRecord("conv(\"\\u00e9\")", "s", 100));
  for (int i = 0; i < 20000; ++i) {
    std::string line = good;
    for (unsigned flips = 1 + random() % 6; flips > 0; --flips)
      line[random() % line.size()] = char(random());
    line.resize(random() % 3 ? line.size() : random() % line.size());
    llvm::Expected<ProfileRecord> record = parseJsonLine(line);
    if (record)
      CHECK(!llvm::errorToBool(checkRecord(*record)));
    else
      CHECK(!llvm::toString(record.takeError()).empty());
  }
}
