//===- NpyTests.cpp - NumPy files, good and hostile ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/tenon-run/Program.h"
#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/Npy.h"

#include <catch2/catch.hpp>
#include <random>

using namespace tenon::run;
using namespace tenon::test;
using Catch::Matchers::Contains;

static std::string npy(const std::string &header, const std::string &data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += char(version);
  file += '\0';
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  if (version > 1)
    file += std::string(2, '\0');
  return file + header + data;
}

static std::string npy(const std::string &descr, const std::string &shape, bool fortran, const std::string &data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
                 ", }\n",
             data);
}

static Status parse(const std::string &file, tenon_dtype wanted, HostTensor *tensor) {
  Bytes exact(file.data(), file.size());
  return parseNpy(exact.data(), exact.size, wanted, tensor);
}

static std::vector<double> values(const std::string &file, tenon_dtype wanted) {
  HostTensor tensor;
  Status status = parse(file, wanted, &tensor);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  std::vector<double> result;
  for (uint64_t i = 0; i < tensor.count() * partsOf(wanted); ++i)
    result.push_back(elementAt(wanted, tensor.data(), i));
  return result;
}

static void refuses(const std::string &file, tenon_dtype wanted, const char *text) {
  HostTensor tensor;
  Status status = parse(file, wanted, &tensor);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains(text));
}

using V = std::vector<double>;

TEST_CASE("arrays in the orders that NumPy writes") {
  std::string bytes("\1\0\2\0\3\0\4\0\5\0\6\0", 12), swapped("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  CHECK(values(npy("<i2", "(2, 3)", false, bytes), TENON_I16) == V{1, 2, 3, 4, 5, 6});
  CHECK(values(npy(">i2", "(2, 3)", false, swapped), TENON_I16) == V{1, 2, 3, 4, 5, 6});
  CHECK(values(npy("<i2", "(2, 3)", true, bytes), TENON_I16) == V{1, 3, 5, 2, 4, 6});
  CHECK(values(npy(">i2", "(3, 2)", true, swapped), TENON_I16) == V{1, 4, 2, 5, 3, 6});
  CHECK(values(npy("<i2", "(6,)", false, bytes), TENON_I16) == V{1, 2, 3, 4, 5, 6});
  CHECK(values(npy("|u1", "()", false, "\7"), TENON_U8) == V{7});
  CHECK(values(npy("<f4", "(0, 5)", false, ""), TENON_F32) == V{});
  CHECK(values(npy("<f4", "(0, 5)", true, ""), TENON_F32) == V{});
  std::string complex(16, '\0');
  complex[0] = complex[8] = 0x3f;
  complex[1] = complex[9] = char(0x80);
  complex[4] = 0x40;
  CHECK(values(npy(">c8", "(2,)", false, complex), TENON_C64) == V{1, 2, 1, 0});
}

TEST_CASE("versions 2 and 3 have longer headers") {
  std::string header = "{\"descr\": \"|b1\", \"fortran_order\": False, \"shape\": (2,)}";
  for (int version : {1, 2, 3})
    CHECK(values(npy(header, std::string("\1\0", 2), version), TENON_BOOL) == V{1, 0});
  refuses(npy(header, "ab", 4), TENON_BOOL, "version 4 of the .npy format");
}

TEST_CASE("types that NumPy lacks") {
  std::string one("\x80\x3f", 2);
  CHECK(values(npy("<V2", "(1,)", false, one), TENON_BF16) == V{1});
  CHECK(values(npy("<u2", "(1,)", false, one), TENON_BF16) == V{1});
  CHECK(values(npy("|V1", "(1,)", false, "\x38"), TENON_F8E4M3FN) == V{1});
  CHECK(values(npy("|i1", "(3,)", false, "\x07\xf8\xff"), TENON_I4) == V{7, -8, -1});
  CHECK(values(npy("|u1", "(3,)", false, std::string("\x0f\0\1", 3)), TENON_U4) == V{15, 0, 1});
  CHECK(values(npy("|i1", "(5,)", false, std::string("\1\xfe\0\1\xff", 5)), TENON_I2) == V{1, -2, 0, 1, -1});
  CHECK(values(npy("|u1", "(2,)", false, "\x07\x0a"), TENON_F4E2M1) == V{6, -1});
  HostTensor tensor;
  REQUIRE_FALSE(parse(npy("|i1", "(3,)", false, "\x07\xf8\xff"), TENON_I4, &tensor).failed());
  CHECK(std::string(reinterpret_cast<const char *>(tensor.data()), tensor.bytes) == "\x07\x08\x0f");
  refuses(npy("|i1", "(1,)", false, "\x08"), TENON_I4, "element 0 is out of the range of i4");
  refuses(npy("|u1", "(1,)", false, "\x10"), TENON_U4, "out of the range of u4");
}

TEST_CASE("files that are refused") {
  std::string four(4, '\0');
  refuses("", TENON_F32, "not a NumPy array");
  refuses("PK\3\4 and so on", TENON_F32, "not a NumPy array");
  refuses(npy("<f8", "(1,)", false, four + four), TENON_F32, "holds NumPy type '<f8', expected f32 ('f4')");
  refuses(npy("|O", "(1,)", false, four), TENON_F32, "holds NumPy type '|O'");
  refuses(npy("", "(1,)", false, four), TENON_F32, "NumPy type ''");
  refuses(npy("<f4", "(2,)", false, four), TENON_F32, "has 4 bytes of elements, its shape f32[2] needs 8");
  refuses(npy("<f4", "(1,)", false, four + "x"), TENON_F32, "has 5 bytes of elements");
  refuses(npy("<f4", "(9223372036854775807, 4)", false, four), TENON_F32, "needs more than");
  refuses(npy("<f4", "(99999999999999999999,)", false, four), TENON_F32, "not one plain array");
  refuses(npy("<f4", "(-1,)", false, four), TENON_F32, "not one plain array");
  refuses(npy("<f4", "(1,", false, four), TENON_F32, "not one plain array");
  refuses(npy("<f4", "1", false, four), TENON_F32, "not one plain array");
  refuses(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four), TENON_F32,
          "not one plain array");
  refuses(npy("{'descr': '<f4', 'shape': (1,)}", four), TENON_F32, "not one plain array");
  refuses(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", four), TENON_F32,
          "not one plain array");
  std::string deep = "(";
  for (int i = 0; i < 65; ++i)
    deep += "1, ";
  refuses(npy("<f4", deep + ")", false, four), TENON_F32, "not one plain array");
  std::string cut = npy("<f4", "(1,)", false, four);
  for (size_t size = 0; size < cut.size(); ++size) {
    HostTensor tensor;
    CHECK(parse(cut.substr(0, size), TENON_F32, &tensor).failed());
  }
}

