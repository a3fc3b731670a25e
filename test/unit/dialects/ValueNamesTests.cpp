//===- ValueNamesTests.cpp - names of values in printed IR -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ValueNames.h"
#include <catch2/catch.hpp>

using namespace tenon;

TEST_CASE("a value is called as its node, in characters that MLIR prints as they are") {
  CHECK(toValueName("conv1") == "conv1");
  CHECK(toValueName("/layer1/layer1.0/conv1/Conv") == "layer1.layer1.0.conv1.Conv");
  CHECK(toValueName("model/dense:0") == "model.dense.0");
  CHECK(toValueName("a b$c") == "a_b_c");
  CHECK(toValueName("übung") == "__bung");
  CHECK(toValueName("") == "");
  CHECK(toValueName("//") == "");
}

TEST_CASE("of a long name the last components are kept") {
  CHECK(toValueName("/encoder/layer.11/attention/output/LayerNorm/LayerNormalization_output_0") ==
        "output.LayerNorm.LayerNormalization_output_0");
  CHECK(toValueName(std::string(60, 'x')) == std::string(48, 'x'));
}
