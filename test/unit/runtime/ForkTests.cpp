//===- ForkTests.cpp - slots that share rows until one writes them --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Memory.h"
#include "runtime/base/SharedPages.h"
#include "test/unit/runtime/Runner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static constexpr bool isSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
static constexpr bool isSanitized = true;
#else
static constexpr bool isSanitized = false;
#endif
#else
static constexpr bool isSanitized = false;
#endif

namespace {

using Floats = std::vector<float>;

/// Lowers a limit of this process while it lives.
struct Limit {
  decltype(RLIMIT_AS) kind;
  rlimit before;

  Limit(decltype(RLIMIT_AS) kind, rlim_t value) : kind(kind) {
    getrlimit(kind, &before);
    rlimit now{value, before.rlim_max};
    REQUIRE(setrlimit(kind, &now) == 0);
  }
  Limit(Limit &&) = delete;
  ~Limit() { setrlimit(kind, &before); }
};

/// States of one row each for `capacity` positions, which grow together, and a ring. A run
/// - appends M rows, the first floats of x, to each state;
/// - then replaces Q rows from row P on by the first floats of `poke`;
/// - writes 32 rows to the ring;
/// and gives all live rows of all of them.
struct Cache {
  static constexpr int64_t kCapacity = 600, kRingRows = 512, kRingStep = 32, kRingWidth = 1024;
  // Of these, the first and the third one are large enough to be shared; rows of the latter cross pages.
  static constexpr int64_t kWidths[] = {1024, 3, 700};
  static constexpr int64_t kMostWidth = 1024;

  ArtifactBuilder b;

  Cache() {
    uint32_t n = b.symbol("N", 0, kCapacity), m = b.symbol("M"), p = b.symbol("P"), q = b.symbol("Q"),
             kept = b.symbol("kept", 0, kRingRows - 1), slot = b.symbol("slot", 0, kRingRows - 1);
    uint32_t sum = b.expr(fmt::ExprOp::add, n, m), most = b.constant(kMostWidth);
    uint32_t xIn = b.input("x", fmt::DType::f32, {m, most}), pokeIn = b.input("poke", fmt::DType::f32, {q, most}),
             ringIn = b.input("r", fmt::DType::f32, {b.constant(kRingStep), b.constant(kRingWidth)});
    b.input("at", fmt::DType::u8, {p});
    for (int64_t width : kWidths) {
      uint32_t row = b.constant(4 * width);
      auto bytes = [&](uint32_t rows) { return b.expr(fmt::ExprOp::mul, rows, row); };
      uint32_t state =
          b.state("k" + std::to_string(width), fmt::DType::f32, {kCapacity, width}, fmt::StateKind::growing);
      b.plan.states[state]->live = 0;
      b.plan.states[state]->next = sum;
      uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes(m), xIn);
      uint32_t end = b.buffer("end", fmt::Storage::state, bytes(n), bytes(m), state);
      uint32_t poke = b.buffer("poke", fmt::Storage::input, b.zero, bytes(q), pokeIn);
      uint32_t at = b.buffer("at", fmt::Storage::state, bytes(p), bytes(q), state);
      uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes(sum), state);
      uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes(sum),
                            b.output("y" + std::to_string(width), fmt::DType::f32, {sum, b.constant(width)}));
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, end}, {bytes(m)});
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {poke, at}, {bytes(q)});
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes(sum)});
    }
    uint32_t ring = b.state("ring", fmt::DType::f32, {kRingRows, kRingWidth}, fmt::StateKind::ring);
    uint32_t step = b.constant(kRingStep), row = b.constant(4 * kRingWidth),
             part = b.constant(4 * kRingWidth * kRingStep);
    b.plan.states[ring]->live = 4;
    b.plan.states[ring]->slot = 5;
    b.plan.states[ring]->next = step;
    uint32_t live = b.expr(fmt::ExprOp::add, kept, step), bytes = b.expr(fmt::ExprOp::mul, live, row);
    uint32_t r = b.buffer("r", fmt::Storage::input, b.zero, part, ringIn);
    uint32_t to = b.buffer("to", fmt::Storage::state, b.expr(fmt::ExprOp::mul, slot, row), part, ring);
    uint32_t all = b.buffer("ring", fmt::Storage::state, b.zero, bytes, ring);
    uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes,
                          b.output("ring", fmt::DType::f32, {live, b.constant(kRingWidth)}));
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {r, to}, {part});
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes});
    b.halt();
  }
};

