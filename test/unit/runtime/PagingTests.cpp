//===- PagingTests.cpp - runs with less memory than weights ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FreeMemory.h"
#include "runtime/plan/PagingPlan.h"
#include "runtime/plan/Verify.h"
#include "test/unit/runtime/Runner.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

namespace {
/// Copies weights, of 600,000 bytes each, to the output, one after the other.
struct Copies : ArtifactBuilder {
  static constexpr int64_t kBytes = 600'000;
  uint32_t size = constant(kBytes), out = 0;
  std::vector<uint32_t> weightBuffers;

  explicit Copies(int64_t count) {
    int64_t stride = (kBytes + 63) / 64 * 64;
    weights.resize(size_t(count * stride));
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = uint8_t(i * 2654435761u >> 13);
    out = output("y", fmt::DType::u8, {constant(count * kBytes)});
    for (int64_t k = 0; k < count; ++k)
      weightBuffers.push_back(buffer("w" + std::to_string(k), fmt::Storage::weight, constant(k * stride), size));
  }
  /// To part `to` of the output.
  void copy(size_t weight, int64_t to) {
    uint32_t part = buffer("y", fmt::Storage::output, constant(to * kBytes), size, out);
    instruction(fmt::Opcode::copy, 0, 0, 0, {weightBuffers[weight], part}, {size},
                "copy of w" + std::to_string(weight));
  }
  bool isCopied(const std::vector<uint8_t> &y, size_t weight, size_t part) const {
    return memcmp(y.data() + part * kBytes, weights.data() + weight * ((kBytes + 63) / 64 * 64), kBytes) == 0;
  }
};

/// A session with a budget on an artifact in a file.
struct FileRunner {
  std::string path = "/tmp/tenon-paging-test-" + std::to_string(getpid()) + ".tenon";
  tenon_artifact *artifact = nullptr;
  tenon_session *session = nullptr;
  tenon_error error{};
  tenon_status status;

  FileRunner(const ArtifactBuilder &builder, tenon_session_options options) : FileRunner(builder.build(), options) {}
  FileRunner(const Bytes &bytes, tenon_session_options options) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size));
    status = tenon_artifact_load_file(path.c_str(), nullptr, &artifact, &error);
    if (status == TENON_OK)
      status = tenon_session_create(artifact, &options, &session, &error);
  }
  ~FileRunner() {
    tenon_session_release(session);
    tenon_artifact_release(artifact);
    std::filesystem::remove(path);
  }
  std::string message() const { return error.message; }
  tenon_status run() { return tenon_session_run(session, &error); }
  std::vector<uint8_t> output() {
    tenon_tensor tensor{};
    REQUIRE(tenon_session_output(session, 0, &tensor, &error) == TENON_OK);
    const auto *data = static_cast<const uint8_t *>(tensor.data);
    return {data, data + tensor.dims[0]};
  }
  /// Bytes of the file that are mapped and in memory, at one moment: other threads load and drop some meanwhile, which
  /// a walk through the text of smaps would count twice.
  uint64_t countResident() const {
    uint64_t page = uint64_t(sysconf(_SC_PAGESIZE)), begin = UINT64_MAX, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    unsigned long long first, last;
    while (maps && fgets(line, sizeof line, maps))
      if (strstr(line, path.c_str()) && sscanf(line, "%llx-%llx", &first, &last) == 2) {
        begin = std::min<uint64_t>(begin, first);
        end = std::max<uint64_t>(end, last);
      }
    if (maps)
      fclose(maps);
    if (begin >= end)
      return 0;
    std::vector<uint64_t> pages((end - begin) / page);
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    ssize_t count = pread(file, pages.data(), pages.size() * sizeof(uint64_t), off_t(begin / page * sizeof(uint64_t)));
    close(file);
    if (count != ssize_t(pages.size() * sizeof(uint64_t)))
      return UINT64_MAX;
    constexpr uint64_t kPresent = uint64_t(1) << 63;
    return page * uint64_t(std::count_if(pages.begin(), pages.end(), [](uint64_t entry) { return entry & kPresent; }));
  }
};

/// Looks at memory after each instruction.
struct Watch {
  FileRunner &runner;
  std::atomic<uint64_t> most{0};
  std::atomic<int> events{0};

  explicit Watch(FileRunner &watched) : runner(watched) {
    auto note = [](void *self, const tenon_profile_event *) {
      auto &watch = *static_cast<Watch *>(self);
      watch.most = std::max<uint64_t>(watch.most, watch.runner.countResident());
      ++watch.events;
    };
    tenon_session_set_profile(runner.session, note, this);
  }
  ~Watch() { tenon_session_set_profile(runner.session, nullptr, nullptr); }
};

