//===- WaveTests.cpp - WAV files, and damaged ones ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/audio/Wave.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace tenon::audio;
using Catch::Matchers::Contains;
using Bytes = std::vector<uint8_t>;

template <typename T> static void append(Bytes &bytes, T value) {
  size_t end = bytes.size();
  bytes.resize(end + sizeof value);
  memcpy(bytes.data() + end, &value, sizeof value);
}

static void append(Bytes &bytes, const char *text) { bytes.insert(bytes.end(), text, text + strlen(text)); }

static void appendChunk(Bytes &bytes, const char *name, const Bytes &data) {
  append(bytes, name);
  append(bytes, uint32_t(data.size()));
  bytes.insert(bytes.end(), data.begin(), data.end());
  if (data.size() % 2)
    bytes.push_back(0);
}

static Bytes makeFormat(uint16_t kind, uint16_t channels, uint16_t bits, uint32_t rate = 16000) {
  Bytes format;
  append(format, kind);
  append(format, channels);
  append(format, rate);
  append(format, rate * channels * bits / 8);
  append(format, uint16_t(channels * bits / 8));
  append(format, bits);
  return format;
}

template <typename T> static Bytes makeData(std::initializer_list<T> samples) {
  Bytes data;
  for (T sample : samples)
    append(data, sample);
  return data;
}

static Bytes makeFile(const Bytes &format, const Bytes &data) {
  Bytes file;
  append(file, "RIFF");
  append(file, uint32_t(0));
  append(file, "WAVE");
  appendChunk(file, "LIST", {1, 2, 3});
  appendChunk(file, "fmt ", format);
  appendChunk(file, "data", data);
  return file;
}

static Wave read(const Bytes &file) {
  Wave wave;
  Status status = parseWave(file.data(), file.size(), wave);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  return wave;
}

static std::string refusal(const Bytes &file, tenon_status code = TENON_INVALID) {
  Wave wave;
  Status status = parseWave(file.data(), file.size(), wave);
  CHECK(status.code() == code);
  return status.message();
}

TEST_CASE("integers are scaled, and channels averaged") {
  Wave wave = read(makeFile(makeFormat(1, 1, 16, 8000), makeData<int16_t>({0, 16384, -32768, 32767})));
  CHECK(wave.rate == 8000);
  CHECK(wave.samples == std::vector<float>{0, 0.5f, -1, 32767.0f / 32768});
  wave = read(makeFile(makeFormat(1, 2, 16), makeData<int16_t>({8192, 16384, -32768, 32767, 5})));
  CHECK(wave.samples == std::vector<float>{0.375f, -0.5f / 32768});
}

TEST_CASE("floats stay as they are") {
  CHECK(read(makeFile(makeFormat(3, 1, 32), makeData<float>({0.25f, -1.5f}))).samples ==
        std::vector<float>{0.25f, -1.5f});
  Bytes format = makeFormat(0xfffe, 3, 32);
  append(format, uint16_t(22));
  append(format, uint16_t(32));
  append(format, uint32_t(7));
  append(format, uint16_t(3));
  format.resize(40);
  CHECK(read(makeFile(format, makeData<float>({0.5f, 0.5f, 2}))).samples == std::vector<float>{1});
}

TEST_CASE("samples that were written to a pipe have no size") {
  Bytes file = makeFile(makeFormat(1, 1, 16), makeData<int16_t>({16384, 8192}));
  std::fill(file.end() - 8, file.end() - 4, 0xff);
  CHECK(read(file).samples == std::vector<float>{0.5f, 0.25f});
}

TEST_CASE("what is no recording is refused") {
  Bytes format = makeFormat(1, 1, 16), data = makeData<int16_t>({1, 2, 3});
  CHECK_THAT(refusal({}), Contains("is no WAV file"));
  CHECK_THAT(refusal(Bytes(100)), Contains("is no WAV file"));
  CHECK_THAT(refusal(makeFile(Bytes(3), data)), Contains("its format has 3 bytes"));
  CHECK_THAT(refusal(makeFile(makeFormat(1, 0, 16), data)), Contains("it has 0 channels"));
  CHECK_THAT(refusal(makeFile(makeFormat(1, 1, 16, 0), data)), Contains("0 samples per second"));
  CHECK_THAT(refusal(makeFile(format, {})), Contains("has no samples"));
  CHECK_THAT(refusal(makeFile(makeFormat(3, 1, 32), makeData<float>({0, NAN}))), Contains("no number, at 0.000 s"));
  CHECK_THAT(refusal(makeFile(makeFormat(1, 1, 24), data), TENON_UNSUPPORTED), Contains("format 1 and 24 bits"));
  CHECK_THAT(refusal(makeFile(makeFormat(85, 1, 0), data), TENON_UNSUPPORTED), Contains("format 85 and 0 bits"));
  Bytes file = makeFile(format, data);
  file.pop_back();
  CHECK_THAT(refusal(file), Contains("it ends before its last sample"));
}

TEST_CASE("a file that is cut off anywhere is refused") {
  Bytes file = makeFile(makeFormat(1, 1, 16), makeData<int16_t>({1, 2, 3}));
  for (size_t size = 0; size < file.size(); ++size)
    CHECK_FALSE(refusal(Bytes(file.begin(), file.begin() + ptrdiff_t(size))).empty());
}
