//===- TensorProtoTests.cpp - ONNX tensor files, good and hostile --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/tenon-run/Program.h"
#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/HostValue.h"
#include "tools/tenon-run/TensorProto.h"

#include <catch2/catch.hpp>
#include <random>

using namespace tenon::run;
using namespace tenon::test;
using Catch::Matchers::Contains;

static Status parse(const std::string &file, HostTensor *tensor) {
  Bytes exact(file.data(), file.size());
  return parseTensorProto(exact.data(), exact.size, tensor);
}

static std::vector<double> values(const std::string &file, tenon_dtype wanted) {
  HostTensor tensor;
  Status status = parse(file, &tensor);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  CHECK(tensor.dtype == wanted);
  std::vector<double> result;
  for (uint64_t i = 0; i < tensor.count() * partsOf(wanted); ++i)
    result.push_back(elementAt(wanted, tensor.data(), i));
  return result;
}

static void refuses(const std::string &file, const char *text) {
  HostTensor tensor;
  Status status = parse(file, &tensor);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains(text));
}

static std::string packed(std::vector<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += varint(uint64_t(number));
  return text;
}

template <typename T> static std::string bytesOf(std::vector<T> numbers) {
  return {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(T)};
}

using V = std::vector<double>;

TEST_CASE("raw data and a name") {
  std::vector<float> data{1, 2, 3, 4, 5, 6};
  std::string file = tensorProto("x", 1, {2, 3}, data.data(), 24);
  CHECK(values(file, TENON_F32) == V{1, 2, 3, 4, 5, 6});
  HostTensor tensor;
  REQUIRE_FALSE(parse(file, &tensor).failed());
  CHECK(tensor.name == "x");
  CHECK(tensor.dims == std::vector<int64_t>{2, 3});
  CHECK(values(tensorProto("s", 7, {}, "\5\0\0\0\0\0\0\0", 8), TENON_I64) == V{5});
  CHECK(values(tensorProto("e", 1, {0, 7}, "", 0), TENON_F32) == V{});
}

TEST_CASE("typed fields, packed or one by one") {
  std::string dims = field(1, packed({3}));
  CHECK(values(dims + field(2, 1) + field(4, bytesOf<float>({1, -2, 0.5})), TENON_F32) == V{1, -2, 0.5});
  CHECK(values(dims + field(2, 11) + field(10, bytesOf<double>({1, -2, 0.5})), TENON_F64) == V{1, -2, 0.5});
  CHECK(values(dims + field(2, 6) + field(5, packed({1, -2, 3})), TENON_I32) == V{1, -2, 3});
  CHECK(values(dims + field(2, 6) + field(5, 1) + field(5, uint64_t(-2)) + field(5, 3), TENON_I32) == V{1, -2, 3});
  CHECK(values(dims + field(2, 3) + field(5, packed({1, -2, 3})), TENON_I8) == V{1, -2, 3});
  CHECK(values(dims + field(2, 9) + field(5, packed({1, 0, 1})), TENON_BOOL) == V{1, 0, 1});
  CHECK(values(dims + field(2, 7) + field(7, packed({1, -2, INT64_MAX})), TENON_I64)[1] == -2);
  CHECK(values(dims + field(2, 12) + field(11, packed({1, 2, 3})), TENON_U32) == V{1, 2, 3});
  CHECK(values(dims + field(2, 13) + field(11, packed({1, 2, 3})), TENON_U64) == V{1, 2, 3});
  CHECK(values(dims + field(2, 10) + field(5, packed({0x3c00, 0xc000, 0x7c00})), TENON_F16) == V{1, -2, INFINITY});
  CHECK(values(dims + field(2, 16) + field(5, packed({0x3f80, 0xc000, 0})), TENON_BF16) == V{1, -2, 0});
  CHECK(values(dims + field(2, 17) + field(5, packed({0x38, 0xc0, 0})), TENON_F8E4M3FN) == V{1, -2, 0});
  CHECK(values(dims + field(2, 22) + field(5, packed({0xf7, 0x01})), TENON_I4) == V{7, -1, 1});
  CHECK(values(dims + field(2, 21) + field(5, packed({0xf7, 0x01})), TENON_U4) == V{7, 15, 1});
  CHECK(values(dims + field(2, 25) + field(5, packed({0x39})), TENON_U2) == V{1, 2, 3});
  CHECK(values(dims + field(2, 26) + field(5, packed({0x39})), TENON_I2) == V{1, -2, -1});
  CHECK(values(dims + field(2, 23) + field(5, packed({0xf1, 0x02})), TENON_F4E2M1) == V{0.5, -6, 1});
  CHECK(values(dims + field(2, 24) + field(5, packed({127, 129, 0})), TENON_F8E8M0)[1] == 4);
  CHECK(values(field(1, 1) + field(2, 14) + field(4, bytesOf<float>({1, 2})), TENON_C64) == V{1, 2});
  // A field of typed data may come in several pieces.
  CHECK(values(dims + field(2, 1) + field(4, bytesOf<float>({1})) + field(4, bytesOf<float>({2, 3})), TENON_F32) ==
        V{1, 2, 3});
}

