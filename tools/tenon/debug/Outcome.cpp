//===- Outcome.cpp - how a model fails ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Outcome.h"
#include "llvm/ADT/StringExtras.h"

using namespace tenon;
using namespace tenon::debug;

/// Returns the first line of a message without paths of models, artifacts and reproducers, which differ between parts.
static std::string getReason(llvm::StringRef message) {
  message = message.split('\n').first;
  message.consume_front("tenon: error: ");
  for (llvm::StringRef end : {".onnx: ", ".tenon: "})
    if (size_t path = message.find(end); path != llvm::StringRef::npos)
      message = message.drop_front(path + end.size());
  return message.split("; please report it").first.str();
}

/// Returns the words of a reason that do not depend on sizes: those without digits. A kernel is named after all its
/// fused nodes, so names only count if they are a node's: quoted, without spaces.
static std::string getKind(llvm::StringRef reason) {
  std::string kind;
  llvm::SmallVector<llvm::StringRef> parts, words;
  reason.split(parts, '\'');
  for (auto [i, part] : llvm::enumerate(parts)) {
    bool isQuoted = i % 2 == 1;
    if (isQuoted) {
      kind += part.contains(' ') ? "" : part.str() + " ";
      continue;
    }
    words.clear();
    llvm::SplitString(part, words);
    for (llvm::StringRef word : words)
      if (llvm::none_of(word, [](char c) { return llvm::isDigit(c) || c == '_'; }))
        kind += word.str() + " ";
  }
  return kind;
}

std::string Outcome::describe() const {
  if (!worst)
    return getReason(end.message);
  return "output '" + worst->name + "': " + worst->error.describe() + run::format(", allowed %g", worst->allowed);
}

bool Outcome::isLike(const Outcome &other) const {
  if (stage != other.stage || stage == Stage::compare)
    return stage == other.stage;
  return end.status == other.end.status && getKind(getReason(end.message)) == getKind(getReason(other.end.message));
}

std::optional<ComparedValue> Outcome::findWorst(llvm::ArrayRef<ComparedValue> values) {
  std::optional<ComparedValue> worst;
  for (const ComparedValue &value : values)
    if (value.diverges && (!worst || value.error.error > worst->error.error))
      worst = value;
  return worst;
}

std::optional<ComparedValue> Outcome::findLargest(llvm::ArrayRef<ComparedValue> values) {
  std::optional<ComparedValue> largest;
  for (const ComparedValue &value : values)
    if (value.whyNot.empty() && (!largest || value.error.error > largest->error.error))
      largest = value;
  return largest;
}
