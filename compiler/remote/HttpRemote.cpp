//===- HttpRemote.cpp - a remote cache behind HTTP  -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/remote/CacheRemote.h"
#include "compiler/remote/HttpProtocol.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <cstdlib>
#include <curl/curl.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
using Clock = std::chrono::steady_clock;

namespace {

class HttpRemote : public CacheRemote {
public:
  HttpRemote(std::string url, const RemoteSettings &settings)
      : url(std::move(url)), token(settings.token), timeout(settings.timeout) {}
  ~HttpRemote() override { disconnect(); }

  llvm::Error get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) override;
  llvm::Error put(llvm::ArrayRef<Publication> publications) override;
  llvm::Error list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) override;

private:
  /// What came of an attempt.
  struct Answer {
    long status = 0;   ///< of HTTP; 0 where none came
    std::string fault; ///< why the transfer ended early; empty where it did not
    bool isTransient = false, isStalled = false;
    bool isTooLong = false;
  };
  /// Receives the bytes of a response with that status; returns false to end the transfer.
  using Sink = llvm::function_ref<bool(long status, llvm::StringRef bytes)>;
  struct Request {
    std::string path, body, ifRange;
    uint64_t offset = 0;
  };

  bool connect();
  void disconnect();
  Answer attempt(const Request &request, Clock::time_point deadline, Sink sink);
  llvm::Error repeat(llvm::function_ref<Request()> makeRequest, Sink sink, llvm::function_ref<bool()> isOver,
                     Answer &answer);
  llvm::Error getBatch(llvm::ArrayRef<EnvelopeReceiver *> wanted, size_t &answered, Done done);
  llvm::Error getOne(EnvelopeReceiver &receiver, Done done);

  std::string url, token;
  double timeout;
  CURL *handle = nullptr;
  pid_t owner = 0; ///< the process whose connection it is
};

/// What libcurl calls back with.
struct Transfer {
  CURL *handle;
  llvm::function_ref<bool(long, llvm::StringRef)> sink;
  bool isRefused = false;
};

size_t receive(char *bytes, size_t size, size_t count, void *context) {
  auto &transfer = *static_cast<Transfer *>(context);
  long status = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  transfer.isRefused = !transfer.sink(status, llvm::StringRef(bytes, size * count));
  return transfer.isRefused ? 0 : size * count;
}

/// Ends a transfer whose header does not end.
size_t countHeader(char *, size_t size, size_t count, void *context) {
  constexpr size_t kMaxHeaderBytes = size_t(64) << 10;
  auto &total = *static_cast<size_t *>(context);
  total += size * count;
  return total > kMaxHeaderBytes ? 0 : size * count;
}

/// The header fields of a request.
class Fields {
public:
  ~Fields() { curl_slist_free_all(list); }
  void add(const std::string &field) { list = curl_slist_append(list, field.c_str()); }
  curl_slist *list = nullptr;
};

} // namespace

bool HttpRemote::connect() {
  // A connection of the parent process must not be used. The parent closes it.
  if (owner != getpid())
    handle = nullptr;
  if (!handle) {
    static const bool isReady = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    handle = isReady ? curl_easy_init() : nullptr;
    owner = getpid();
  }
  return handle;
}

void HttpRemote::disconnect() {
  if (handle && owner == getpid())
    curl_easy_cleanup(handle);
  handle = nullptr;
}

