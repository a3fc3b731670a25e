//===- HttpProtocol.h - what server and client agree on  ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   GET  /v1/NAMESPACE/KIND/KEY      an envelope, with ranges; its ETag is the beginning of the signature
//   POST /v1/NAMESPACE/KIND          keys, a line each: those that are there, in this order, as frames "KEY BYTES\n"
//   and
//                                    an envelope; then a line "answered NUMBER\n" of how many keys these are about: the
//                                    rest is to be asked for again
//   GET  /v1/NAMESPACE               the heads and manifests of all envelopes
//
// All need "Authorization: Bearer TOKEN" where the server has tokens.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REMOTE_HTTPPROTOCOL_H
#define TENON_COMPILER_REMOTE_HTTPPROTOCOL_H

#include "compiler/cache/CacheEntry.h"

namespace tenon {

inline constexpr long kHttpOk = 200, kHttpPartial = 206, kHttpBadRequest = 400, kHttpUnauthorized = 401,
                      kHttpForbidden = 403, kHttpNotFound = 404, kHttpBadMethod = 405, kHttpTooLarge = 413,
                      kHttpBadRange = 416, kHttpFault = 500, kHttpBusy = 503;

/// Upper bounds for the keys of one request, and for the bytes of its response. All kernels of a model have a few
/// hundred KB.
inline constexpr size_t kMaxBatchKeys = 1024, kMaxBatchBytes = size_t(16) << 20;

std::string getListPath(llvm::StringRef nameSpace);
std::string getBatchPath(llvm::StringRef nameSpace, CacheKind kind);
std::string getEntryPath(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key);

/// The components of such a path: the namespace, then a kind, then a key.
struct HttpPath {
  std::string nameSpace;
  std::optional<CacheKind> kind;
  std::string key;
};
/// Returns none if the path is invalid; each component is validated, so that it cannot lead elsewhere.
std::optional<HttpPath> parseHttpPath(llvm::StringRef path);

std::string makeFrame(llvm::StringRef key, llvm::StringRef envelope);
std::string makeBatchEnd(size_t answered);

/// Parses the response to a request for several entries, a piece at a time.
class BatchReader {
public:
  struct Frame {
    std::string key, envelope;
  };
  /// False once the answer is none, or too long.
  bool append(llvm::StringRef bytes);
  bool isWrong() const { return wrong; }
  bool isComplete() const { return complete; }
  size_t getAnswered() const { return answered; }
  const std::vector<Frame> &getFrames() const { return frames; }

private:
  bool readLine();

  std::string rest; ///< not taken apart yet
  uint64_t total = 0, missing = 0;
  std::vector<Frame> frames;
  size_t answered = 0;
  bool wrong = false, complete = false;
};

} // namespace tenon

#endif // TENON_COMPILER_REMOTE_HTTPPROTOCOL_H
