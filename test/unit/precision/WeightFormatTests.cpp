//===- WeightFormatTests.cpp -----------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/WeightFormat.h"
#include <catch2/catch.hpp>

using namespace tenon;

static std::string describe(llvm::StringRef text) {
  llvm::Expected<WeightRule> rule = WeightRule::parse(text);
  return rule ? rule->pattern + "|" + rule->format.describe() : "error: " + llvm::toString(rule.takeError());
}

TEST_CASE("a format has a name and suboptions") {
  CHECK(describe("bf16") == "|bf16");
  CHECK(describe("int8") == "|int8 (group 32)");
  CHECK(describe("int4") == "|int4 (group 32)");
  CHECK(describe("int4:group=64,asymmetric") == "|int4 (group 64, asymmetric)");
  CHECK(describe("int4:group=row") == "|int4 (row)");
  CHECK(describe("int8:asymmetric,group=128,symmetric") == "|int8 (group 128)");
}

TEST_CASE("a rule may have a pattern of names, which may have signs of its own") {
  CHECK(describe("*lm_head*=int8") == "*lm_head*|int8 (group 32)");
  CHECK(describe("a=b=int4:group=16") == "a=b|int4 (group 16)");
  CHECK(describe("layers.[0-3].*=f32") == "layers.[0-3].*|f32");
  CHECK(describe("onnx::MatMul_12=int4:group=16") == "onnx::MatMul_12|int4 (group 16)");
}

TEST_CASE("what is wrong with a rule is said") {
  CHECK(describe("int3") == "error: there is no format 'int3' of weights; known are f32, bf16, f16, int8, int4");
  CHECK(describe("x=int3") == "error: there is no format 'int3' of weights; known are f32, bf16, f16, int8, int4");
  CHECK(describe("x=int3:group=32") ==
        "error: there is no format 'int3' of weights; known are f32, bf16, f16, int8, int4");
  CHECK(describe("") == "error: there is no format '' of weights; known are f32, bf16, f16, int8, int4");
  CHECK(describe("=int8") == "error: expected a pattern before '=', got '=int8'");
  CHECK(describe("[=int8") == "error: '[' is no pattern: invalid glob pattern, unmatched '['");
  CHECK(describe("bf16:group=32") == "error: 'bf16' has no suboptions, got 'group=32'");
  CHECK(describe("int4:") == "error: there is no suboption ''; known are group=N, group=row, symmetric and asymmetric");
  CHECK(describe("int4:groups=32") ==
        "error: there is no suboption 'groups=32'; known are group=N, group=row, symmetric and asymmetric");
  for (const char *text : {"int4:group=0", "int4:group=12", "int4:group=-32", "int4:group=x", "int4:group="})
    CHECK(llvm::StringRef(describe(text)).starts_with("error: expected group=row, or a multiple of 8, got 'group="));
}

static std::vector<std::string> choose(std::vector<std::string> texts) {
  std::vector<WeightRule> rules;
  for (const std::string &text : texts)
    rules.push_back(llvm::cantFail(WeightRule::parse(text)));
  std::vector<std::string> names = {"a.up", "a.down", "head", "tiny"};
  auto formats = WeightRules(std::move(rules)).choose(names, {true, true, true, false});
  if (!formats)
    return {llvm::toString(formats.takeError())};
  std::vector<std::string> described;
  for (const std::optional<WeightFormat> &format : *formats)
    described.push_back(format ? format->describe() : "-");
  return described;
}

TEST_CASE("the last rule that matches decides, and small matrices have to be named") {
  using Texts = std::vector<std::string>;
  CHECK(choose({}) == Texts{"-", "-", "-", "-"});
  CHECK(choose({"bf16"}) == Texts{"bf16", "bf16", "bf16", "-"});
  CHECK(choose({"int4", "head=int8"}) == Texts{"int4 (group 32)", "int4 (group 32)", "int8 (group 32)", "-"});
  CHECK(choose({"head=int8", "int4"}) == Texts{"int4 (group 32)", "int4 (group 32)", "int4 (group 32)", "-"});
  CHECK(choose({"a.*=f16", "*down=bf16", "t?ny=f16"}) == Texts{"f16", "bf16", "-", "f16"});
  CHECK(choose({"int8", "b.*=f16"}) ==
        Texts{"--weights 'b.*=f16': 'b.*' matches the name of no constant matrix; they are 'a.up', 'a.down', 'head', "
              "'tiny'"});
}
