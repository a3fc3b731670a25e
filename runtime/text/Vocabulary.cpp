//===- Vocabulary.cpp - tokens and their numbers --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Vocabulary.h"

#include <limits>
#include <random>
#include <tuple>
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tenon::text;

static uint64_t getSeed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }();
  return seed;
}

size_t SeededHash::operator()(std::string_view text) const {
  return XXH3_64bits_withSeed(text.data(), text.size(), getSeed());
}

size_t SeededHash::operator()(uint64_t number) const { return XXH3_64bits_withSeed(&number, sizeof number, getSeed()); }

Status Vocabulary::read(const Json &json) {
  for (const auto &[token, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > std::numeric_limits<uint32_t>::max())
      return Status::make(TENON_INVALID, "the token '%s' has a number that is no integer of 32 bits", token.c_str());
    add(token, id.get<uint32_t>());
  }
  return {};
}

void Vocabulary::add(std::string_view token, uint32_t id) {
  const std::string &stored = storage.emplace_back(token);
  ids.insert_or_assign(stored, id);
  tokens.insert_or_assign(id, &stored);
}

void PrefixTable::sort() {
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return std::tie(a.key, a.value) < std::tie(b.key, b.value); });
  auto last =
      std::unique(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.key == b.key; });
  entries.erase(last, entries.end());
}

Status tenon::text::checkTokenLength(std::string_view token) {
  if (token.size() <= kMaxTokenBytes)
    return {};
  return Status::make(TENON_UNSUPPORTED, "the token '%s...' has %zu bytes, more than the %zu that are supported",
                      std::string(token.substr(0, 40)).c_str(), token.size(), kMaxTokenBytes);
}
