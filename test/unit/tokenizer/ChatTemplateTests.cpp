//===- ChatTemplateTests.cpp - templates that are at fault ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"

#include <catch2/catch.hpp>

using namespace tenon::text;
using Catch::Matchers::Contains;

static Status render(const std::string &source, std::string &text) {
  ChatTemplate chat;
  TENON_TRY(chat.parse(source, R"({"bos_token": "<s>"})"));
  return chat.render(R"([{"role": "user", "content": "Hi"}])", /*addsPrompt=*/true, text);
}

static std::string refusal(const std::string &source, int code) {
  std::string text;
  Status status = render(source, text);
  CHECK(status.code() == code);
  return status.message();
}

static std::string repeat(const std::string &text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST_CASE("faults are told with their line") {
  CHECK_THAT(refusal("a\n{{ nothing.x }}", 1), Contains("the chat template: line 2: 'nothing' is undefined"));
  CHECK_THAT(refusal("{{ 1 | shuffle }}", 3), Contains("the filter 'shuffle' is not supported"));
  CHECK_THAT(refusal("{% include 'x' %}", 3), Contains("the statement 'include' is not supported"));
  CHECK_THAT(refusal("{{ [].append(1) }}", 3), Contains("has no method 'append'"));
  CHECK_THAT(refusal("\n{% if true %}", 1), Contains("line 2: expected 'endif'"));
  CHECK_THAT(refusal("{{ raise_exception('no\nmore') }}", 1), Contains("the template says: no?more"));
  CHECK_THAT(refusal("{# a", 1), Contains("a comment does not end"));
  CHECK_THAT(refusal("\xff", 1), Contains("no UTF-8"));
}

TEST_CASE("a conversation has messages") {
  ChatTemplate chat;
  std::string text;
  REQUIRE_FALSE(chat.parse("{{ messages[0].content }}{{ add_generation_prompt }}{{ extra }}", "{}").failed());
  REQUIRE_FALSE(chat.render(R"({"messages": [{"content": "x"}], "extra": 5})", false, text).failed());
  CHECK(text == "xFalse5");
  CHECK_THAT(chat.render("{}", false, text).message(), Contains("no list of messages"));
  CHECK_THAT(chat.render("[", false, text).message(), Contains("no JSON"));
}

TEST_CASE("templates that are made to cost time or memory") {
  CHECK_THAT(refusal("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", 4),
             Contains("MiB of text"));
  CHECK_THAT(refusal("{% for a in range(9999) %}{% if 1 %}" + repeat("{{ 1 }}", 600) + "{% endif %}{% endfor %}", 4),
             Contains("too many steps"));
  CHECK_THAT(refusal("{{ 'a' * 10000000000 }}", 4), Contains("MiB of text"));
  CHECK_THAT(refusal("{{ [1] * 10000000000 }}", 4), Contains("MiB of text"));
  CHECK_THAT(refusal("{{ range(1000000) }}", 4), Contains("100000 elements"));
  CHECK_THAT(refusal("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", 4), Contains("nest too deep"));
  CHECK_THAT(refusal("{% set a = [1] %}" + repeat("{% set a = [a, a] %}", 60) + "{{ a }}", 4), Contains("MiB of text"));
  CHECK_THAT(refusal("{% set a = [1] %}{% set b = [1] %}" + repeat("{% set a = [a, a] %}{% set b = [b, b] %}", 60) +
                         "{{ a == b }}",
                     4),
             Contains("too many steps"));
  CHECK_THAT(refusal("{% set a = 'x' %}" + repeat("{% set a = a + a %}", 60), 4), Contains("MiB of text"));
  CHECK_THAT(refusal("{{ " + repeat("(", 1000) + "1" + repeat(")", 1000) + " }}", 1), Contains("nest too deep"));
  CHECK_THAT(refusal("{{ " + repeat("not ", 1000) + "1 }}", 1), Contains("nest too deep"));
  CHECK_THAT(refusal("{{ " + repeat("-", 1000) + "1 }}", 1), Contains("nest too deep"));
  CHECK_THAT(refusal(repeat("{% if 1 %}", 10000), 1), Contains("nest too deep"));
  CHECK_THAT(refusal("{% if 1 %}" + repeat("{% elif 1 %}", 10000) + "{% endif %}", 1), Contains("nest too deep"));
  CHECK_THAT(refusal("{{ 9223372036854775807 + 1 }}", 1), Contains("64 bits"));
  CHECK_THAT(refusal("{{ 99999999999999999999 }}", 1), Contains("too large"));
}

TEST_CASE("long chains of operators are evaluated, and too long ones refused") {
  CHECK_THAT(refusal("{{ 0" + repeat(" + 1", 1500) + " }}", 4), Contains("nest too deep"));
  CHECK_THAT(refusal("{{ 0" + repeat(" + 1", 1'000'000) + " }}", 1), Contains("4000 names"));
  CHECK_THAT(refusal("{{ a" + repeat("[0]", 1'000'000) + " }}", 1), Contains("4000 names"));
  std::string text;
  REQUIRE_FALSE(render("{{ 0" + repeat(" + 1", 300) + " }}{{ 'a'" + repeat(" | trim", 300) + " }}", text).failed());
  CHECK(text == "300a");
}
