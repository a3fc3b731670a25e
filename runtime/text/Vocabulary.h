//===- Vocabulary.h - tokens and their numbers ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_VOCABULARY_H
#define TENON_RUNTIME_TEXT_VOCABULARY_H

#include "runtime/text/Json.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::text {

/// A hash that depends on a random seed of the process, so that a file cannot be crafted whose entries all collide. No
/// result depends on the order of such a table.
struct SeededHash {
  size_t operator()(std::string_view text) const;
  size_t operator()(uint64_t number) const;
};

/// Tokens by number and by text.
class Vocabulary {
public:
  /// Reads {"token": id}.
  Status read(const Json &tokens);
  /// Adds a token. An existing one gets the new number.
  void add(std::string_view token, uint32_t id);

  std::optional<uint32_t> find(std::string_view token) const {
    auto it = ids.find(token);
    return it == ids.end() ? std::nullopt : std::optional(it->second);
  }
  /// Null where there is no token with this number.
  const std::string *get(uint32_t id) const {
    auto it = tokens.find(id);
    return it == tokens.end() ? nullptr : it->second;
  }
  size_t size() const { return ids.size(); }

  template <typename Visit> void visit(Visit visitToken) const {
    for (const auto &[token, id] : ids)
      visitToken(token, id);
  }

private:
  std::deque<std::string> storage; // does not move
  std::unordered_map<std::string_view, uint32_t, SeededHash> ids;
  std::unordered_map<uint64_t, const std::string *, SeededHash> tokens;
};

/// Finds the keys that are prefixes of a text, by a binary search in a sorted list for each byte.
class PrefixTable {
public:
  /// The bytes of a key are not copied..
  void add(std::string_view key, uint32_t value) { entries.push_back({key, value}); }
  /// Must be called once, after the last key. Among equal keys, the one with the smallest value is kept.
  void sort();

  bool empty() const { return entries.empty(); }

  /// Calls visit(length, value) for each key that is a prefix of `text`, the shortest first.
  template <typename Visit> void visitPrefixes(std::string_view text, Visit visit) const {
    auto first = entries.begin(), last = entries.end();
    for (size_t depth = 0; first != last && depth <= text.size(); ++depth) {
      // Among keys with these bytes in common, those that end here come first.
      if (first->key.size() == depth) {
        visit(depth, first->value);
        ++first;
      }
      if (depth == text.size())
        break;
      auto byteOf = [depth](const Entry &entry) { return static_cast<unsigned char>(entry.key[depth]); };
      auto byte = static_cast<unsigned char>(text[depth]);
      first =
          std::lower_bound(first, last, byte, [&](const Entry &entry, unsigned char b) { return byteOf(entry) < b; });
      last =
          std::upper_bound(first, last, byte, [&](unsigned char b, const Entry &entry) { return b < byteOf(entry); });
    }
  }

private:
  struct Entry {
    std::string_view key;
    uint32_t value;
  };
  std::vector<Entry> entries;
};

/// limit: the length of tokens that are searched at every position of a text, so that the time is linear in its length.
/// The longest ones in real vocabularies have about 300 bytes.
inline constexpr size_t kMaxTokenBytes = 1024;

/// Fails where a token is longer than that.
Status checkTokenLength(std::string_view token);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_VOCABULARY_H
