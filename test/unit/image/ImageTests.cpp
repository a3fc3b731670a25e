//===- ImageTests.cpp - decoders of image files ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Image.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

using namespace tenon::image;
using Octets = std::vector<uint8_t>;

namespace {
/// A file, and the pixels that Pillow makes of it.
struct Recorded {
  std::string name;
  Octets file, pixels;
  int64_t height, width;
  PixelOrder order;
};

struct Decoded {
  Result result;
  Header header;
  Octets pixels;
};
} // namespace

static Octets fromBase64(const std::string &text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Octets bytes;
  uint32_t bits = 0, count = 0;
  for (char c : text) {
    size_t digit = digits.find(c);
    if (digit == std::string::npos)
      break;
    bits = bits << 6 | uint32_t(digit);
    count += 6;
    if (count >= 8)
      bytes.push_back(uint8_t(bits >> (count -= 8)));
  }
  return bytes;
}

static const std::vector<Recorded> &recorded() {
  static const std::vector<Recorded> all = [] {
    std::vector<Recorded> entries;
    std::ifstream in(TENON_IMAGES);
    for (const nlohmann::json &e : nlohmann::json::parse(in)) {
      std::string order = e["order"];
      entries.push_back({e["name"], fromBase64(e["file"]), fromBase64(e["pixels"]), e["shape"][0], e["shape"][1],
                         order == "BGR"         ? PixelOrder::bgr
                         : order == "Grayscale" ? PixelOrder::gray
                                                : PixelOrder::rgb});
    }
    return entries;
  }();
  return all;
}

/// A copy of exactly the file's size: a sanitizer sees reads behind it.
static Decoded decodeFile(const uint8_t *data, size_t size, PixelOrder order, uint64_t memoryLimit = 0) {
  Octets copy(data, data + size);
  Bytes file = {copy.data(), size};
  Decoded decoded;
  decoded.result = measure(file, memoryLimit, decoded.header);
  if (decoded.result.failed())
    return decoded;
  REQUIRE(decoded.header.height > 0);
  REQUIRE(decoded.header.width > 0);
  // Damage may give any size; what is large shows nothing that small images do not.
  constexpr int64_t kMaxPixels = 1 << 20;
  if (decoded.header.height * decoded.header.width > kMaxPixels) {
    decoded.result = Result::make(TENON_RESOURCES, "too large for this test");
    return decoded;
  }
  decoded.pixels.resize(size_t(decoded.header.height * decoded.header.width) * (order == PixelOrder::gray ? 1 : 3));
  decoded.result =
      decode(file, memoryLimit, {decoded.pixels.data(), decoded.header.height, decoded.header.width, order});
  return decoded;
}

static Decoded decodeFile(const Octets &file, PixelOrder order = PixelOrder::rgb) {
  return decodeFile(file.data(), file.size(), order);
}

static Octets octets(const char *text, size_t size) { return Octets(text, text + size); }

TEST_CASE("recorded files have the pixels of Pillow") {
  REQUIRE(recorded().size() >= 90);
  for (const Recorded &each : recorded()) {
    INFO(each.name);
    Decoded decoded = decodeFile(each.file, each.order);
    INFO(decoded.result.text);
    REQUIRE_FALSE(decoded.result.failed());
    CHECK(decoded.header.height == each.height);
    CHECK(decoded.header.width == each.width);
    CHECK((decoded.pixels == each.pixels));
  }
}

TEST_CASE("a file that is cut short is refused, or has all its pixels") {
  for (const Recorded &each : recorded())
    for (size_t size = 0; size < each.file.size(); size += size < 64 ? 1 : 7) {
      Decoded decoded = decodeFile(each.file.data(), size, each.order);
      if (decoded.result.failed()) {
        CHECK(*decoded.result.text);
        continue;
      }
      INFO(each.name << ", " << size << " of " << each.file.size() << " bytes");
      CHECK((decoded.pixels == each.pixels));
    }
}

TEST_CASE("damaged files end in an error or in pixels") {
  std::mt19937 random(7);
  for (const Recorded &each : recorded())
    for (int round = 0; round < 40; ++round) {
      Octets file = each.file;
      for (int i = 0; i <= round % 4; ++i)
        file[random() % file.size()] = round % 2 ? uint8_t(random()) : uint8_t(0xff * (random() % 2));
      Decoded decoded = decodeFile(file, each.order);
      CHECK((!decoded.result.failed() || *decoded.result.text));
    }
}

TEST_CASE("several threads decode at a time") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (const Recorded &each : recorded()) {
        Octets pixels(each.pixels.size());
        Canvas canvas = {pixels.data(), each.height, each.width, each.order};
        wrong[t] += decode({each.file.data(), each.file.size()}, 0, canvas).failed() || pixels != each.pixels;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a canvas of another size is refused") {
  const Recorded &first = recorded().front();
  Octets pixels(first.pixels.size());
  Result result =
      decode({first.file.data(), first.file.size()}, 0, {pixels.data(), first.height, first.width - 1, first.order});
  CHECK(result.status == TENON_INVALID);
}

TEST_CASE("limits are named") {
  auto textOf = [](const Octets &file, tenon_status status, uint64_t memoryLimit = 0) {
    Header header;
    Result result = measure({file.data(), file.size()}, memoryLimit, header);
    CHECK(result.status == status);
    return std::string(result.text);
  };
  CHECK(textOf(octets("P5 99999 99999 255\n", 19), TENON_RESOURCES) ==
        "the image has more than 178956970 pixels, the limit");
  CHECK(textOf(octets("P5 13000 13000 255\n", 19), TENON_RESOURCES) ==
        "the PNM file of 19 bytes says it has 169000000 pixels; the limit is 8192 a byte, and 16777216 are free");
  CHECK(textOf(octets("P5 4096 4096 255\n", 17), TENON_OK) == "");
  for (const Recorded &each : recorded())
    if (each.name == "JpegProgressive0")
      CHECK(textOf(each.file, TENON_RESOURCES, 1000) ==
            "decoding the JPEG file takes up to 2622 bytes besides the pixels, more than the memory limit of 1000");
}

TEST_CASE("what is no image is refused") {
  CHECK(decodeFile(Octets()).result.status == TENON_INVALID);
  CHECK(decodeFile(octets("no image", 8)).result.status == TENON_INVALID);
  CHECK(decodeFile(octets("P5 0 7 255\n", 11)).result.status == TENON_INVALID);
}
