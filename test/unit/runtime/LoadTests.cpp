//===- LoadTests.cpp - files that are damaged or for another machine -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Verify.h"
#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>
#include <random>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

static void refuses(Bytes file, const char *text, tenon_status status = TENON_INVALID, bool verify = false) {
  Loaded loaded(std::move(file), verify);
  CHECK(loaded.status == status);
  CHECK_THAT(loaded.error.message, Contains(text));
}

template <typename T> static void put(Bytes &bytes, size_t at, T value) {
  memcpy(bytes.data() + at, &value, sizeof value);
}

static fmt::Section sectionAt(const Bytes &file, uint32_t index) {
  fmt::Section section;
  memcpy(&section, file.data() + sizeof(fmt::Header) + index * sizeof section, sizeof section);
  return section;
}

static Bytes withSection(const Bytes &file, uint32_t index, fmt::Section section) {
  Bytes copy = file.copy();
  memcpy(copy.data() + sizeof(fmt::Header) + index * sizeof section, &section, sizeof section);
  rehash(copy);
  return copy;
}

TEST_CASE("headers are checked") {
  Bytes good = scaleAndAdd().build();
  CHECK(Loaded(good.copy()).status == TENON_OK);
  refuses(Bytes("hello", 5), "not a Tenon artifact; tenon compile writes one");
  refuses(good.cut(0), "truncated");
  refuses(good.cut(7), "truncated");
  refuses(good.cut(good.size - 1), "truncated: it has");
  Bytes file = good.copy();
  put(file, offsetof(fmt::Header, version), uint32_t(7));
  refuses(std::move(file),
          "format version 7, this runtime reads versions 1 to 6; compile the model again or use a newer runtime",
          TENON_UNSUPPORTED);
  file = good.copy();
  put(file, offsetof(fmt::Header, reserved), uint8_t(1));
  refuses(std::move(file), "reserved bytes");
  file = good.copy();
  put(file, offsetof(fmt::Header, sectionCount), uint32_t(100'000));
  refuses(std::move(file), "100000 sections");
  file = good.copy();
  put(file, sizeof(fmt::Header) + 8, uint64_t(0));
  refuses(std::move(file), "hash of its section table");
}

TEST_CASE("memory for an artifact must be aligned") {
  Bytes file = scaleAndAdd().build();
  tenon_artifact *artifact;
  tenon_error error;
  CHECK(tenon_artifact_load_memory(file.data() + 8, file.size - 8, nullptr, &artifact, &error) == TENON_MISUSE);
}

TEST_CASE("sections are checked") {
  Bytes good = scaleAndAdd().build();
  fmt::Section plan = sectionAt(good, 0), code = sectionAt(good, 1), weights = sectionAt(good, 2),
               meta = sectionAt(good, 3);
  REQUIRE(plan.kind == fmt::SectionKind::plan);
  REQUIRE(code.kind == fmt::SectionKind::code);
  REQUIRE(weights.kind == fmt::SectionKind::weights);
  auto changed = [&](uint32_t index, fmt::Section section, auto change) {
    change(section);
    return withSection(good, index, section);
  };
  refuses(changed(0, plan, [](auto &s) { s.offset += 8; }), "no multiple of 64");
  refuses(changed(1, code, [](auto &s) { s.offset += 4096; }), "no multiple of 16384");
  refuses(changed(2, weights, [](auto &s) { s.offset += 64; }), "no multiple of 16384");
  refuses(changed(0, plan, [](auto &s) { s.offset = 0; }), "outside of the file");
  refuses(changed(0, plan, [](auto &s) { s.size = UINT64_MAX; }), "outside of the file");
  refuses(changed(2, weights, [](auto &s) { s.offset = uint64_t(1) << 63; }), "outside of the file");
  refuses(changed(0, plan, [&](auto &s) { s.size = code.offset - s.offset + 1; }), "overlap");
  refuses(changed(2, weights, [&](auto &s) { s.offset = code.offset; }), "overlap");
  refuses(changed(0, plan, [](auto &s) { s.flags = 1; }), "flags 1");
  refuses(changed(3, meta, [](auto &s) { s.kind = fmt::SectionKind(9); }), "kind 9");
  refuses(changed(3, meta, [](auto &s) { s.kind = fmt::SectionKind::plan; }), "not a valid FlatBuffers plan");
  refuses(changed(0, plan, [](auto &s) { s.kind = fmt::SectionKind::meta; }), "0 plans");
  refuses(changed(1, code, [](auto &s) { memset(s.target, 'x', sizeof s.target); }), "does not end");
  refuses(changed(0, plan, [](auto &s) { s.target[0] = 'x'; }), "has 0 plans, 1 to 64 are wanted");
  refuses(changed(3, meta, [](auto &s) { s.target[0] = 'x'; }), "which only code and plans have");
  refuses(changed(1, code, [](auto &s) { s.target[400] = 'x'; }),
          "the target of section 1 (code) has bytes behind its end");
}

TEST_CASE("no byte of a file is without a meaning") {
  ArtifactBuilder b = scaleAndAdd();
  b.meta = std::string(200, ' ');
  Bytes good = b.build();
  CHECK(Loaded(good.copy()).status == TENON_OK);
  fmt::Section plan = sectionAt(good, 0), code = sectionAt(good, 1), meta = sectionAt(good, 3),
               last = sectionAt(good, 4);
  auto withSize = [&](uint32_t index, fmt::Section section, uint64_t size) {
    section.size = size;
    return withSection(good, index, section);
  };
  refuses(withSize(3, meta, 199), "before its section hashes belong to none");
  refuses(withSize(3, meta, 100), "before its section hashes belong to none");
  refuses(withSize(4, last, 0), "the 8 bytes after its last section belong to none");
  Bytes file = good.copy();
  file.data()[code.offset - 1] = 1;
  refuses(std::move(file), "before its section code belong to none");
  (void)plan;
}

TEST_CASE("weights are hashed before a run uses them, or on request before, or not at all") {
  ArtifactBuilder b = scaleAndAdd();
  constexpr size_t blocks = 5, bytes = blocks * fmt::kHashBlock - 100;
  b.weights.resize(bytes);
  auto run = [&](int verify, size_t damaged, uint32_t version, std::string *message) {
    b.version = version;
    Bytes file = b.build();
    fmt::Section weights = sectionAt(file, 2);
    if (damaged < bytes)
      file.data()[weights.offset + damaged] ^= 1;
    tenon_load_options load{sizeof load, verify, nullptr, nullptr, 0, nullptr};
    tenon_artifact *artifact = nullptr;
    tenon_session *session = nullptr;
    tenon_error error{};
    tenon_status status = tenon_artifact_load_memory(file.data(), file.size, &load, &artifact, &error);
    std::vector<float> x(16, 1);
    int64_t dim = 16;
    tenon_tensor tensor{TENON_F32, 1, &dim, x.data()}, output{};
    for (uint32_t threads : {1, 3}) {
      tenon_session_options options{sizeof options, threads, 0, 0, 0, 0};
      if (status == TENON_OK) {
        REQUIRE(tenon_session_create(artifact, &options, &session, &error) == TENON_OK);
        REQUIRE(tenon_session_bind_input(session, 0, &tensor, &error) == TENON_OK);
        // An error does not go away by itself, and nobody gets the results.
        for (int round = 0; round < 2; ++round) {
          status = tenon_session_run(session, &error);
          CHECK((tenon_session_output(session, 0, &output, nullptr) == TENON_OK) == (status == TENON_OK));
        }
        tenon_session_release(session);
      }
    }
    tenon_artifact_release(artifact);
    *message = error.message;
    return status;
  };
  std::string message;
  for (uint32_t version : {2, 3}) {
    // The run reads the first 16 kB alone.
    size_t read = version == 2 ? bytes : 16384;
    for (int verify : {TENON_VERIFY_USED, TENON_VERIFY_ALL, TENON_VERIFY_NONE})
      CHECK(run(verify, bytes, version, &message) == TENON_OK);
    for (size_t damaged : {size_t(0), size_t(16383), fmt::kHashBlock, bytes - 1}) {
      bool isRefused = damaged < std::max(read, size_t(fmt::kHashBlock));
      CHECK(run(TENON_VERIFY_USED, damaged, version, &message) == (isRefused ? TENON_INVALID : TENON_OK));
      if (isRefused)
        CHECK_THAT(
            message,
            Contains(version == 2
                         ? "artifact: damaged: the hash of its weights from byte 0 to 1310620, which node 'Add_1'"
                         : "artifact: damaged: the hash of its weights from byte 0 to 262144, which node 'Add_1'"));
      CHECK(run(TENON_VERIFY_ALL, damaged, version, &message) == TENON_INVALID);
      CHECK(run(TENON_VERIFY_NONE, damaged, version, &message) == TENON_OK);
    }
  }
}

TEST_CASE("weights have a hash for each block") {
  ArtifactBuilder b = scaleAndAdd();
  Bytes good = b.build();
  fmt::Section hashes = sectionAt(good, 4);
  REQUIRE(hashes.kind == fmt::SectionKind::hashes);
  Bytes file = good.copy();
  file.data()[hashes.offset] ^= 1;
  refuses(std::move(file), "damaged: the hash of its hashes");
  file = good.copy();
  auto shorter = hashes;
  shorter.kind = fmt::SectionKind::meta;
  refuses(withSection(good, 4, shorter), "it has weights, and no hashes of them");
  file = good.cut(good.size - 8);
  put(file, offsetof(fmt::Header, fileSize), uint64_t(file.size));
  hashes.size -= 8;
  refuses(withSection(file, 4, hashes), "it has 0 bytes of hashes for 1 blocks of weights");
}

TEST_CASE("hashes: plan and code always, weights and meta on request") {
  Bytes good = scaleAndAdd().build();
  for (uint32_t index = 0; index < 4; ++index) {
    fmt::Section section = sectionAt(good, index);
    Bytes file = good.copy();
    file.data()[section.offset + section.size / 2] ^= 1;
    if (index < 2)
      refuses(file.copy(), "damaged: the hash of its");
    else
      CHECK(Loaded(file.copy()).status == TENON_OK);
    refuses(std::move(file), "damaged: the hash of its", TENON_INVALID, true);
  }
  CHECK(Loaded(good.copy(), true).status == TENON_OK);
}

TEST_CASE("the first code that fits is taken, and what is missing is said") {
  ArtifactBuilder b = scaleAndAdd();
  std::string arch = hostTarget();
  ArtifactBuilder::Code host{arch, b.codes[0].bytes.copy()};
  b.codes[0].target = arch + "no-such-feature";
  refuses(b.build(), "needs 'no-such-feature', which this runtime does not know", TENON_UNSUPPORTED);
  b.codes[0].target = "riscv64:";
  refuses(b.build(), "needs riscv64, this CPU is ", TENON_UNSUPPORTED);
  b.codes[0].target = "";
  refuses(b.build(), "needs , this CPU is ", TENON_UNSUPPORTED);
  b.codes[0].target = "riscv64:";
  b.codes.push_back({arch + "also-missing", Bytes("junk", 4)});
  b.codes.push_back(std::move(host));
  Loaded loaded(b);
  REQUIRE(loaded.status == TENON_OK);
  tenon_artifact_info info;
  tenon_artifact_describe(loaded.artifact, &info);
  CHECK(info.target == arch);
  b.codes.clear();
  refuses(b.build(), "has no code");
}

/// scaleAndAdd for two targets that this machine can run: the code has its name, and a plan of its own.
static ArtifactBuilder twoTargets() {
  ArtifactBuilder b = scaleAndAdd();
  b.codes[0].target = "wide=" + hostTarget();
  b.codes.push_back({"narrow=" + hostTarget(), b.codes[0].bytes.copy()});
  b.planTarget = b.codes[0].target;
  b.makeProgram("");
  b.plan.model_name = "narrow.onnx";
  b.planTarget = b.codes[1].target;
  return b;
}

TEST_CASE("each target has its own plans, and may be named") {
  auto load = [](const char *target, const char *name, const char *model) {
    Loaded loaded(twoTargets().build(), false, target);
    REQUIRE(loaded.status == TENON_OK);
    tenon_artifact_info info;
    tenon_artifact_describe(loaded.artifact, &info);
    CHECK(info.target_name == std::string(name));
    CHECK(info.target == hostTarget());
    CHECK(info.model == std::string(model));
    CHECK(tenon_artifact_program_count(loaded.artifact) == 1);
  };
  std::string first = twoTargets().before[0].model_name;
  load(nullptr, "wide", first.c_str());
  load("wide", "wide", first.c_str());
  load("narrow", "narrow", "narrow.onnx");
  Loaded other(twoTargets().build(), false, "vast");
  CHECK(other.status == TENON_MISUSE);
  CHECK_THAT(other.error.message, Contains("has no code for target 'vast', but for wide, narrow"));
  ArtifactBuilder b = twoTargets();
  b.codes[1].target = b.codes[0].target;
  refuses(b.build(), "twice");
  b.codes[1].target = "narrow=riscv64:";
  refuses(b.build(), "has 0 plans");
  b.planTarget = b.codes[1].target;
  Loaded foreign(b.build(), false, "narrow");
  CHECK(foreign.status == TENON_UNSUPPORTED);
  CHECK_THAT(foreign.error.message, Contains("target narrow needs riscv64, this CPU is "));
}

TEST_CASE("a file cut short anywhere is refused") {
  Bytes good = scaleAndAdd().build();
  tenon_artifact *artifact;
  tenon_error error;
  for (size_t size = 0; size < good.size; ++size)
    REQUIRE(tenon_artifact_load_memory(good.data(), size, nullptr, &artifact, &error) != TENON_OK);
  // Exact copies, whose end a sanitizer watches, with a header that agrees to the cut.
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Bytes cut = good.cut(random() % good.size);
    if (cut.size >= sizeof(fmt::Header))
      put(cut, offsetof(fmt::Header, fileSize), uint64_t(cut.size));
    rehash(cut);
    REQUIRE(Loaded(std::move(cut)).status != TENON_OK);
  }
}

TEST_CASE("a plan cut short anywhere is refused") {
  std::vector<uint8_t> plan = scaleAndAdd().planBytes();
  for (size_t size = 0; size < plan.size(); ++size) {
    Bytes cut(plan.data(), size);
    rt::Plan out;
    // What is left may be a whole plan only where nothing but padding is gone.
    bool refused = rt::verifyPlan(cut.data(), size, &out).failed();
    REQUIRE((refused || plan.size() - size < 8));
  }
}

/// Asks an artifact for all it says, and for the memory of some sizes: whatever a damaged plan holds, this
/// must not crash.
static void examine(tenon_artifact *artifact) {
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  tenon_session_options options{sizeof options, 1, 0, 0, 0, 0};
  tenon_session *session;
  tenon_error error;
  if (tenon_session_create(artifact, &options, &session, &error) != TENON_OK)
    return;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info tensor;
    tenon_artifact_input(artifact, i, &tensor, nullptr);
    std::vector<int64_t> dims;
    for (uint32_t d = 0; d < tensor.rank; ++d) {
      tenon_dim_info dim;
      tenon_artifact_input_dim(artifact, i, d, &dim, nullptr);
      dims.push_back(dim.value < 0 ? 16 : dim.value);
    }
    tenon_tensor view{tensor.dtype, tensor.rank, dims.data(), nullptr};
    (void)tenon_session_bind_input(session, i, &view, &error);
  }
  tenon_memory memory;
  (void)tenon_session_measure(session, &memory, &error);
  tenon_session_release(session);
}