TEST_CASE("elements that share a byte of the file have a byte each in memory") {
  std::string file = field(1, packed({5})) + field(2, 22) + field(9, "\xe1\x87\x5f");
  CHECK(values(file, TENON_I4) == V{1, -2, 7, -8, -1});
  HostTensor tensor;
  REQUIRE_FALSE(parse(file, &tensor).failed());
  REQUIRE(tensor.bytes == 5);
  CHECK(std::string(reinterpret_cast<const char *>(tensor.data()), 5) == "\x01\x0e\x07\x08\x0f");
  CHECK(values(field(1, packed({0, 3})) + field(2, 25), TENON_U2) == V{});
}

TEST_CASE("strings lie end to end") {
  HostTensor tensor;
  std::string text = field(6, "a") + field(6, "") + field(6, "gr\xc3\xbc\xc3\x9f");
  REQUIRE_FALSE(parse(field(1, 3) + field(2, 8) + text, &tensor).failed());
  CHECK(tensor.dtype == TENON_STRING);
  CHECK(tensor.ends == std::vector<int64_t>{1, 1, 7});
  TensorView view{tensor.view(), tensor.ends.data()};
  CHECK(view.string(0) == "a");
  CHECK(view.string(1).empty());
  CHECK(view.string(2) == "gr\xc3\xbc\xc3\x9f");
  REQUIRE_FALSE(parse(field(1, 0) + field(2, 8), &tensor).failed());
  CHECK(tensor.ends.empty());
}

TEST_CASE("tensors that are refused") {
  std::string x = field(1, 1) + field(2, 1), value = bytesOf<float>({1});
  refuses("", "ONNX element type 0");
  refuses(field(2, 8), "has 0 strings, its shape [] needs 1");
  refuses(field(1, 2) + field(2, 8) + field(6, "text"), "has 1 strings, its shape [2] needs 2");
  refuses(field(2, 8) + field(9, "text"), "strings with elements that are not strings");
  refuses(x + field(6, "text"), "strings in a tensor of f32");
  refuses(field(2, 99), "ONNX element type 99");
  refuses(x, "has 0 bytes of elements, its shape f32[1] needs 4");
  refuses(x + field(9, value + value), "has 8 bytes of elements");
  refuses(field(1, 5) + field(2, 22) + field(9, "ab"), "has 2 bytes of elements, its shape i4[5] needs 3");
  refuses(x + field(9, value) + field(4, value), "both in raw_data and in field 4");
  refuses(x + field(7, packed({1})), "in field 7, where they belong into field 4");
  refuses(x + field(4, value) + field(5, packed({1})), "two different fields");
  refuses(x + field(4, "abc"), "malformed");
  refuses(x + field(14, 1) + field(9, value), "in another file");
  refuses(x + field(13, "location"), "in another file");
  refuses(x + field(3, "\x08\x01"), "only whole tensors");
  refuses(field(1, uint64_t(-1)) + field(2, 1) + field(9, value), "needs more than");
  refuses(field(1, packed({INT64_MAX, INT64_MAX})) + field(2, 1) + field(9, value), "needs more than");
  refuses(field(1, std::string(65, '\1')) + field(2, 1) + field(9, value), "more than 64 dimensions");
  refuses("this is a text file\n", "malformed");
  refuses(std::string(100, '\xff'), "malformed");
  refuses(varint(9 << 3 | 2) + varint(UINT64_MAX), "malformed");
  refuses(varint(9 << 3 | 3), "malformed");
  refuses(varint(0), "malformed");
}

TEST_CASE("unknown fields are passed over") {
  std::vector<float> one{1};
  std::string file = tensorProto("x", 1, {1}, one.data(), 4);
  CHECK(values(field(12, "doc") + file + field(100, 5) + varint(101 << 3 | 5) + "abcd" + varint(102 << 3 | 1) +
                   "abcdefgh",
               TENON_F32) == V{1});
}

TEST_CASE("damaged tensors never crash the reader") {
  std::vector<float> data(6);
  std::string good = field(1, packed({2, 3})) + field(2, 1) + field(8, "name") + field(4, bytesOf(data));
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string file = good.substr(0, random() % 4 ? good.size() : random() % good.size());
    for (unsigned flips = random() % 4; flips > 0 && !file.empty(); --flips)
      file[random() % file.size()] = char(random());
    HostTensor tensor;
    (void)parse(file, &tensor);
  }
}