constexpr uint64_t kBlock = rt::kWeightBlock;
/// What is mapped of a file besides weights, and of the system's pages around what is asked for.
constexpr uint64_t kBesides = 256 << 10;
} // namespace

static tenon_session_options withBudget(uint64_t bytes, uint32_t threads = 2) {
  tenon_session_options options;
  options.threads = threads;
  options.memory_limit = 0;
  options.slots = 0;
  options.read_ahead = TENON_READ_AHEAD_COLD;
  options.weight_budget = bytes;
  return options;
}

TEST_CASE("with a weight budget results are the same, and no more than that is in memory") {
  constexpr size_t kCount = 24;
  Copies b(kCount);
  for (size_t k = 0; k < kCount; ++k)
    b.copy(k, int64_t(k));
  b.halt();
  // The least that is possible: a weight may reach into four blocks.
  for (uint64_t budget : {4 * kBlock, 7 * kBlock, 20 * kBlock, 100 * kBlock}) {
    FileRunner r(b, withBudget(budget));
    INFO(r.message());
    REQUIRE(r.status == TENON_OK);
    Watch watch(r);
    for (int run = 0; run < 5; ++run) {
      REQUIRE(r.run() == TENON_OK);
      std::vector<uint8_t> y = r.output();
      for (size_t k = 0; k < kCount; ++k)
        CHECK(b.isCopied(y, k, k));
    }
    CHECK(watch.events >= int(5 * kCount));
    CHECK(watch.most <= budget + kBesides);
    CHECK(r.countResident() <= budget + kBesides);
    tenon_memory memory;
    REQUIRE(tenon_session_measure(r.session, &memory, &r.error) == TENON_OK);
    CHECK(memory.weights <= budget);
  }
}

TEST_CASE("a weight budget without room for one launch is refused with the smallest that has it") {
  Copies b(4);
  b.copy(2, 0);
  b.halt();
  FileRunner r(b, withBudget(2 * kBlock));
  CHECK(r.status == TENON_RESOURCES);
  // Bytes 1,200,000 to 1,800,000 are in blocks 4, 5 and 6.
  CHECK_THAT(r.message(), Contains("the weight budget is 524288 bytes, and one launch reads 786432 bytes of weights: "
                                   "that is the smallest possible budget"));
  FileRunner least(b, withBudget(3 * kBlock));
  CHECK(least.status == TENON_OK);
  tenon_session *session = nullptr;
  Loaded inMemory(b);
  tenon_session_options options = withBudget(100 * kBlock);
  tenon_error error;
  CHECK(tenon_session_create(inMemory.artifact, &options, &session, &error) == TENON_MISUSE);
  CHECK_THAT(std::string(error.message), Contains("a weight budget is for artifacts in files"));
}

/// count times: w1 to part 1, then w0 to part 0, w2 to part 2; the loop may be left before its first iteration.
static Copies loopOfCopies() {
  Copies b(4);
  uint32_t eight = b.constant(8), one = b.constant(1);
  b.plan.arena_size = b.constant(128);
  uint32_t start = b.buffer("start", fmt::Storage::input, b.zero, eight, b.input("start", fmt::DType::i64, {}));
  uint32_t counter = b.buffer("counter", fmt::Storage::arena, b.zero, eight);
  uint32_t more = b.buffer("more", fmt::Storage::arena, b.constant(64), one);
  b.copy(3, 3);
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {start, counter}, {eight});
  b.launch("count_down", one, {counter, more}, {}, "first");
  uint32_t loop = b.instruction(fmt::Opcode::branch_if_zero, 0, 0, 0, {more}, {}, "Loop");
  b.copy(1, 1);
  b.copy(0, 0);
  b.launch("count_down", one, {counter, more}, {}, "Loop");
  b.plan.instructions[loop]->a = b.instruction(fmt::Opcode::jump, loop, 0, 0, {}, {}) + 1;
  b.copy(2, 2);
  b.halt();
  return b;
}

