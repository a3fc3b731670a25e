//===- KernelTests.cpp - kernels on text ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/unicode/case_mapping.h"
#include "runtime/format/Kernel.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

extern "C" {
#define KERNEL(name) int32_t name(void *const *, const int64_t *, int64_t, int64_t, void *, int64_t);
KERNEL(tenon_find_strings)
KERNEL(tenon_lower_case)
KERNEL(tenon_match)
KERNEL(tenon_split)
KERNEL(tenon_split_counts)
KERNEL(tenon_upper_case)
}

using Texts = std::vector<std::string>;

namespace {
/// The operands and results of a call.
struct Call {
  std::vector<std::vector<int64_t>> lists;
  std::vector<std::string> bytes;
  std::vector<void *> buffers;
  std::vector<int64_t> sizes;

  Call() {
    lists.reserve(8);
    bytes.reserve(8);
  }
  void add(const std::string &text) {
    bytes.push_back(text);
    buffers.push_back(bytes.back().data());
    sizes.push_back(int64_t(text.size()));
  }
  std::vector<int64_t> &add(std::vector<int64_t> list) {
    lists.push_back(std::move(list));
    buffers.push_back(lists.back().data());
    sizes.push_back(int64_t(lists.back().size()));
    return lists.back();
  }
  void addStrings(const Texts &texts) {
    std::string all;
    std::vector<int64_t> ends;
    for (const std::string &text : texts)
      ends.push_back(int64_t((all += text).size()));
    add(all);
    add(ends);
  }
  int32_t run(tenon_kernel_fn kernel) { return kernel(buffers.data(), sizes.data(), 0, 1, nullptr, -1); }
};
} // namespace

static std::string changed(const std::string &text, bool upper) {
  Call call;
  call.add(text);
  call.add(std::string(text.size(), 0));
  CHECK(call.run(upper ? tenon_upper_case : tenon_lower_case) == TENON_KERNEL_OK);
  return call.bytes.back();
}

static std::vector<int64_t> found(const Texts &texts, const Texts &keys) {
  Call call;
  call.addStrings(texts);
  call.addStrings(keys);
  std::vector<int64_t> &result = call.add(std::vector<int64_t>(texts.size()));
  CHECK(call.run(tenon_find_strings) == TENON_KERNEL_OK);
  return result;
}

static Texts parts(const std::string &text, const std::string &delimiter, int64_t limit = -1) {
  Call count;
  count.addStrings({text});
  count.add(delimiter);
  count.add(std::vector<int64_t>{limit});
  std::vector<int64_t> &counts = count.add(std::vector<int64_t>(1));
  CHECK(count.run(tenon_split_counts) == TENON_KERNEL_OK);
  Call call;
  call.addStrings({text});
  call.add(delimiter);
  call.add(std::vector<int64_t>{limit});
  std::vector<int64_t> &begins = call.add(std::vector<int64_t>(counts[0]));
  std::vector<int64_t> &lengths = call.add(std::vector<int64_t>(counts[0]));
  CHECK(call.run(tenon_split) == TENON_KERNEL_OK);
  Texts result;
  for (int64_t i = 0; i < counts[0]; ++i)
    result.push_back(text.substr(size_t(begins[i]), size_t(lengths[i])));
  return result;
}

TEST_CASE("letters change their case, and nothing else changes") {
  CHECK(changed("Gr\xc3\xbc\xc3\x9f"
                "e, 1!",
                true) == "GR\xc3\x9c\xc3\x9f"
                         "E, 1!");
  CHECK(changed("\xce\x91\xce\xa3 \xd0\x81\xd0\x96 \xc4\x80\xc5\xbd", false) ==
        "\xce\xb1\xcf\x83 \xd1\x91\xd0\xb6 \xc4\x81\xc5\xbe");
  CHECK(changed("\xe2\x82\xac\xff\xc3", true) == "\xe2\x82\xac\xff\xc3");
}

TEST_CASE("letters come back from the other case") {
  for (uint32_t code = 0x80; code < 0x800; ++code) {
    uint32_t upper = changeWideCase(code, true), lower = changeWideCase(code, false);
    INFO(code);
    CHECK((upper >= 0x80 && upper < 0x800 && lower >= 0x80 && lower < 0x800));
    CHECK((upper == code || lower == code));
    CHECK((upper == code || changeWideCase(upper, false) == code));
    CHECK((lower == code || changeWideCase(lower, true) == code));
  }
}

TEST_CASE("strings are found among sorted keys") {
  Texts keys{"", "a", "ab", "b", "\xc3\xbc"};
  CHECK(found({"b", "", "\xc3\xbc", "ab", "abc", "A", "a"}, keys) == std::vector<int64_t>{3, 0, 4, 2, -1, -1, 1});
  CHECK(found({"x"}, {}) == std::vector<int64_t>{-1});
  CHECK(found({}, keys).empty());
}

TEST_CASE("strings are split as Python does") {
  CHECK(parts("a,b,,c", ",") == Texts{"a", "b", "", "c"});
  CHECK(parts("a,b,,c", ",", 1) == Texts{"a", "b,,c"});
  CHECK(parts(",", ",") == Texts{"", ""});
  CHECK(parts("", ",") == Texts{""});
  CHECK(parts("aXXbX", "XX") == Texts{"a", "bX"});
  CHECK(parts("  a \t b ", "") == Texts{"a", "b"});
  CHECK(parts("  a \t b c ", "", 1) == Texts{"a", "b c "});
  CHECK(parts("  ", "").empty());
  CHECK(parts("ab", ",", 0) == Texts{"ab"});
}

TEST_CASE("an automaton decides") {
  Call call;
  call.addStrings({"", "a", "aa", "ab"});
  // Class 1 is a. One a, and nothing else, leads from state 0 to state 1, which is where a string may end.
  std::string classes(256, 0);
  classes['a'] = 1;
  call.add(classes);
  std::vector<int32_t> next{2, 1, 2, 2, 2, 2};
  call.buffers.push_back(next.data());
  call.sizes.push_back(6);
  call.add(std::string("\0\1\0", 3));
  call.add(std::string(4, 7));
  CHECK(call.run(tenon_match) == TENON_KERNEL_OK);
  CHECK(call.bytes.back() == std::string("\0\1\0\0", 4));
}

TEST_CASE("strings outside of their bytes are refused") {
  for (const std::vector<int64_t> &ends : {std::vector<int64_t>{-1}, {4}, {2, 1}}) {
    Call call;
    call.add(std::string("abc"));
    call.add(ends);
    call.addStrings({"a"});
    call.add(std::vector<int64_t>(ends.size()));
    CHECK(call.run(tenon_find_strings) == TENON_KERNEL_BAD_VALUE);
  }
}