HttpRemote::Answer HttpRemote::attempt(const Request &request, Clock::time_point deadline, Sink sink) {
  if (!connect())
    return {0, "libcurl cannot be initialized"};
  // libcurl keeps the connection of the last request.
  curl_easy_reset(handle);
  std::string address = url + request.path;
  Transfer transfer{handle, sink};
  size_t headerBytes = 0;
  char message[CURL_ERROR_SIZE] = "";
  Fields fields;
  fields.add("Expect:");
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  constexpr long kConnectMilliseconds = 2000, kStalledSeconds = 5, kStalledBytes = 1024, kMaxRedirects = 3;
  curl_easy_setopt(handle, CURLOPT_URL, address.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // Redirects to files are not followed, nor redirects from an encrypted connection to an unencrypted one.
  bool isEncrypted = llvm::StringRef(url).starts_with("https:");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, isEncrypted ? "https" : "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  // OpenSSL's environment variable for certificate authorities, which libcurl does not read.
  if (const char *file = std::getenv("SSL_CERT_FILE"); file && *file)
    curl_easy_setopt(handle, CURLOPT_CAINFO, file);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, std::max<long>(left, 1));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kStalledBytes);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, countHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &headerBytes);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
  if (!token.empty()) {
    // As libcurl's own credentials, they are not forwarded to another host.
    curl_easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, token.c_str());
  }
  if (!request.body.empty()) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
    fields.add("Content-Type: text/plain");
  }
  if (request.offset) {
    fields.add("Range: bytes=" + std::to_string(request.offset) + "-");
    fields.add("If-Range: \"" + request.ifRange + "\"");
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields.list);
  CURLcode code = curl_easy_perform(handle);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
  Answer answer;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
  if (transfer.isRefused) {
    answer.isTooLong = true;
    return answer;
  }
  // A retry may succeed if the server responded, but not if nobody listens or the certificate is wrong.
  switch (code) {
  case CURLE_OK:
    answer.isTransient = answer.status >= 500;
    break;
  case CURLE_OPERATION_TIMEDOUT:
    answer.isStalled = true;
    [[fallthrough]];
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
  case CURLE_GOT_NOTHING:
  case CURLE_PARTIAL_FILE:
    answer.isTransient = true;
    [[fallthrough]];
  default:
    answer.fault = makePlain(*message ? message : curl_easy_strerror(code));
  }
  return answer;
}

/// Repeats a request while its failure may be transient, with exponential backoff, within the time limit.
llvm::Error HttpRemote::repeat(llvm::function_ref<Request()> makeRequest, Sink sink, llvm::function_ref<bool()> isOver,
                               Answer &answer) {
  // An unresponsive server costs time in each attempt.
  constexpr int kMaxAttempts = 5, kMaxStalled = 2;
  constexpr double kFirstPause = 0.1, kGrowth = 3;
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout));
  std::chrono::duration<double> pause(kFirstPause);
  int stalled = 0;
  for (int i = 1;; ++i) {
    answer = attempt(makeRequest(), deadline, sink);
    stalled += answer.isStalled;
    if (!answer.isTransient || isOver() || i == kMaxAttempts || stalled == kMaxStalled ||
        Clock::now() + pause >= deadline)
      break;
    std::this_thread::sleep_for(pause);
    pause *= kGrowth;
  }
  if (!answer.fault.empty())
    return makeError(CompileStatus::resources, answer.fault);
  if (answer.status == kHttpUnauthorized || answer.status == kHttpForbidden)
    return makeError(CompileStatus::resources, token.empty()
                                                   ? "it wants a token; set TENON_CACHE_TOKEN or TENON_CACHE_TOKEN_FILE"
                                                   : "it does not accept the token");
  if (answer.status != kHttpOk && answer.status != kHttpPartial && answer.status != kHttpNotFound &&
      answer.status != kHttpBadRange && !answer.isTooLong)
    return makeError(CompileStatus::resources, "it answered with status " + llvm::Twine(answer.status));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Envelopes
//===----------------------------------------------------------------------===//

llvm::Error HttpRemote::getOne(EnvelopeReceiver &receiver, Done done) {
  const EnvelopeName &name = receiver.getName();
  if (llvm::Error error = receiver.resume())
    return error;
  llvm::Error failure = llvm::Error::success();
  bool isFirst = true;
  uint64_t offset = 0;
  auto makeRequest = [&] {
    isFirst = true;
    // Without its head it is unknown whether the rest belongs to the same envelope.
    offset = receiver.getTag().empty() ? 0 : receiver.getSize();
    return Request{getEntryPath(name.nameSpace, name.kind, name.key), "", receiver.getTag(), offset};
  };
  auto sink = [&](long status, llvm::StringRef bytes) {
    if (status != kHttpOk && status != kHttpPartial)
      return true; // text for people, which is not looked at
    if (isFirst && (status == kHttpOk || offset == 0) && receiver.getSize() > 0)
      failure = receiver.restart();
    isFirst = false;
    if (!failure)
      failure = receiver.append(bytes);
    return !failure;
  };
  Answer answer;
  // What an earlier process left may be all of it.
  bool isComplete = receiver.isComplete();
  llvm::Error error =
      isComplete ? llvm::Error::success() : repeat(makeRequest, sink, [&] { return !!failure; }, answer);
  if (failure) {
    llvm::consumeError(std::move(error));
    done(receiver, std::move(failure));
    return llvm::Error::success();
  }
  if (error)
    return error;
  if (answer.status == kHttpNotFound)
    receiver.removeFile();
  else
    done(receiver, std::move(failure));
  return llvm::Error::success();
}

