//===- ModulePathTests.cpp - where exporters say that a node belongs -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ModulePath.h"
#include <catch2/catch.hpp>

using namespace tenon::onnx_import;

TEST_CASE("the innermost module of a list of scopes is the one before the node") {
  CHECK(getInnermostScope("['', 'encoder', 'encoder.layer.0', 'linear_4']") == "encoder.layer.0");
  CHECK(getInnermostScope(R"(["", "encoder's", "linear_4"])") == "encoder's");
  CHECK(getInnermostScope("['', 'linear']") == "");
  CHECK(getInnermostScope("['linear']") == "");
  CHECK(getInnermostScope("[]") == "");
  CHECK(getInnermostScope("['', 'encoder', 'cut") == "");
}

TEST_CASE("the innermost module of a namespace") {
  CHECK(getInnermostNamespace(": Bert/encoder: Encoder/encoder.layer.0: Layer/linear_4: aten.linear.default") ==
        "encoder.layer.0");
  CHECK(getInnermostNamespace(": Bert/linear: aten.linear.default") == "");
  CHECK(getInnermostNamespace("linear") == "");
  CHECK(getInnermostNamespace("") == "");
}