TEST_CASE("damaged files never crash the reader") {
  std::string good = npy("<i2", "(2, 3)", true, std::string(12, 'x'));
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string file = good.substr(0, random() % 4 ? good.size() : random() % good.size());
    for (unsigned flips = random() % 4; flips > 0 && !file.empty(); --flips)
      file[random() % file.size()] = char(random());
    HostTensor tensor;
    (void)parse(file, TENON_I16, &tensor);
  }
}

TEST_CASE("every type survives a round through a file") {
  Folder folder;
  std::string path = folder / "x.npy";
  for (int t = TENON_F32; t <= TENON_C128; ++t) {
    auto dtype = tenon_dtype(t);
    if (dtype == TENON_STRING)
      continue;
    HostTensor tensor, back;
    tensor.dtype = dtype;
    tensor.dims = {3, 5};
    REQUIRE_FALSE(tensor.allocate().failed());
    for (uint64_t i = 0; i < 15 * partsOf(dtype); ++i)
      setElement(dtype, tensor.data(), i, double(i % 4) - (isFloat(dtype) || dtype == TENON_I4 ? 2 : 0));
    INFO(tenon_dtype_name(dtype));
    REQUIRE_FALSE(writeNpy(path.c_str(), tensor.view()).failed());
    Bytes file = readFile(path);
    Status status = parseNpy(file.data(), file.size, dtype, &back);
    INFO(status.message());
    REQUIRE_FALSE(status.failed());
    CHECK(back.dims == tensor.dims);
    CHECK(memcmp(back.data(), tensor.data(), tensor.bytes) == 0);
  }
}

static std::vector<std::string> strings(const std::string &file) {
  Bytes exact(file.data(), file.size());
  HostTensor tensor;
  Status status = parseNpyStrings(exact.data(), exact.size, &tensor);
  INFO(status.message());
  REQUIRE_FALSE(status.failed());
  TensorView view{tensor.view(), tensor.ends.data()};
  std::vector<std::string> result;
  for (uint64_t i = 0; i < view.count(); ++i)
    result.emplace_back(view.string(i));
  return result;
}

static void refusesStrings(const std::string &file, const char *text) {
  Bytes exact(file.data(), file.size());
  HostTensor tensor;
  Status status = parseNpyStrings(exact.data(), exact.size, &tensor);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains(text));
}

/// Code points of four bytes each.
static std::string wide(const std::vector<uint32_t> &codes) {
  return {reinterpret_cast<const char *>(codes.data()), codes.size() * 4};
}

using S = std::vector<std::string>;

TEST_CASE("arrays of strings") {
  CHECK(strings(npy("<U2", "(3,)", false, wide({'a', 0, 0xfc, 'x', 0x1f600, 0}))) ==
        S{"a", "\xc3\xbcx", "\xf0\x9f\x98\x80"});
  CHECK(strings(npy("<U1", "(2, 2)", true, wide({'a', 'c', 'b', 'd'}))) == S{"a", "b", "c", "d"});
  CHECK(strings(npy("|S3", "(2,)", false, std::string("ab\0abc", 6))) == S{"ab", "abc"});
  CHECK(strings(npy(">U1", "()", false, std::string("\0\0\0a", 4))) == S{"a"});
  CHECK(strings(npy("<U7", "(0, 4)", false, "")).empty());
  refusesStrings(npy("<f4", "(1,)", false, "abcd"), "holds NumPy type '<f4', expected strings");
  refusesStrings(npy("<U1", "(2,)", false, "abcd"), "has 4 bytes of elements, which its shape [2] of '<U1'");
  refusesStrings(npy("<U0", "(1000000,)", false, ""), "strings of no length");
  refusesStrings(npy("<U1", "(1,)", false, wide({0xd800})), "element 0 is no text");
  refusesStrings(npy("<U1", "(1,)", false, wide({0x110000})), "element 0 is no text");
}

TEST_CASE("strings survive a round through a file") {
  Folder folder;
  std::string path = folder / "x.npy";
  for (const S &texts : {S{"a", "", "gr\xc3\xbc\xc3\x9f"}, S{"", "", ""}, S{"\xf0\x9f\x98\x80", "\xe2\x82\xac", "z"}}) {
    HostTensor tensor;
    tensor.dims = {3};
    REQUIRE_FALSE(tensor.setStrings({texts.begin(), texts.end()}).failed());
    REQUIRE_FALSE(writeNpyStrings(path.c_str(), {tensor.view(), tensor.ends.data()}).failed());
    Bytes file = readFile(path);
    CHECK(strings(std::string(reinterpret_cast<char *>(file.data()), file.size)) == texts);
  }
}