llvm::Error HttpRemote::getBatch(llvm::ArrayRef<EnvelopeReceiver *> wanted, size_t &answered, Done done) {
  const EnvelopeName &first = wanted.front()->getName();
  Request request{getBatchPath(first.nameSpace, first.kind), "", "", 0};
  for (EnvelopeReceiver *receiver : wanted)
    request.body += receiver->getName().key + "\n";
  BatchReader reader;
  auto sink = [&](long status, llvm::StringRef bytes) { return status != kHttpOk || reader.append(bytes); };
  Answer answer;
  llvm::Error error = repeat(
      [&] {
        reader = BatchReader();
        return request;
      },
      sink, [&] { return reader.isWrong(); }, answer);
  if (error)
    return error;
  if (answer.status == kHttpNotFound) {
    answered = wanted.size();
    return llvm::Error::success();
  }
  if (reader.isWrong() || !reader.isComplete())
    return makeError(CompileStatus::resources, "its answer to a request for several entries is malformed");
  for (const BatchReader::Frame &frame : reader.getFrames())
    for (EnvelopeReceiver *receiver : wanted)
      if (receiver->getName().key == frame.key && receiver->getSize() == 0)
        done(*receiver, receiver->append(frame.envelope));
  answered = std::min(reader.getAnswered(), wanted.size());
  return answered ? llvm::Error::success()
                  : makeError(CompileStatus::resources, "its answer to a request for several entries is malformed");
}

llvm::Error HttpRemote::get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) {
  std::vector<EnvelopeReceiver *> kernels;
  for (const std::unique_ptr<EnvelopeReceiver> &receiver : wanted) {
    if (receiver->getName().kind == CacheKind::kernel) {
      kernels.push_back(receiver.get());
      continue;
    }
    if (llvm::Error error = getOne(*receiver, done))
      return error;
  }
  for (llvm::ArrayRef<EnvelopeReceiver *> rest(kernels); !rest.empty();) {
    size_t answered = 0;
    if (llvm::Error error = getBatch(rest.take_front(kMaxBatchKeys), answered, done))
      return error;
    rest = rest.drop_front(answered);
  }
  return llvm::Error::success();
}

llvm::Error HttpRemote::put(llvm::ArrayRef<Publication>) {
  return makeError(CompileStatus::unsupported, "servers are read-only; write to the cache that it serves");
}

llvm::Error HttpRemote::list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) {
  constexpr size_t kMaxListBytes = size_t(256) << 20;
  std::string text;
  size_t read = 0;
  auto sink = [&](long status, llvm::StringRef bytes) {
    if (status != kHttpOk)
      return true;
    text += bytes;
    return text.size() <= kMaxListBytes;
  };
  Answer answer;
  llvm::Error error = repeat(
      [&] {
        text.clear();
        return Request{getListPath(nameSpace), "", "", 0};
      },
      sink, [&] { return text.size() > kMaxListBytes; }, answer);
  if (error)
    return error;
  if (answer.isTooLong)
    return makeError(CompileStatus::resources, "its list is too long");
  while (answer.status == kHttpOk && read < text.size()) {
    llvm::Expected<std::optional<EnvelopeHead>> head = parseEnvelopeHead(llvm::StringRef(text).substr(read));
    if (!head)
      return head.takeError();
    if (!*head)
      return makeError(CompileStatus::resources, "its list ends early");
    read += (*head)->bytes;
    if (!visit(std::move((*head)->entry)))
      break;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CacheRemote>> tenon::makeHttpRemote(llvm::StringRef url,
                                                                   const RemoteSettings &settings) {
  llvm::StringRef text = url;
  while (text.consume_back("/"))
    continue;
  std::unique_ptr<CURLU, void (*)(CURLU *)> parsed(curl_url(), curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, text.str().c_str(), 0) != CURLUE_OK || text.contains('?') ||
      text.contains('#'))
    return makeError(CompileStatus::misuse, url + ": expected " + text.split(':').first + "://HOST[:PORT]");
  return std::make_unique<HttpRemote>(text.str(), settings);
}
