//===- Envelope.cpp - entries as remote caches have them  -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/Envelope.h"
#include "compiler/cache/CompilerId.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <cassert>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace tenon;

static constexpr char kMagic[] = "tenon-cache-entry 1 ";
static constexpr int64_t kManifestVersion = 1;
static constexpr size_t kKeyDigits = 64, kSignatureDigits = 128;
/// The length of the first line: magic, key, signature and a number, with their separators.
static constexpr size_t kMaxLine = sizeof(kMagic) + kKeyDigits + kSignatureDigits + 16;

/// An entry that is not to be used.
static llvm::Error refusal(const llvm::Twine &reason) { return makeError(CompileStatus::invalid, reason); }

//===----------------------------------------------------------------------===//
// Signed entries
//===----------------------------------------------------------------------===//

/// "Linux x86_64".
static std::string getSystem() {
  utsname name;
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.machine : "";
}

static std::string makeManifest(const CacheEntry &entry, llvm::StringRef nameSpace) {
  llvm::json::Array uses;
  for (const CacheUse &use : entry.uses)
    uses.push_back(llvm::json::Object{{"model", use.model}, {"node", use.node}});
  llvm::json::Object manifest{{"version", kManifestVersion},
                              {"namespace", nameSpace},
                              {"kind", getName(entry.kind)},
                              {"key", entry.key},
                              {"seal", entry.seal},
                              {"bytes", static_cast<int64_t>(entry.bytes)},
                              {"title", entry.title},
                              {"hardware", entry.hardware},
                              {"system", getSystem()},
                              {"compiler", entry.compiler},
                              {"compiler_id", getCompilerId()},
                              {"files", llvm::json::fixUTF8(entry.files)},
                              {"messages", entry.messages},
                              {"uses", std::move(uses)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(manifest));
  return text;
}

SignedEntry tenon::signEntry(const CacheEntry &entry, llvm::StringRef content, llvm::StringRef nameSpace,
                             const SigningKey &key) {
  CacheEntry complete = entry;
  complete.bytes = content.size();
  complete.seal = entry.computeSeal(content);
  SignedEntry result{nameSpace.str(), entry.kind, entry.key, makeManifest(complete, nameSpace), key.getPublicKey(), ""};
  result.signature = key.sign(result.manifest);
  return result;
}

/// True if a JSON text is nested no deeper than manifests are: LLVM's parser recurses by nesting level.
static bool isShallow(llvm::StringRef text) {
  constexpr int kMaxDepth = 3;
  int depth = 0;
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      isQuoted = !isQuoted;
    else if (isQuoted)
      i += text[i] == '\\';
    else if (text[i] == '{' || text[i] == '[')
      depth += 1;
    else if (text[i] == '}' || text[i] == ']')
      depth -= 1;
    if (depth > kMaxDepth)
      return false;
  }
  return true;
}