TEST_CASE("loops and branches page as they come") {
  Copies b = loopOfCopies();
  FileRunner r(b, withBudget(4 * kBlock));
  INFO(r.message());
  REQUIRE(r.status == TENON_OK);
  for (int64_t count : {5, 1, 2, 1, 30}) {
    tenon_tensor start{TENON_I64, 0, nullptr, &count};
    REQUIRE(tenon_session_bind_input(r.session, 0, &start, &r.error) == TENON_OK);
    REQUIRE(r.run() == TENON_OK);
    std::vector<uint8_t> y = r.output();
    CHECK(b.isCopied(y, 3, 3));
    CHECK(b.isCopied(y, 2, 2));
    CHECK(r.countResident() <= 4 * kBlock + kBesides);
    if (count == 1)
      continue;
    CHECK(b.isCopied(y, 0, 0));
    CHECK(b.isCopied(y, 1, 1));
  }
}

TEST_CASE("programs of an artifact share a weight budget") {
  Copies b(6);
  uint32_t n = b.symbol("N", 1, 1), input = b.input("x", fmt::DType::u8, {n});
  b.buffer("x", fmt::Storage::input, b.zero, n, input);
  for (size_t k : {0, 1, 2})
    b.copy(k, int64_t(k));
  b.halt();
  b.makeProgram("N=1");
  b.plan.symbols[0]->max = 64;
  b.plan.instructions.clear();
  for (size_t k : {3, 2, 4, 5})
    b.copy(k, int64_t(k));
  b.halt();
  FileRunner r(b, withBudget(5 * kBlock));
  INFO(r.message());
  REQUIRE(r.status == TENON_OK);
  uint8_t x[64] = {};
  for (int64_t size : {1, 2, 2, 1, 1, 1, 7}) {
    tenon_tensor tensor{TENON_U8, 1, &size, x};
    REQUIRE(tenon_session_bind_input(r.session, 0, &tensor, &r.error) == TENON_OK);
    REQUIRE(r.run() == TENON_OK);
    std::vector<uint8_t> y = r.output();
    for (size_t k : size == 1 ? std::vector<size_t>{0, 1, 2} : std::vector<size_t>{2, 3, 4, 5})
      CHECK(b.isCopied(y, k, k));
    CHECK(r.countResident() <= 5 * kBlock + kBesides);
  }
}

TEST_CASE("a damaged block is found when it is paged in, and other programs still run") {
  Copies b(6);
  for (size_t k = 0; k < 6; ++k)
    b.copy(k, int64_t(k));
  b.halt();
  Bytes bytes = b.build();
  // Of the fourth weight, which begins in the seventh block.
  size_t at = 0;
  for (; memcmp(bytes.data() + at, b.weights.data(), 4096) != 0; at += 64)
    REQUIRE(at < bytes.size);
  bytes.data()[at + 8 * kBlock] ^= 1;
  for (uint64_t budget : {uint64_t(0), 5 * kBlock}) {
    FileRunner r(bytes, withBudget(budget));
    REQUIRE(r.status == TENON_OK);
    for (int run = 0; run < 2; ++run) {
      CHECK(r.run() == TENON_INVALID);
      CHECK_THAT(r.message(), Contains("damaged: the hash of its weights from byte 2097152 to 2359296, which node "
                                       "'copy of w3' reads, is"));
    }
  }
}

TEST_CASE("a file that is cut short while it is loaded gets a message where its weights are paged") {
  Copies b(8);
  for (size_t k = 0; k < 8; ++k)
    b.copy(k, int64_t(k));
  b.halt();
  FileRunner r(b, withBudget(4 * kBlock));
  REQUIRE(r.status == TENON_OK);
  REQUIRE(r.run() == TENON_OK);
  std::filesystem::resize_file(r.path, std::filesystem::file_size(r.path) / 2);
  // What is in memory already may do for some runs.
  CHECK(r.run() == TENON_INVALID);
  CHECK_THAT(r.message(), Contains("bytes of weights cannot be read: their file was cut short, or its disk fails"));
}

TEST_CASE("weights are read ahead, and are what they are without that") {
  Copies b(8);
  for (size_t k = 0; k < 8; ++k)
    b.copy(7 - k, int64_t(k));
  b.halt();
  for (tenon_read_ahead when : {TENON_READ_AHEAD_ALWAYS, TENON_READ_AHEAD_COLD, TENON_READ_AHEAD_NEVER}) {
    tenon_session_options options = withBudget(0);
    options.read_ahead = when;
    FileRunner r(b, options);
    REQUIRE(r.status == TENON_OK);
    REQUIRE(r.run() == TENON_OK);
    std::vector<uint8_t> y = r.output();
    for (size_t k = 0; k < 8; ++k)
      CHECK(b.isCopied(y, 7 - k, k));
  }
  tenon_session_options options = withBudget(0);
  options.read_ahead = 3;
  CHECK(FileRunner(b, options).status == TENON_MISUSE);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// Instructions that read so many blocks each, all different.
struct Uses : rt::WeightUses {
  explicit Uses(const std::vector<uint64_t> &counts) {
    for (uint64_t count : counts) {
      of.push_back({uint32_t(ranges.size()), uint32_t(count != 0)});
      if (count)
        ranges.push_back({numBlocks, numBlocks + count});
      numBlocks += count;
      loops.push_back(0);
    }
  }
};

rt::PagingTimes timesOf(const Uses &uses, double compute, double readBlock) {
  rt::PagingTimes times;
  times.compute.assign(uses.of.size(), compute);
  times.readBlock = readBlock;
  return times;
}
} // namespace

