//===- ExternalWeightTests.cpp - weights that lie in other files ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Runner.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

namespace {
/// scaleAndAdd, whose weight is the second page of a file "data/w", and behind it a little of its own.
struct Split {
  ArtifactBuilder builder = scaleAndAdd();
  std::string folder = "/tmp/tenon-external-test-" + std::to_string(getpid());
  fmt::WeightPlaces counts{1, 2};
  fmt::ExternalFile file{2 * fmt::kPageSize, "data/w"};
  fmt::WeightSegment segments[2] = {{0, fmt::kPageSize, fmt::kPageSize, 1, 0}, {fmt::kPageSize, 64, 0, 0, 0}};

  Split() {
    REQUIRE(builder.weights.size() == fmt::kPageSize);
    std::filesystem::create_directories(folder + "/data");
    std::ofstream os(folder + "/data/w", std::ios::binary);
    os << std::string(fmt::kPageSize, 'x');
    os.write(reinterpret_cast<const char *>(builder.weights.data()), std::streamsize(builder.weights.size()));
    builder.allWeights = builder.weights;
    builder.weights.assign(64, 7);
    builder.allWeights.insert(builder.allWeights.end(), 64, 7);
  }
  ~Split() { std::filesystem::remove_all(folder); }

  Bytes build() {
    builder.places.clear();
    auto append = [&](const auto &value) {
      const auto *raw = reinterpret_cast<const uint8_t *>(&value);
      builder.places.insert(builder.places.end(), raw, raw + sizeof value);
    };
    append(counts);
    append(file);
    append(segments);
    return builder.build();
  }
};

/// What a load, and if it succeeds a run, of an artifact come to.
struct Outcome {
  tenon_status status;
  tenon_error error{};
  std::vector<float> y;

  Outcome(const Bytes &bytes, const char *folder, int verify = TENON_VERIFY_USED) {
    tenon_load_options options{};
    options.verify = verify;
    options.weights_dir = folder;
    tenon_artifact *artifact = nullptr;
    tenon_session *session = nullptr;
    status = tenon_artifact_load_memory(bytes.data(), bytes.size, &options, &artifact, &error);
    if (status == TENON_OK)
      status = tenon_session_create(artifact, nullptr, &session, &error);
    float x[20] = {};
    int64_t dims[] = {20};
    tenon_tensor tensor{TENON_F32, 1, dims, x};
    if (status == TENON_OK)
      status = tenon_session_bind_input(session, 0, &tensor, &error);
    if (status == TENON_OK)
      status = tenon_session_run(session, &error);
    if (status == TENON_OK)
      status = tenon_session_output(session, 0, &tensor, &error);
    if (status == TENON_OK)
      y.assign(static_cast<float *>(tensor.data), static_cast<float *>(tensor.data) + 20);
    tenon_session_release(session);
    tenon_artifact_release(artifact);
  }
};
} // namespace

TEST_CASE("weights of other files are mapped, and compared with their hashes") {
  Split split;
  Bytes good = split.build();
  for (int verify : {TENON_VERIFY_USED, TENON_VERIFY_ALL, TENON_VERIFY_NONE}) {
    Outcome outcome(good, split.folder.c_str(), verify);
    INFO(outcome.error.message);
    REQUIRE(outcome.status == TENON_OK);
    for (size_t i = 0; i < outcome.y.size(); ++i)
      CHECK(outcome.y[i] == float(i) / 8);
  }
  Outcome nowhere(good, nullptr);
  CHECK(nowhere.status == TENON_MISUSE);
  CHECK_THAT(std::string(nowhere.error.message), Contains("whose folder weights_dir has to name"));
  std::fstream(split.folder + "/data/w", std::ios::binary | std::ios::in | std::ios::out)
      .seekp(fmt::kPageSize + 5)
      .put(9);
  for (int verify : {TENON_VERIFY_USED, TENON_VERIFY_ALL}) {
    Outcome changed(good, split.folder.c_str(), verify);
    CHECK(changed.status == TENON_INVALID);
    CHECK_THAT(std::string(changed.error.message), Contains("reads from 'data/w', is"));
  }
}

TEST_CASE("places of weights are checked") {
  Split split;
  auto refuses = [&](const char *text, const std::function<void(Split &)> &change) {
    Split changed;
    change(changed);
    Outcome outcome(changed.build(), changed.folder.c_str());
    CHECK(outcome.status == TENON_INVALID);
    CHECK_THAT(std::string(outcome.error.message), Contains(text));
  };
  for (const char *name : {"../w", "/etc/passwd", "data/../../w", "data//w", "./w", "", "data/", "data/.", "a\nb"})
    refuses("the name of file 0 that weights are in leads out of its folder", [&](Split &s) {
      memset(s.file.name, 0, sizeof s.file.name);
      memcpy(s.file.name, name, strlen(name));
    });
  refuses("the name of file 0", [](Split &s) { memset(s.file.name, 'a', sizeof s.file.name); });
  refuses("the name of file 0", [](Split &s) { s.file.name[100] = 'b'; });
  refuses("for 2 files and 2 segments", [](Split &s) { s.counts.fileCount = 2; });
  refuses("for 0 files", [](Split &s) { s.counts.fileCount = 0; });
  refuses("segments", [](Split &s) { s.counts.segmentCount = UINT32_MAX; });
  refuses("segment 1 of its weights is not a valid range", [](Split &s) { s.segments[1].begin += fmt::kPageSize; });
  refuses("segment 0 of its weights is not a valid range", [](Split &s) { s.segments[0].file = 2; });
  refuses("segment 0 of its weights is not a valid range", [](Split &s) { s.segments[0].size = 64; });
  refuses("segment 0 of its weights is not a valid range", [](Split &s) { s.segments[0].offset = 64; });
  refuses("segment 0 of its weights is not a valid range", [](Split &s) { s.segments[0].zero = 1; });
  refuses("segment 0 of its weights lies outside of its file", [](Split &s) { s.segments[0].offset *= 2; });
  refuses("segment 0 of its weights lies outside of its file", [](Split &s) { s.file.size /= 2; });
  refuses("segment 1 of its weights lies outside of its file", [](Split &s) { s.segments[1].size = 65; });
  refuses("its weights have 64 bytes, of which 32 have a place", [](Split &s) { s.segments[1].size = 32; });
  refuses("which has 32768 bytes in", [](Split &s) { s.file.size += 1; });
  refuses("cannot be opened in", [](Split &s) { s.file = {s.file.size, "data/v"}; });
  refuses("not a regular file", [](Split &s) { s.file = {s.file.size, "data"}; });
  refuses("1 sections of places of weights", [](Split &s) { s.builder.version = 4; });
}

TEST_CASE("damaged places of weights are refused, and never crash") {
  Split split;
  Bytes good = split.build();
  std::mt19937 random(7);
  size_t size = split.builder.places.size();
  for (int round = 0; round < 2000; ++round) {
    Bytes file = good.copy();
    // The section is the last one.
    for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
      bool isName = random() % 4 == 0;
      size_t at = isName ? random() % 24 : size - sizeof split.segments + random() % sizeof split.segments;
      file.data()[file.size - size + at] ^= uint8_t(1u << random() % 8);
    }
    rehash(file);
    Outcome outcome(file, split.folder.c_str(), TENON_VERIFY_NONE);
    CHECK((outcome.status == TENON_OK || outcome.status == TENON_INVALID));
  }
}
