//===- WeightReferenceTests.cpp - references to weights as text ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/WeightReferences.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("a reference is read as it was printed") {
  WeightReference reference{576, 1032, "digits.onnx", "../models/digits", 0xab};
  std::string text = "576 bytes at 1032 of digits.onnx in ../models/digits, xxh3 00000000000000ab";
  CHECK(reference.print() == text);
  std::optional<WeightReference> read = WeightReference::parse(text);
  REQUIRE(read);
  CHECK(read->size == 576);
  CHECK(read->offset == 1032);
  CHECK(read->file == "digits.onnx");
  CHECK(read->folder == "../models/digits");
  CHECK(read->hash == 0xab);
}

TEST_CASE("what is no reference is none") {
  CHECK_FALSE(WeightReference::parse(""));
  CHECK_FALSE(WeightReference::parse("576 bytes at 1032 of digits.onnx in ."));
  CHECK_FALSE(WeightReference::parse("-1 bytes at 0 of digits.onnx in ., xxh3 0000000000000000"));
  CHECK_FALSE(WeightReference::parse("1 bytes at 99999999999999999999 of a in ., xxh3 0000000000000000"));
  CHECK_FALSE(WeightReference::parse("1 bytes at 0 of  in ., xxh3 0000000000000000"));
}

TEST_CASE("a name that would be read as another one is no reference") {
  WeightReference strange{1, 0, "a in b.onnx", "c", 0};
  std::optional<WeightReference> read = WeightReference::parse(strange.print());
  CHECK((!read || read->file != strange.file));
}