/// Flips bits in [begin, end) of an artifact, with correct hashes afterwards, and loads it.
static unsigned mutate(const Bytes &good, size_t begin, size_t end, int rounds, uint32_t seed) {
  std::mt19937 random(seed);
  unsigned accepted = 0;
  Bytes file = good.copy();
  for (int round = 0; round < rounds; ++round) {
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      size_t at = begin + random() % (end - begin);
      // Some bytes become values that are often special.
      static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff};
      file.data()[at] = random() % 2 ? uint8_t(file.data()[at] ^ (1u << random() % 8)) : special[random() % 5];
    }
    rehash(file);
    tenon_artifact *artifact = nullptr;
    tenon_error error;
    if (tenon_artifact_load_memory(file.data(), file.size, nullptr, &artifact, &error) == TENON_OK) {
      ++accepted;
      examine(artifact);
      tenon_artifact_release(artifact);
    }
    memcpy(file.data() + begin, good.data() + begin, end - begin);
    rehash(file);
  }
  return accepted;
}

TEST_CASE("damaged artifacts never crash the loader") {
  Bytes good = scaleAndAdd().build();
  fmt::Section plan = sectionAt(good, 0), code = sectionAt(good, 1);
  mutate(good, 0, sizeof(fmt::Header) + 4 * sizeof(fmt::Section), 3000, 2);
  mutate(good, plan.offset, plan.offset + plan.size, 6000, 3);
  // Headers, dynamic symbols and hashes lie at the front of the code, its dynamic section at the end.
  mutate(good, code.offset, code.offset + 1100, 4000, 4);
  mutate(good, code.offset + code.size - 2000, code.offset + code.size, 2000, 5);
}