/// What a manifest says.
static llvm::Expected<CacheEntry> parseManifest(const SignedEntry &share, std::string &nameSpace) {
  if (!isShallow(share.manifest))
    return refusal("its manifest is nested too deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(share.manifest);
  if (!value) {
    llvm::consumeError(value.takeError());
    return refusal("its manifest is no JSON");
  }
  const llvm::json::Object *manifest = value->getAsObject();
  if (!manifest || manifest->getInteger("version") != kManifestVersion)
    return refusal("its manifest is of another version");
  CacheEntry entry;
  std::string kind;
  for (auto [name, text] : {std::pair("namespace", &nameSpace),
                            {"kind", &kind},
                            {"key", &entry.key},
                            {"seal", &entry.seal},
                            {"title", &entry.title},
                            {"hardware", &entry.hardware},
                            {"compiler", &entry.compiler},
                            {"files", &entry.files},
                            {"messages", &entry.messages}}) {
    std::optional<llvm::StringRef> found = manifest->getString(name);
    if (!found)
      return refusal("its manifest lacks '" + llvm::Twine(name) + "'");
    *text = found->str();
  }
  std::optional<CacheKind> known = getCacheKind(kind);
  std::optional<int64_t> bytes = manifest->getInteger("bytes");
  if (!known || !bytes || *bytes <= 0)
    return refusal("its manifest has an invalid kind or size");
  entry.kind = *known;
  entry.bytes = *bytes;
  entry.origin = "fetched";
  if (const llvm::json::Array *uses = manifest->getArray("uses"))
    for (const llvm::json::Value &each : *uses)
      if (const llvm::json::Object *use = each.getAsObject())
        entry.uses.push_back({use->getString("model").value_or("").str(), use->getString("node").value_or("").str()});
  if (llvm::Error error = checkEntry(entry))
    return refusal(llvm::toString(std::move(error)));
  return entry;
}

/// Returns the reason why the signer's entries are not used; empty if they are.
static std::string describeStanding(TrustList::Standing standing, const SignedEntry &entry, llvm::StringRef nameSpace) {
  std::string key = printPublicKey(entry.signer);
  switch (standing) {
  case TrustList::Standing::trusted:
    return "";
  case TrustList::Standing::unknown:
    return "it is signed by " + key + ", which is not trusted here";
  case TrustList::Standing::revoked:
    return "it is signed by " + key + ", which is revoked";
  case TrustList::Standing::elsewhere:
    return "it is signed by " + key + ", which is not trusted in the namespace " + nameSpace.str();
  }
  llvm_unreachable("all standings are described");
}

llvm::Expected<CacheEntry> tenon::verifyListed(SignedEntry &entry, llvm::StringRef nameSpace, const TrustList &trust) {
  // Nothing is parsed unless a trusted key has signed it.
  if (std::string reason = describeStanding(trust.judge(entry.signer, nameSpace), entry, nameSpace); !reason.empty())
    return refusal(reason);
  if (!isSignedBy(entry.signer, entry.signature, entry.manifest))
    return refusal("its signature is not one of " + printPublicKey(entry.signer));
  std::string signedSpace;
  llvm::Expected<CacheEntry> result = parseManifest(entry, signedSpace);
  if (!result)
    return result;
  if (signedSpace != nameSpace)
    return refusal("it is signed for another namespace");
  entry.nameSpace = nameSpace.str();
  entry.kind = result->kind;
  entry.key = result->key;
  return result;
}

llvm::Expected<CacheEntry> tenon::verifyEntry(SignedEntry &entry, const EnvelopeName &name, const TrustList &trust) {
  llvm::Expected<CacheEntry> result = verifyListed(entry, name.nameSpace, trust);
  if (result && (result->kind != name.kind || result->key != name.key))
    return refusal("it is signed for another key");
  return result;
}

//===----------------------------------------------------------------------===//
// Envelopes
//===----------------------------------------------------------------------===//

std::string tenon::getEnvelopeTag(const SignedEntry &entry) {
  constexpr size_t kTagDigits = 32;
  return entry.signature.substr(0, kTagDigits);
}

std::string tenon::makeEnvelopeHead(const SignedEntry &entry) {
  return kMagic + entry.signer + " " + entry.signature + " " + std::to_string(entry.manifest.size()) + "\n" +
         entry.manifest;
}

static bool areDigits(llvm::StringRef text, size_t number) {
  return text.size() == number && llvm::all_of(text, [](char c) { return llvm::isHexDigit(c) && !llvm::isUpper(c); });
}

llvm::Expected<std::optional<EnvelopeHead>> tenon::parseEnvelopeHead(llvm::StringRef begin) {
  llvm::StringRef magic(kMagic);
  if (!begin.starts_with(magic.take_front(begin.size())))
    return refusal("it is not a cache entry");
  size_t end = begin.take_front(kMaxLine).find('\n');
  if (end == llvm::StringRef::npos) {
    if (begin.size() >= kMaxLine)
      return refusal("it is not a cache entry");
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef, 3> words;
  begin.take_front(end).drop_front(magic.size()).split(words, ' ');
  size_t bytes;
  if (words.size() != 3 || !areDigits(words[0], kKeyDigits) || !areDigits(words[1], kSignatureDigits) ||
      words[2].getAsInteger(10, bytes) || bytes > kMaxHeadBytes)
    return refusal("it is not a cache entry");
  EnvelopeHead head;
  head.bytes = end + 1 + bytes;
  if (begin.size() < head.bytes)
    return std::nullopt;
  head.entry.signer = words[0].str();
  head.entry.signature = words[1].str();
  head.entry.manifest = begin.substr(end + 1, bytes).str();
  return head;
}

EnvelopeReceiver::EnvelopeReceiver(EnvelopeName name, const TrustList &trust, uint64_t limit, std::string file)
    : name(std::move(name)), trust(trust), limit(limit), file(std::move(file)) {}

EnvelopeReceiver::~EnvelopeReceiver() {
  if (fd >= 0)
    close(fd);
}

std::string EnvelopeReceiver::getTag() const { return total ? getEnvelopeTag(head.entry) : ""; }

llvm::Error EnvelopeReceiver::refuse(llvm::Error error) {
  refused = true;
  return error;
}

llvm::Error EnvelopeReceiver::write(llvm::StringRef bytes) {
  if (fd < 0)
    fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  auto offset = static_cast<off_t>(size);
  while (fd >= 0 && !bytes.empty()) {
    ssize_t count = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (count <= 0)
      break;
    offset += count;
    bytes = bytes.drop_front(count);
  }
  return bytes.empty() ? llvm::Error::success()
                       : makeError(CompileStatus::resources, file + ": " + std::generic_category().message(errno));
}

llvm::Error EnvelopeReceiver::append(llvm::StringRef bytes) {
  assert((total == 0 || size <= total) && "no more bytes are kept than were signed");
  if (total && bytes.size() > total - size)
    return refuse(refusal("it has more bytes than were signed"));
  if (total == 0 || file.empty())
    memory += bytes;
  if (total == 0) {
    llvm::Expected<std::optional<EnvelopeHead>> parsed = parseEnvelopeHead(memory);
    if (!parsed)
      return refuse(parsed.takeError());
    if (*parsed) {
      head = std::move(**parsed);
      llvm::Expected<CacheEntry> verified = verifyEntry(head.entry, name, trust);
      if (!verified)
        return refuse(verified.takeError());
      entry = std::move(*verified);
      if (entry.bytes > limit)
        return makeError(CompileStatus::resources,
                         "an entry of " + llvm::Twine(entry.bytes) + " bytes exceeds the limit of the cache");
      total = head.bytes + entry.bytes;
      if (memory.size() > total)
        return refuse(refusal("it has more bytes than were signed"));
    } else if (memory.size() > kMaxHeadBytes + kMaxLine) {
      return refuse(refusal("it is not a cache entry"));
    }
  }
  if (!file.empty())
    if (llvm::Error error = write(bytes))
      return error;
  size += bytes.size();
  return llvm::Error::success();
}

llvm::Error EnvelopeReceiver::resume() {
  auto left = file.empty() ? llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>(std::error_code())
                           : llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!left || (*left)->getBufferSize() == 0)
    return llvm::Error::success();
  llvm::Error error = append((*left)->getBuffer());
  // The rest may be missing, but without a valid head the file is useless.
  if (!error && total)
    return error;
  llvm::consumeError(std::move(error));
  refused = false;
  return restart();
}

void EnvelopeReceiver::removeFile() {
  if (!file.empty())
    unlink(file.c_str());
}

llvm::Error EnvelopeReceiver::restart() {
  size = total = 0;
  memory.clear();
  head = {};
  if (fd >= 0 && ftruncate(fd, 0) != 0)
    return makeError(CompileStatus::resources, file + ": " + std::generic_category().message(errno));
  return llvm::Error::success();
}

llvm::Expected<FetchedEntry> EnvelopeReceiver::finish() {
  if (total == 0 || size != total)
    return makeError(CompileStatus::resources, "the transfer of an entry ended early");
  FetchedEntry fetched;
  if (file.empty()) {
    fetched.buffer = llvm::MemoryBuffer::getMemBufferCopy(memory);
  } else {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return makeError(CompileStatus::resources, file + ": " + buffer.getError().message());
    fetched.buffer = std::move(*buffer);
  }
  if (fetched.buffer->getBufferSize() < total)
    return makeError(CompileStatus::resources, file + ": it was shortened");
  fetched.content = fetched.buffer->getBuffer().substr(head.bytes, entry.bytes);
  if (entry.computeSeal(fetched.content) != entry.seal)
    return refuse(refusal("its content is not what was signed"));
  fetched.share = head.entry;
  fetched.entry = entry;
  fetched.entry.uses.clear();
  return fetched;
}