/// What a slot should have.
struct Expected {
  Floats states[3], ring;
  int64_t rows = 0, ringRows = 0;

  void append(const Floats &x, int64_t m, const Floats &poke, int64_t at, int64_t q, const Floats &r) {
    for (int i = 0; i < 3; ++i) {
      int64_t width = Cache::kWidths[i];
      states[i].insert(states[i].end(), x.begin(), x.begin() + m * width);
      std::copy_n(poke.begin(), q * width, states[i].begin() + at * width);
    }
    rows += m;
    int64_t begin = ringRows % Cache::kRingRows;
    ring.resize(size_t(std::max<int64_t>(int64_t(ring.size()), (begin + Cache::kRingStep) * Cache::kRingWidth)));
    std::copy(r.begin(), r.end(), ring.begin() + begin * Cache::kRingWidth);
    ringRows += Cache::kRingStep;
  }
};

/// A session on a Cache, beside a model whose slots are copies.
struct Twins {
  Cache cache;
  Runner runner;
  std::vector<Expected> expected;
  std::mt19937 random;
  std::string file = "/tmp/tenon-fork-test-" + std::to_string(getpid());
  Expected saved;

  explicit Twins(uint32_t slots, uint32_t seed = 1) : runner(cache.b, 1, 0, slots), expected(slots), random(seed) {}
  ~Twins() { unlink(file.c_str()); }

  int64_t draw(int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); }
  Floats drawFloats(int64_t count) {
    Floats result(static_cast<size_t>(count));
    for (float &value : result)
      value = float(random() % 1000000);
    return result;
  }
  /// Appends m rows, and replaces q rows from row `at` on; compares all that the slot has then.
  void append(uint32_t slot, int64_t m, int64_t at = 0, int64_t q = 0) {
    Floats x = drawFloats(m * Cache::kMostWidth), poke = drawFloats(q * Cache::kMostWidth),
           r = drawFloats(Cache::kRingStep * Cache::kRingWidth);
    static const float none = 0;
    std::vector<uint8_t> position(size_t(at) + 1);
    REQUIRE(tenon_session_use_slot(runner.session, slot, nullptr) == TENON_OK);
    REQUIRE(runner.bind(0, TENON_F32, {m, Cache::kMostWidth}, m ? x.data() : &none) == TENON_OK);
    REQUIRE(runner.bind(1, TENON_F32, {q, Cache::kMostWidth}, q ? poke.data() : &none) == TENON_OK);
    REQUIRE(runner.bind(2, TENON_F32, {Cache::kRingStep, Cache::kRingWidth}, r.data()) == TENON_OK);
    REQUIRE(runner.bind(3, TENON_U8, {at}, position.data()) == TENON_OK);
    INFO(runner.message());
    REQUIRE(runner.run() == TENON_OK);
    Expected &wanted = expected[slot];
    wanted.append(x, m, poke, at, q, r);
    for (uint32_t i = 0; i < 3; ++i)
      REQUIRE(runner.output<float>(i) == wanted.states[i]);
    REQUIRE(runner.output<float>(3) == wanted.ring);
  }
  void fork(uint32_t from, uint32_t to) {
    REQUIRE(tenon_session_fork_slot(runner.session, from, to, &runner.error) == TENON_OK);
    expected[to] = expected[from];
  }
  void reset(uint32_t slot) {
    REQUIRE(tenon_session_reset_slot(runner.session, slot, &runner.error) == TENON_OK);
    expected[slot] = {};
  }
  void save(uint32_t slot) {
    REQUIRE(tenon_session_save_slot(runner.session, slot, file.c_str(), &runner.error) == TENON_OK);
    saved = expected[slot];
  }
  void restore(uint32_t slot) {
    REQUIRE(tenon_session_restore_slot(runner.session, slot, file.c_str(), &runner.error) == TENON_OK);
    expected[slot] = saved;
  }
  void checkAll() {
    for (uint32_t slot = 0; slot < expected.size(); ++slot)
      append(slot, 0);
  }
};

/// True if this system has pages that can be shared, and says which were written.
bool canShare() {
  uint64_t page = rt::pageSize();
  rt::Memory memory;
  if (memory.reserve(page, false, "a page").failed())
    return false;
  std::shared_ptr<rt::SharedPages> pages = rt::SharedPages::create(page);
  return pages && pages->write(0, memory.bytes(), page) && pages->seal() &&
         pages->mapOver(memory.bytes(), 0, page) == rt::Remapping::done &&
         rt::countUnwritten(memory.bytes(), page) == page;
}

