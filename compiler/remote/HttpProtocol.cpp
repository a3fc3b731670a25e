//===- HttpProtocol.cpp - what server and client agree on  ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/HttpProtocol.h"
#include "compiler/remote/TrustList.h"
#include "llvm/ADT/SmallVector.h"

using namespace tenon;

static constexpr char kVersion[] = "v1", kEnd[] = "answered";

std::string tenon::getListPath(llvm::StringRef nameSpace) {
  return "/" + std::string(kVersion) + "/" + nameSpace.str();
}

std::string tenon::getBatchPath(llvm::StringRef nameSpace, CacheKind kind) {
  return getListPath(nameSpace) + "/" + getName(kind).str();
}

std::string tenon::getEntryPath(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key) {
  return getBatchPath(nameSpace, kind) + "/" + key.str();
}

std::optional<HttpPath> tenon::parseHttpPath(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 5> parts;
  path.split(parts, '/');
  constexpr size_t kMaxParts = 5; // with what is before the first slash
  if (parts.size() < 3 || parts.size() > kMaxParts || !parts[0].empty() || parts[1] != kVersion ||
      !isNamespace(parts[2]))
    return std::nullopt;
  HttpPath result;
  result.nameSpace = parts[2].str();
  if (parts.size() == 3)
    return result;
  result.kind = getCacheKind(parts[3]);
  if (!result.kind)
    return std::nullopt;
  if (parts.size() == kMaxParts) {
    if (!isFingerprint(parts[4]))
      return std::nullopt;
    result.key = parts[4].str();
  }
  return result;
}

std::string tenon::makeFrame(llvm::StringRef key, llvm::StringRef envelope) {
  return (key + " " + llvm::Twine(envelope.size()) + "\n" + envelope).str();
}

std::string tenon::makeBatchEnd(size_t answered) { return std::string(kEnd) + " " + std::to_string(answered) + "\n"; }

/// Reads the line that begins a frame, or ends the response. Returns false if it is incomplete.
bool BatchReader::readLine() {
  constexpr size_t kMaxLine = 128;
  size_t end = llvm::StringRef(rest).take_front(kMaxLine).find('\n');
  if (end == llvm::StringRef::npos) {
    wrong = rest.size() >= kMaxLine;
    return false;
  }
  auto [key, number] = llvm::StringRef(rest).take_front(end).split(' ');
  uint64_t value = 0;
  bool isEnd = key == kEnd;
  wrong = number.getAsInteger(10, value) || value > kMaxBatchBytes || (!isEnd && (!isFingerprint(key) || value == 0));
  if (wrong)
    return false;
  if (isEnd) {
    answered = value;
    complete = true;
  } else {
    frames.push_back({key.str(), ""});
    missing = value;
  }
  rest.erase(0, end + 1);
  return true;
}

bool BatchReader::append(llvm::StringRef bytes) {
  total += bytes.size();
  // The server ends a response before the limit; frames and the last envelope may exceed it.
  wrong = wrong || complete || total > 2 * kMaxBatchBytes;
  if (wrong)
    return false;
  rest += bytes;
  while (!wrong && !rest.empty() && !complete) {
    if (missing == 0) {
      if (!readLine())
        break;
      continue;
    }
    size_t taken = std::min<size_t>(missing, rest.size());
    frames.back().envelope.append(rest, 0, taken);
    rest.erase(0, taken);
    missing -= taken;
  }
  wrong = wrong || (complete && !rest.empty()) || frames.size() > kMaxBatchKeys;
  return !wrong;
}