TEST_CASE("what instructions read of weights is known by blocks") {
  Copies b = loopOfCopies();
  std::vector<uint8_t> bytes = b.planBytes();
  rt::Plan plan;
  REQUIRE(!rt::verifyPlan(bytes.data(), bytes.size(), &plan).failed());
  rt::WeightUses uses = rt::listWeightUses(plan, b.weights.size());
  CHECK(uses.numBlocks == 10);
  CHECK(uses.largest() == 4);
  // w3 has bytes 1,800,192 to 2,400,192.
  CHECK(uses.ranges[uses.of[0].begin] == rt::BlockRange{6, 10});
  CHECK(!uses.has(1));
  CHECK(uses.findNext(plan, 1) == 4);
  // The loop is expected to go on, and a run to begin again.
  CHECK(uses.findNext(plan, 6) == 4);
  CHECK(uses.findNext(plan, 9) == 0);
  CHECK(uses.loops == std::vector<uint32_t>{0, 0, 0, 1, 1, 1, 1, 1, 0, 0});
  std::vector<rt::BlockRange> order = uses.listByFirstUse();
  REQUIRE(order.size() == 4);
  CHECK(order[0] == rt::BlockRange{6, 10});
  CHECK(order[1] == rt::BlockRange{2, 5});
  CHECK(order[2] == rt::BlockRange{0, 2});
  CHECK(order[3] == rt::BlockRange{5, 6});
}

TEST_CASE("a part of a weight at a place that sizes decide counts as all places in their range") {
  Copies b(6);
  uint32_t n = b.symbol("N", 0, 10), any = b.symbol("M");
  b.input("x", fmt::DType::u8, {n, any});
  uint32_t offset = b.expr(fmt::ExprOp::add, b.constant(1'200'128), b.expr(fmt::ExprOp::mul, n, b.constant(1000)));
  uint32_t part = b.buffer("part", fmt::Storage::weight, offset, b.constant(100)),
           anywhere = b.buffer("anywhere", fmt::Storage::weight, any, b.constant(100)),
           to = b.buffer("y", fmt::Storage::output, b.zero, b.constant(100), b.out);
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {part, to}, {b.constant(100)});
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {anywhere, to}, {b.constant(100)});
  b.halt();
  std::vector<uint8_t> bytes = b.planBytes();
  rt::Plan plan;
  rt::Status status = rt::verifyPlan(bytes.data(), bytes.size(), &plan);
  INFO(status.message());
  REQUIRE(!status.failed());
  rt::WeightUses uses = rt::listWeightUses(plan, b.weights.size());
  CHECK(uses.ranges[uses.of[0].begin] == rt::BlockRange{4, 5});
  CHECK(uses.count(1) == uses.numBlocks);
}

TEST_CASE("all weights stay where the budget has room for them") {
  Uses uses({8, 8, 16});
  rt::PagingPlan plan = rt::makePagingPlan(uses, 32, timesOf(uses, 1e-3, 1e-4));
  CHECK(plan.numPinned == 32);
  CHECK(plan.seconds == Approx(3e-3));
}

TEST_CASE("where reading takes longest, the window is small and most weights stay") {
  Uses uses(std::vector<uint64_t>(32, 8));
  // 256 blocks of 1 ms, and almost nothing to compute.
  rt::PagingPlan plan = rt::makePagingPlan(uses, 128, timesOf(uses, 1e-6, 1e-3));
  CHECK(plan.numPinned + plan.window == 128);
  CHECK(plan.window <= 16);
  CHECK(plan.seconds == Approx(double(256 - plan.numPinned) * 1e-3).epsilon(0.02));
  // They are spread, so that there is always something to compute meanwhile.
  for (uint64_t half : {0, 1}) {
    auto begin = plan.pinned.begin() + ptrdiff_t(half * 128);
    CHECK(std::count(begin, begin + 128, 1) == Approx(double(plan.numPinned) / 2).margin(8));
  }
}