/// How many sets of shared pages this process has.
int countSets() {
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    count += std::filesystem::read_symlink(entry.path(), error).string().rfind("/memfd:tenon-states", 0) == 0;
  }
  return count;
}

/// The bytes of memory of this process, where pages that are mapped several times count once; 0 if that is not known.
uint64_t proportionalBytes() {
  std::ifstream in("/proc/self/smaps_rollup");
  std::string word;
  uint64_t kilobytes = 0;
  while (in >> word)
    if (word == "Pss:")
      in >> kilobytes;
  return kilobytes << 10;
}

/// A state of 32 MB, to which x is appended. A run reads all its rows.
struct Large {
  static constexpr int64_t kRows = 8192, kWidth = 1024;
  static constexpr uint64_t kBytes = 4 * kRows * kWidth;
  ArtifactBuilder b;

  Large() {
    uint32_t n = b.symbol("N", 0, kRows), m = b.symbol("M"), sum = b.expr(fmt::ExprOp::add, n, m),
             row = b.constant(4 * kWidth), width = b.constant(kWidth);
    auto bytes = [&](uint32_t rows) { return b.expr(fmt::ExprOp::mul, rows, row); };
    uint32_t state = b.state("k", fmt::DType::f32, {kRows, kWidth}, fmt::StateKind::growing);
    b.plan.states[state]->live = 0;
    b.plan.states[state]->next = sum;
    uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes(m), b.input("x", fmt::DType::f32, {m, width}));
    uint32_t end = b.buffer("end", fmt::Storage::state, bytes(n), bytes(m), state);
    uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes(sum), state);
    uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes(sum), b.output("y", fmt::DType::f32, {sum, width}));
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, end}, {bytes(m)});
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes(sum)});
    b.halt();
  }
};

} // namespace

TEST_CASE("pages are shared until somebody writes them") {
  if (!canShare()) {
    WARN("this system shares no pages");
    return;
  }
  uint64_t page = rt::pageSize();
  rt::Memory one, other;
  REQUIRE(!one.reserve(8 * page, false, "pages").failed());
  REQUIRE(!other.reserve(8 * page, false, "pages").failed());
  memset(one.bytes(), 1, 8 * page);
  std::shared_ptr<rt::SharedPages> pages = rt::SharedPages::create(4 * page);
  REQUIRE(pages);
  REQUIRE(pages->write(0, one.bytes(), 4 * page));
  REQUIRE(pages->seal());
  CHECK_FALSE(pages->write(0, one.bytes(), page));
  REQUIRE(pages->mapOver(one.bytes() + 2 * page, 0, 4 * page) == rt::Remapping::done);
  REQUIRE(pages->mapOver(other.bytes() + 4 * page, page, 3 * page) == rt::Remapping::done);
  int sets = countSets();
  pages.reset();
  CHECK(countSets() == sets - 1);
  auto isAll = [&](const uint8_t *bytes, uint64_t count, int value) {
    return std::all_of(bytes, bytes + count, [&](uint8_t byte) { return byte == value; });
  };
  CHECK(isAll(one.bytes(), 8 * page, 1));
  CHECK(isAll(other.bytes(), 4 * page, 0));
  CHECK(isAll(other.bytes() + 4 * page, 3 * page, 1));
  CHECK(rt::countUnwritten(one.bytes() + 2 * page, 4 * page) == 4 * page);
  one.bytes()[4 * page + 17] = 9;
  CHECK(rt::countUnwritten(one.bytes() + 2 * page, 4 * page) == 2 * page);
  CHECK(rt::countUnwritten(other.bytes() + 4 * page, 3 * page) == 3 * page);
  CHECK(isAll(other.bytes() + 4 * page, 3 * page, 1));
  // Memory of the process's own counts as written.
  CHECK(rt::countUnwritten(one.bytes(), 8 * page) == 0);
  REQUIRE(rt::mapFresh(one.bytes() + page, 6 * page) == rt::Remapping::done);
  CHECK(isAll(one.bytes(), page, 1));
  CHECK(isAll(one.bytes() + page, 6 * page, 0));
  CHECK(isAll(one.bytes() + 7 * page, page, 1));
}

TEST_CASE("shared pages are refused where files may not be as large, or as many") {
  uint64_t page = rt::pageSize();
  {
    Limit limit(RLIMIT_FSIZE, page);
    CHECK_FALSE(rt::SharedPages::create(2 * page));
  }
  Limit limit(RLIMIT_NOFILE, 0);
  CHECK_FALSE(rt::SharedPages::create(page));
}

