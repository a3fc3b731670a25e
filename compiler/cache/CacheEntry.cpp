//===- CacheEntry.cpp - what a cache knows of one result ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheEntry.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace tenon;

llvm::StringRef tenon::getName(CacheKind kind) { return kind == CacheKind::kernel ? "kernel" : "artifact"; }

std::optional<CacheKind> tenon::getCacheKind(llvm::StringRef name) {
  for (CacheKind kind : {CacheKind::kernel, CacheKind::artifact})
    if (name == getName(kind))
      return kind;
  return std::nullopt;
}

Fingerprint &Fingerprint::add(llvm::StringRef text) {
  uint8_t size[sizeof(uint64_t)];
  llvm::support::endian::write64le(size, text.size());
  hash.update(size);
  hash.update(text);
  return *this;
}

std::string Fingerprint::get() const {
  llvm::BLAKE3 copy = hash;
  return llvm::toHex(copy.final(), /*LowerCase=*/true);
}

std::string CacheEntry::computeSeal(llvm::StringRef content) const {
  return Fingerprint().add(getName(kind)).add(key).add(files).add(messages).add(content).get();
}

bool tenon::isFingerprint(llvm::StringRef text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && llvm::all_of(text, [](char c) { return llvm::isHexDigit(c) && !llvm::isUpper(c); });
}

llvm::Error tenon::checkEntry(const CacheEntry &entry) {
  constexpr size_t kMaxText = 1 << 16, kMaxLines = 1 << 24;
  constexpr uint64_t kMaxBytes = uint64_t(1) << 44;
  if (!isFingerprint(entry.key) || !isFingerprint(entry.seal))
    return makeError(CompileStatus::invalid, "its key or seal is no fingerprint");
  if (entry.bytes == 0 || entry.bytes > kMaxBytes)
    return makeError(CompileStatus::invalid, "its size is not in range");
  if (entry.created < 0 || entry.lastUse < 0)
    return makeError(CompileStatus::invalid, "its time is not in range");
  if (entry.origin != "compiled" && entry.origin != "imported" && entry.origin != "fetched")
    return makeError(CompileStatus::invalid, "its origin is unknown");
  for (const std::string *text : {&entry.title, &entry.hardware, &entry.compiler, &entry.messages})
    if (text->size() > kMaxText || !llvm::json::isUTF8(*text))
      return makeError(CompileStatus::invalid, "a text is too long or no UTF-8");
  if (entry.files.size() > kMaxLines)
    return makeError(CompileStatus::invalid, "its list of files is too long");
  for (const CacheUse &use : entry.uses)
    if (use.model.size() + use.node.size() > kMaxText || !llvm::json::isUTF8(use.model) ||
        !llvm::json::isUTF8(use.node))
      return makeError(CompileStatus::invalid, "the name of a model or node is too long or no UTF-8");
  return llvm::Error::success();
}

int64_t tenon::getCacheTime() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}