TEST_CASE("where long launches hide reading, the window is wide enough for what is read meanwhile") {
  // Two launches of 50 ms, and after each many short ones whose weights take 32 ms to read: what a window has more is
  // read in both, and what stays is saved once.
  Uses uses(std::vector<uint64_t>(18, 4));
  rt::PagingTimes times = timesOf(uses, 1e-4, 1e-3);
  times.compute[0] = times.compute[9] = 0.05;
  rt::PagingPlan plan = rt::makePagingPlan(uses, 48, times);
  rt::PagingPlan narrow = plan;
  narrow.window = 4;
  CHECK(plan.seconds < rt::simulateRun(uses, narrow, times));
  CHECK(plan.window > 4);
}

TEST_CASE("what a loop reads stays first") {
  Uses uses(std::vector<uint64_t>(16, 4));
  for (size_t i = 8; i < 12; ++i)
    uses.loops[i] = 1;
  rt::PagingPlan plan = rt::makePagingPlan(uses, 32, timesOf(uses, 1e-6, 1e-3));
  CHECK(std::count(plan.pinned.begin() + 32, plan.pinned.begin() + 48, 1) == 16);
}

TEST_CASE("no instruction reads more than the window and what stays") {
  Uses uses({4, 30, 4, 4, 4});
  for (uint64_t budget : {30, 33, 36, 45}) {
    rt::PagingPlan plan = rt::makePagingPlan(uses, budget, timesOf(uses, 1e-6, 1e-3));
    uint64_t streamed = uint64_t(std::count(plan.pinned.begin() + 4, plan.pinned.begin() + 34, 0));
    CHECK(streamed <= plan.window);
    CHECK(plan.numPinned + plan.window <= budget);
  }
}

//===----------------------------------------------------------------------===//
// Memory of the system
//===----------------------------------------------------------------------===//

TEST_CASE("a cgroup's memory is what its limit leaves, files apart") {
  namespace fs = std::filesystem;
  std::string root = "/tmp/tenon-cgroup-memory-test-" + std::to_string(getpid());
  auto write = [&](const std::string &name, const std::string &text) {
    fs::create_directories(fs::path(root + name).parent_path());
    std::ofstream(root + name) << text;
  };
  CHECK(rt::cgroupMemory("0::/a\n", root.c_str()) == UINT64_MAX);
  write("/a/memory.max", "max\n");
  write("/a/memory.current", "5000\n");
  CHECK(rt::cgroupMemory("0::/a\n", root.c_str()) == UINT64_MAX);
  write("/a/memory.max", "8000\n");
  CHECK(rt::cgroupMemory("0::/a/b\n", root.c_str()) == 3000);
  write("/a/memory.stat", "anon 3000\ninactive_file 1500\nactive_file 500\n");
  CHECK(rt::cgroupMemory("0::/a/b\n", root.c_str()) == 5000);
  write("/memory/c/memory.limit_in_bytes", "4000\n");
  write("/memory/c/memory.usage_in_bytes", "4000\n");
  write("/memory/c/memory.stat", "inactive_file 7\ntotal_inactive_file 100\n");
  CHECK(rt::cgroupMemory("5:cpu,memory:/c\n", root.c_str()) == 100);
  CHECK(rt::cgroupMemory("5:cpu:/c\n", root.c_str()) == UINT64_MAX);
  fs::remove_all(root);
  CHECK(rt::freeMemory() > 0);
}

TEST_CASE("what is not free is refused before it is used") {
  uint64_t left = 0;
  rt::MemoryWatch watch;
  CHECK(watch.allows(1 << 20, &left));
  CHECK(left == 0);
  CHECK(watch.allows(uint64_t(64) << 20, &left));
  CHECK(left > 0);
  // Little by little is not seen at once, and is in the end.
  rt::MemoryWatch slow;
  left = 0;
  for (int i = 0; i < 63; ++i)
    CHECK(slow.allows(1 << 20, &left));
  CHECK(left == 0);
  CHECK(slow.allows(1 << 20, &left));
  CHECK(left > 0);
  CHECK_FALSE(watch.allows(UINT64_MAX / 2, &left));
  CHECK(rt::checkFreeMemory(0, "nothing").code() == TENON_OK);
  rt::Status status = rt::checkFreeMemory(UINT64_MAX / 2, "tests");
  CHECK(status.code() == TENON_RESOURCES);
  CHECK_THAT(status.message(), Contains("needs 9223372036854775807 more bytes for tests, and the system, or this "
                                        "process's control group, has "));
}
