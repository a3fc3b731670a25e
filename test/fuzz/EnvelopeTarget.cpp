//===- EnvelopeTarget.cpp - what remote caches and their clients say ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/remote/CacheRemote.h"
#include "compiler/remote/HttpProtocol.h"

#include <cstdlib>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace tenon;

namespace {
/// A key that is trusted in the namespace "fuzz".
struct Signer {
  Signer() : key(SigningKey::generate()) {
    int fd = memfd_create("trust", MFD_CLOEXEC);
    std::string file = "/proc/self/fd/" + std::to_string(fd);
    if (fd < 0 || fchmod(fd, 0600) != 0 || TrustList::append(file, {key.getPublicKey(), {"fuzz"}, "", false}))
      abort();
    llvm::Expected<TrustList> list = TrustList::read(file);
    if (!list)
      abort();
    trust = std::move(*list);
  }
  SigningKey key;
  TrustList trust;
};
} // namespace

/// Receives an envelope in pieces; a refusal has a reason.
static bool receive(const Signer &signer, llvm::StringRef envelope, size_t piece) {
  EnvelopeReceiver receiver({"fuzz", CacheKind::kernel, std::string(64, 'a')}, signer.trust, 1 << 20);
  llvm::Error error = llvm::Error::success();
  while (!envelope.empty() && !error) {
    error = receiver.append(envelope.take_front(piece));
    envelope = envelope.drop_front(std::min(piece, envelope.size()));
  }
  if (!error) {
    llvm::Expected<FetchedEntry> entry = receiver.finish();
    if (entry)
      return entry->entry.computeSeal(entry->content) == entry->entry.seal;
    error = entry.takeError();
  }
  std::string reason;
  takeError(std::move(error), reason);
  if (reason.empty())
    abort();
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Signer signer;
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  size_t piece = 1 + size % 50;
  // As it is, and as a manifest that a trusted key has signed.
  SignedEntry entry{"fuzz", CacheKind::kernel, "", text.str(), signer.key.getPublicKey(), signer.key.sign(text)};
  if (!receive(signer, text, piece) || !receive(signer, makeEnvelopeHead(entry) + "content", piece))
    abort();
  BatchReader reader;
  for (llvm::StringRef rest = text; !rest.empty() && reader.append(rest.take_front(piece));)
    rest = rest.drop_front(std::min(piece, rest.size()));
  for (const BatchReader::Frame &frame : reader.getFrames())
    if (!isFingerprint(frame.key))
      abort();
  // A path that is taken is the one that it was made from.
  if (std::optional<HttpPath> path = parseHttpPath(text)) {
    std::string again = !path->kind         ? getListPath(path->nameSpace)
                        : path->key.empty() ? getBatchPath(path->nameSpace, *path->kind)
                                            : getEntryPath(path->nameSpace, *path->kind, path->key);
    if (again != text)
      abort();
  }
  if (makePlain(text).find_first_of("\n\x1b") != std::string::npos)
    abort();
  return 0;
}