TEST_CASE("files are loaded by path") {
  std::string path = "/tmp/tenon-load-test-" + std::to_string(getpid());
  Bytes good = scaleAndAdd().build();
  writeFile(path, good.data(), good.size);
  tenon_artifact *artifact = nullptr;
  tenon_error error;
  CHECK(tenon_artifact_load_file(path.c_str(), nullptr, &artifact, &error) == TENON_OK);
  tenon_artifact_release(artifact);
  writeFile(path, good.data(), 0);
  CHECK(tenon_artifact_load_file(path.c_str(), nullptr, &artifact, &error) == TENON_INVALID);
  CHECK(std::string(error.message) == path + ": empty");
  unlink(path.c_str());
  CHECK(tenon_artifact_load_file(path.c_str(), nullptr, &artifact, &error) == TENON_INVALID);
  CHECK_THAT(error.message, Contains("cannot be opened: No such file"));
  CHECK(tenon_artifact_load_file("/tmp", nullptr, &artifact, &error) == TENON_INVALID);
  CHECK_THAT(error.message, Contains("not a regular file"));
}

TEST_CASE("structures may have fewer fields than the runtime knows, or more") {
  Loaded loaded(scaleAndAdd());
  REQUIRE(loaded.status == TENON_OK);
  // As a program of an older header has it: nothing behind its last field is written.
  tenon_artifact_info info;
  memset(static_cast<void *>(&info), 0x55, sizeof info);
  info.size = offsetof(tenon_artifact_info, source_hash);
  tenon_artifact_describe(loaded.artifact, &info);
  CHECK(info.size == offsetof(tenon_artifact_info, source_hash));
  CHECK(std::string(info.target) == hostTarget());
  CHECK(info.source_hash == 0x5555555555555555);
  // As one of a newer header has it: what it leaves at 0 it does not ask for.
  struct {
    tenon_session_options known;
    uint64_t news;
  } options{};
  options.known.size = sizeof options;
  tenon_session *session = nullptr;
  tenon_error error;
  REQUIRE(tenon_session_create(loaded.artifact, &options.known, &session, &error) == TENON_OK);
  tenon_session_release(session);
  options.news = 1;
  CHECK(tenon_session_create(loaded.artifact, &options.known, &session, &error) == TENON_MISUSE);
  CHECK_THAT(error.message, Contains("options that this runtime does not know"));
  options.known.size = 0;
  CHECK(tenon_session_create(loaded.artifact, &options.known, &session, &error) == TENON_MISUSE);
  CHECK_THAT(error.message, Contains("options whose size field says 0"));
}