TEST_CASE("forks share rows, and each goes on with its own") {
  Twins twins(3);
  twins.append(0, 400);
  int sets = countSets();
  twins.fork(0, 1);
  twins.fork(0, 2);
  twins.append(1, 5);
  twins.append(0, 1);
  twins.append(2, 90, 7, 2);
  twins.checkAll();
  // Neither has written what they share with each other but the third one, in its eighth row.
  twins.fork(1, 0);
  twins.checkAll();
  twins.fork(2, 0);
  twins.append(0, 3, 250, 1);
  twins.checkAll();
  for (uint32_t slot = 0; slot < 3; ++slot)
    twins.reset(slot);
  twins.checkAll();
  CHECK(countSets() == sets);
}

TEST_CASE("what is shared once is not written again") {
  if (!canShare()) {
    WARN("this system shares no pages");
    return;
  }
  Twins twins(4);
  twins.append(0, 300);
  int sets = countSets();
  twins.fork(0, 1);
  CHECK(countSets() == sets + 1);
  twins.fork(0, 2);
  twins.fork(2, 3);
  twins.fork(3, 1);
  CHECK(countSets() == sets + 1);
  // A few rows more are copied. Many are shared, beside the first ones; so are states that are large enough by now.
  twins.append(0, 2);
  twins.fork(0, 1);
  CHECK(countSets() == sets + 1);
  for (int i = 0; i < 16; ++i)
    twins.append(0, 17);
  twins.fork(0, 1);
  CHECK(countSets() == sets + 2);
  twins.checkAll();
  // The last slot with some of them frees them.
  twins.reset(2);
  twins.reset(3);
  CHECK(countSets() == sets + 2);
  twins.save(0);
  twins.restore(0);
  CHECK(countSets() == sets + 2);
  twins.restore(1);
  CHECK(countSets() == sets);
  twins.checkAll();
}

TEST_CASE("forks are copies where pages cannot be shared") {
  Twins twins(2);
  twins.append(0, 500);
  int sets = countSets();
  {
    Limit limit(RLIMIT_FSIZE, 4096);
    twins.fork(0, 1);
  }
  CHECK(countSets() == sets);
  twins.append(0, 10);
  twins.append(1, 20, 3, 1);
  twins.checkAll();
  // Nor are there mappings where the process has no addresses left.
  if (isSanitized)
    return;
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  {
    Limit limit(RLIMIT_AS, pages * rt::pageSize() + 4096);
    twins.fork(1, 0);
  }
  CHECK(countSets() == sets);
  twins.append(0, 10);
  twins.append(1, 20, 3, 1);
  twins.checkAll();
}

TEST_CASE("slots are those of a model that copies, after any forks") {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Twins twins(4, seed);
    INFO("seed " << seed);
    twins.save(0);
    for (int step = 0; step < 80; ++step) {
      auto slot = uint32_t(twins.draw(3)), other = uint32_t(twins.draw(3));
      int64_t rows = twins.expected[slot].rows, left = Cache::kCapacity - rows;
      INFO("step " << step);
      switch (twins.draw(9)) {
      case 0:
        twins.reset(slot);
        break;
      case 1:
        twins.save(slot);
        break;
      case 2:
        twins.restore(slot);
        break;
      case 3:
      case 4:
      case 5:
        twins.fork(slot, other);
        break;
      case 6: {
        int64_t m = std::min(left, twins.draw(20)), at = twins.draw(rows + m);
        twins.append(slot, m, at, std::min(rows + m - at, twins.draw(3)));
        break;
      }
      default:
        twins.append(slot, std::min(left, twins.draw(180)));
      }
    }
    twins.checkAll();
  }
}

TEST_CASE("many forks need the memory of one") {
  if (!canShare() || !proportionalBytes() || isSanitized) {
    WARN("this system shares no pages, or does not say how much memory that takes");
    return;
  }
  constexpr uint32_t kSlots = 9;
  Large model;
  Runner runner(model.b, 1, 0, kSlots);
  Floats y(Large::kRows * Large::kWidth), wanted;
  REQUIRE(tenon_session_bind_output(runner.session, 0, y.data(), Large::kBytes, nullptr) == TENON_OK);
  auto append = [&](uint32_t slot, int64_t rows, float value) {
    Floats x(size_t(rows) * Large::kWidth, value);
    REQUIRE(tenon_session_use_slot(runner.session, slot, nullptr) == TENON_OK);
    REQUIRE(runner.bind(0, TENON_F32, {rows, Large::kWidth}, x.data()) == TENON_OK);
    REQUIRE(runner.run() == TENON_OK);
    return runner.output<float>(0)[size_t(Large::kRows - 100) * Large::kWidth];
  };
  append(0, Large::kRows - 100, 1);
  uint64_t before = proportionalBytes();
  for (uint32_t slot = 1; slot < kSlots; ++slot)
    REQUIRE(tenon_session_fork_slot(runner.session, 0, slot, nullptr) == TENON_OK);
  // All rows are read, so that all pages are mapped.
  for (uint32_t slot = 0; slot < kSlots; ++slot)
    CHECK(append(slot, 1, float(slot)) == float(slot));
  uint64_t after = proportionalBytes();
  INFO(before << " bytes before, " << after << " after");
  CHECK(after < before + Large::kBytes);
}

