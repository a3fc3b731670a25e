//===- SafetensorsTests.cpp - good and hostile safetensors files ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/import/huggingface/Safetensors.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace tenon::huggingface;

namespace {

struct Fixture {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string error; ///< of the last file that was refused

  std::optional<llvm::StringMap<StoredTensor>> read(const std::string &file) {
    auto tensors = readSafetensors(llvm::ArrayRef(file.data(), file.size()), &context);
    if (tensors)
      return std::move(*tensors);
    CHECK(tenon::takeError(tensors.takeError(), error) == tenon::CompileStatus::invalid);
    return std::nullopt;
  }
};

/// A file with this header, and as many bytes of data, which count from 0.
std::string makeFile(const std::string &header, size_t size) {
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char *>(&length), sizeof(length));
  file += header;
  for (size_t i = 0; i < size; ++i)
    file += static_cast<char>(i);
  return file;
}

std::string entry(const std::string &dtype, const std::string &shape, const std::string &offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

} // namespace

TEST_CASE_METHOD(Fixture, "tensors point into the file, in whatever order the header has them") {
  std::string file = makeFile(R"({"b":)" + entry("BF16", "[2,1]", "[4,8]") + R"(,"__metadata__":{"format":"pt"},"a":)" +
                                  entry("F32", "[]", "[0,4]") + R"(,"none":)" + entry("I64", "[3,0]", "[4,4]") + "}   ",
                              8);
  auto tensors = read(file);
  REQUIRE(tensors);
  CHECK(tensors->size() == 3);
  const StoredTensor &b = tensors->find("b")->second;
  CHECK(b.elementType.isBF16());
  CHECK(b.shape == llvm::SmallVector<int64_t>{2, 1});
  CHECK(b.bytes.size() == 4);
  CHECK(b.bytes[0] == 4);
  CHECK(b.bytes.begin() > file.data());
  CHECK(tensors->find("none")->second.bytes.empty());
}

TEST_CASE_METHOD(Fixture, "a type that the dialect lacks is only a fault where it is used") {
  auto tensors = read(makeFile(R"({"a":)" + entry("C64", "[2]", "[0,16]") + "}", 16));
  REQUIRE(tensors);
  CHECK_FALSE(tensors->find("a")->second.elementType);
}

TEST_CASE_METHOD(Fixture, "every prefix of a file is refused") {
  std::string file =
      makeFile(R"({"a":)" + entry("U8", "[3]", "[0,3]") + R"(,"b":)" + entry("U8", "[1]", "[3,4]") + "}", 4);
  REQUIRE(read(file));
  for (size_t size = 0; size < file.size(); ++size)
    CHECK_FALSE(read(file.substr(0, size)));
}

TEST_CASE_METHOD(Fixture, "files that break a rule of the format") {
  auto one = [](const std::string &dtype, const std::string &shape, const std::string &offsets, size_t size) {
    return makeFile(R"({"a":)" + entry(dtype, shape, offsets) + "}", size);
  };
  std::string file, wanted;
  auto expect = [&](std::string theFile, const char *theText) {
    file = std::move(theFile);
    wanted = theText;
  };
  SECTION("too short for a length") { expect("abc", "has 3 bytes"); }
  SECTION("a header beyond the limit") { expect(std::string(8, '\x7f'), "the format allows 100000000"); }
  SECTION("a header beyond the file") { expect(std::string("\x7f\0\0\0\0\0\0\0{}", 10), "but 2 follow"); }
  SECTION("no JSON") { expect(makeFile("{]", 0), "is no JSON: there is a mistake at byte 2"); }
  SECTION("no UTF-8") { expect(makeFile("{\"\xff\":1}", 0), "is no JSON"); }
  SECTION("no object") { expect(makeFile("[]", 0), "holds no JSON object"); }
  SECTION("a huge number") { expect(makeFile(R"({"a":1e999})", 0), "number that is too large"); }
  SECTION("a name twice") {
    std::string a = R"("a":)" + entry("U8", "[1]", "[0,1]");
    expect(makeFile("{" + a + "," + a + "}", 1), "holds the key 'a' twice");
  }
  SECTION("deep nesting") { expect(makeFile("{\"a\":" + std::string(100000, '['), 0), "a header that"); }
  SECTION("an entry that is none") { expect(makeFile(R"({"a":[]})", 0), "tensor 'a' has to have a dtype"); }
  SECTION("an entry without a dtype") {
    expect(makeFile(R"({"a":{"shape":[],"data_offsets":[0,4],"x":1}})", 4), "has to have a dtype");
  }
  SECTION("an unknown type") { expect(one("F33", "[1]", "[0,4]", 4), "'F33', which the format does not have"); }
  SECTION("a negative extent") { expect(one("U8", "[-1]", "[0,1]", 1), "has to have a dtype"); }
  SECTION("an extent that is no integer") { expect(one("U8", "[1.5]", "[0,1]", 1), "has to have a dtype"); }
  SECTION("an extent beyond 63 bits") {
    expect(one("U8", "[18446744073709551615]", "[0,1]", 1), "has to have a dtype");
  }
  SECTION("a product that overflows") {
    expect(one("U8", "[4294967296,4294967296]", "[0,0]", 0), "more than 2^40 elements");
  }
  SECTION("part of a byte") { expect(one("F4", "[3]", "[0,2]", 2), "does not fill its last byte"); }
  SECTION("three offsets") { expect(one("U8", "[1]", "[0,1,1]", 1), "has to have a dtype"); }
  SECTION("offsets the wrong way round") { expect(one("U8", "[0]", "[1,0]", 1), "lies at bytes 1 to 0"); }
  SECTION("an end beyond the file") { expect(one("U8", "[2]", "[0,2]", 1), "lies at bytes 0 to 2, but there are 1"); }
  SECTION("too few bytes") {
    expect(one("F32", "[2]", "[0,4]", 4), "needs 8 bytes for its shape and dtype, but has 4");
  }
  SECTION("a gap") { expect(one("U8", "[1]", "[1,2]", 2), "begins at byte 1, but the one before it ends at 0"); }
  SECTION("an overlap") {
    expect(makeFile(R"({"a":)" + entry("U8", "[2]", "[0,2]") + R"(,"b":)" + entry("U8", "[2]", "[1,3]") + "}", 3),
           "tensor 'b' begins at byte 1, but the one before it ends at 2");
  }
  SECTION("bytes that are nobody's") { expect(one("U8", "[1]", "[0,1]", 3), "has 2 bytes after its last tensor"); }
  CHECK_FALSE(read(file));
  CHECK_THAT(error, Catch::Matchers::Contains(wanted));
}