namespace {
/// `states` states of `bytes` each, to all of which the same rows are appended. A run reads all rows of all of them.
struct Layers {
  static constexpr int64_t kWidth = 1024;
  ArtifactBuilder b;

  Layers(int64_t states, int64_t rows) {
    uint32_t n = b.symbol("N", 0, rows), m = b.symbol("M"), sum = b.expr(fmt::ExprOp::add, n, m),
             row = b.constant(4 * kWidth), width = b.constant(kWidth);
    auto bytes = [&](uint32_t count) { return b.expr(fmt::ExprOp::mul, count, row); };
    uint32_t xIn = b.input("x", fmt::DType::f32, {m, width}), yOut = b.output("y", fmt::DType::f32, {sum, width});
    uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes(m), xIn);
    uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes(sum), yOut);
    for (int64_t i = 0; i < states; ++i) {
      uint32_t state = b.state("k" + std::to_string(i), fmt::DType::f32, {rows, kWidth}, fmt::StateKind::growing);
      b.plan.states[state]->live = 0;
      b.plan.states[state]->next = sum;
      uint32_t end = b.buffer("end", fmt::Storage::state, bytes(n), bytes(m), state);
      uint32_t all = b.buffer("all", fmt::Storage::state, b.zero, bytes(sum), state);
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {x, end}, {bytes(m)});
      b.instruction(fmt::Opcode::copy, 0, 0, 0, {all, y}, {bytes(sum)});
    }
    b.halt();
  }
};
} // namespace

// What a fork takes, beside one that copies, and the run after it that reads all rows. Not part of the tests:
// runtime-tests "[forks]".
TEST_CASE("the time of forks", "[.][forks]") {
  for (auto [states, kilobytes] : {std::pair<int64_t, int64_t>(48, 1024), {48, 4096}, {48, 8192}, {2, 65536}}) {
    Layers model(states, kilobytes / 4 + 2);
    // The first fork, to a slot that has had no memory; another one, and the run of the target after it; of both kinds.
    std::vector<double> times[2][3];
    for (int round = 0; round < 2 * 11; ++round) {
      Runner runner(model.b, 1, 0, 2);
      auto measure = [&](auto &&function) {
        auto begin = std::chrono::steady_clock::now();
        REQUIRE(function() == TENON_OK);
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      };
      auto run = [&](uint32_t slot, int64_t rows) {
        Floats x(size_t(rows + 1) * Layers::kWidth, 1);
        REQUIRE(tenon_session_use_slot(runner.session, slot, nullptr) == TENON_OK);
        REQUIRE(runner.bind(0, TENON_F32, {rows, Layers::kWidth}, x.data()) == TENON_OK);
        return measure([&] { return runner.run(); });
      };
      run(0, kilobytes / 4);
      bool isCopied = round % 2;
      std::optional<Limit> limit;
      if (isCopied)
        limit.emplace(RLIMIT_FSIZE, 4096);
      for (int again : {0, 1})
        times[isCopied][again].push_back(
            measure([&] { return tenon_session_fork_slot(runner.session, 0, 1, nullptr); }));
      times[isCopied][2].push_back(run(1, 1));
    }
    for (auto &kind : times)
      for (std::vector<double> &list : kind)
        std::sort(list.begin(), list.end());
    auto median = [&](bool isCopied, int what) { return times[isCopied][what][5]; };
    printf("%2lld states, %6lld KB each: first fork %8.0f us (copy %8.0f), again %8.0f (%8.0f), run %8.0f (%8.0f)\n",
           (long long)states, (long long)kilobytes, median(false, 0), median(true, 0), median(false, 1),
           median(true, 1), median(false, 2), median(true, 2));
  }
}
