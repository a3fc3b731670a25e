//===- CacheServer.cpp - a cache for other machines  ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libmicrohttpd reads requests: it bounds the memory of a connection, header included, the number of connections, and
// how long one may be idle. Its threads call answer(), once for the header, then for each piece of a body and at the
// end.
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/CacheServer.h"
#include "compiler/errors/CompileError.h"
#include "compiler/remote/Envelope.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <microhttpd.h>
#include <mutex>
#include <netdb.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void ServerTokens::add(std::string nameSpace, std::string token) {
  tokens.push_back({std::move(nameSpace), std::move(token)});
}

bool ServerTokens::isAllowed(const char *authorization, llvm::StringRef nameSpace) const {
  if (tokens.empty())
    return true;
  llvm::StringRef given = authorization ? authorization : "";
  if (!given.consume_front_insensitive("bearer "))
    return false;
  bool isFound = false;
  // All tokens are compared in constant time, to avoid a timing side channel.
  for (const Token &token : tokens)
    if (token.nameSpace == "*" || token.nameSpace == nameSpace)
      isFound |=
          token.token.size() == given.size() && sodium_memcmp(token.token.data(), given.data(), given.size()) == 0;
  return isFound;
}

llvm::Expected<ServerTokens> ServerTokens::read(const std::string &file) {
  ServerTokens tokens;
  llvm::Error error = readLines(file, /*isSecret=*/true, "'NAMESPACE TOKEN'", [&](llvm::StringRef line) {
    auto [nameSpace, token] = line.split(' ');
    if ((nameSpace != "*" && !isNamespace(nameSpace)) || token.empty() || token.contains(' '))
      return false;
    tokens.add(nameSpace.str(), token.str());
    return true;
  });
  if (error)
    return error;
  if (tokens.isEmpty())
    return makeError(CompileStatus::invalid, file + ": there is no token in it");
  return tokens;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

struct CacheServer::State {
  State(const CacheStore &store, ServerOptions options) : store(store), options(std::move(options)) {}

  const CacheStore &store;
  ServerOptions options;
  std::string certificate, key; ///< as libmicrohttpd wants them, texts
  std::mutex lock;              ///< of the index
  MHD_Daemon *daemon = nullptr;
  std::atomic<uint64_t> heldBytes = 0; ///< of answers that are kept in memory until they are sent

  std::optional<CacheShares::Found> find(const HttpPath &path, llvm::StringRef key);
  MHD_Result answer(MHD_Connection *connection, const char *url, const char *method, const char *body,
                    size_t *bodyBytes, void **context);
  MHD_Result sendHeld(MHD_Connection *connection, std::string text);
  MHD_Result sendEntry(MHD_Connection *connection, const HttpPath &path);
  MHD_Result sendBatch(MHD_Connection *connection, const HttpPath &path, llvm::StringRef keys);
  MHD_Result sendList(MHD_Connection *connection, const HttpPath &path);
};

namespace {

/// The body of a request, as it comes in.
struct Body {
  std::string text;
  bool isTooLong = false;
};

/// An envelope that is being sent. The file stays open, so that an eviction does not interrupt the transfer.
struct OpenEnvelope {
  ~OpenEnvelope() {
    if (fd >= 0)
      close(fd);
  }
  std::string head;
  int fd = -1;
  uint64_t bytes = 0, offset = 0; ///< of all of it, and of the first one that is sent
};

ssize_t readEnvelope(void *context, uint64_t position, char *bytes, size_t size) {
  const auto &envelope = *static_cast<const OpenEnvelope *>(context);
  position += envelope.offset;
  if (position < envelope.head.size()) {
    size_t count = std::min(size, static_cast<size_t>(envelope.head.size() - position));
    std::copy_n(envelope.head.data() + position, count, bytes);
    return static_cast<ssize_t>(count);
  }
  ssize_t count = pread(envelope.fd, bytes, size, static_cast<off_t>(position - envelope.head.size()));
  return count > 0 ? count : MHD_CONTENT_READER_END_WITH_ERROR;
}

void freeEnvelope(void *context) { delete static_cast<OpenEnvelope *>(context); }

MHD_Result send(MHD_Connection *connection, long status, MHD_Response *response) {
  if (!response)
    return MHD_NO;
  MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result sendText(MHD_Connection *connection, long status, const std::string &text) {
  // libmicrohttpd does not change what it copies.
  MHD_Response *response =
      MHD_create_response_from_buffer(text.size(), const_cast<char *>(text.data()), MHD_RESPMEM_MUST_COPY);
  if (response && status == kHttpUnauthorized)
    MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  return send(connection, status, response);
}

/// The first byte of "bytes=N-" or "bytes=N-M"; none for any other range, which may be ignored (RFC 9110).
struct Range {
  uint64_t first, last;
};
std::optional<Range> parseRange(llvm::StringRef text, uint64_t bytes) {
  if (!text.consume_front("bytes=") || text.contains(','))
    return std::nullopt;
  auto [first, last] = text.split('-');
  Range range{0, bytes - 1};
  if (first.getAsInteger(10, range.first) || (!last.empty() && last.getAsInteger(10, range.last)))
    return std::nullopt;
  range.last = std::min(range.last, bytes - 1);
  return range;
}

std::unique_ptr<OpenEnvelope> openEnvelope(const CacheStore &store, const CacheShares::Found &found) {
  auto envelope = std::make_unique<OpenEnvelope>();
  envelope->head = makeEnvelopeHead(found.share);
  envelope->fd = open(store.getPath(found.entry).c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  // The receiver verifies the content; here only the announced size is checked.
  if (envelope->fd < 0 || fstat(envelope->fd, &status) != 0 ||
      static_cast<uint64_t>(status.st_size) != found.entry.bytes)
    return nullptr;
  envelope->bytes = envelope->head.size() + found.entry.bytes;
  return envelope;
}

const char *getField(MHD_Connection *connection, const char *name) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

} // namespace

/// Sends a response that may be large. The total size of such responses is bounded; beyond it, clients are told to
/// retry.
MHD_Result CacheServer::State::sendHeld(MHD_Connection *connection, std::string text) {
  constexpr uint64_t kMaxHeldBytes = uint64_t(256) << 20;
  struct Held {
    std::string text;
    std::atomic<uint64_t> &bytes;
  };
  auto release = [](void *context) {
    auto *held = static_cast<Held *>(context);
    held->bytes -= held->text.size();
    delete held;
  };
  uint64_t bytes = text.size();
  if (heldBytes.fetch_add(bytes) + bytes > kMaxHeldBytes) {
    heldBytes -= bytes;
    return sendText(connection, kHttpBusy, "too many answers are being sent\n");
  }
  auto *held = new Held{std::move(text), heldBytes};
  return send(
      connection, kHttpOk,
      MHD_create_response_from_buffer_with_free_callback_cls(held->text.size(), held->text.data(), release, held));
}

std::optional<CacheShares::Found> CacheServer::State::find(const HttpPath &path, llvm::StringRef key) {
  std::lock_guard<std::mutex> guard(lock);
  llvm::Expected<std::optional<CacheShares::Found>> found = CacheShares(store).find(path.nameSpace, *path.kind, key);
  if (found)
    return std::move(*found);
  llvm::consumeError(found.takeError());
  return std::nullopt;
}

MHD_Result CacheServer::State::sendEntry(MHD_Connection *connection, const HttpPath &path) {
  std::optional<CacheShares::Found> found = find(path, path.key);
  std::unique_ptr<OpenEnvelope> envelope = found ? openEnvelope(store, *found) : nullptr;
  if (!envelope)
    return sendText(connection, kHttpNotFound, "there is no such entry\n");
  std::string tag = "\"" + getEnvelopeTag(found->share) + "\"";
  uint64_t bytes = envelope->bytes, last = bytes - 1;
  const char *asked = getField(connection, MHD_HTTP_HEADER_RANGE);
  const char *condition = getField(connection, MHD_HTTP_HEADER_IF_RANGE);
  std::optional<Range> range =
      asked && (!condition || condition == tag) ? parseRange(asked, bytes) : std::optional<Range>();
  if (range && (range->first >= bytes || range->last < range->first))
    return sendText(connection, kHttpBadRange, "the entry has " + std::to_string(bytes) + " bytes\n");
  if (range) {
    envelope->offset = range->first;
    last = range->last;
  }
  constexpr size_t kBlock = size_t(256) << 10;
  uint64_t first = envelope->offset;
  MHD_Response *response =
      MHD_create_response_from_callback(last - first + 1, kBlock, readEnvelope, envelope.release(), freeEnvelope);
  if (!response)
    return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream");
  if (range)
    MHD_add_response_header(
        response, MHD_HTTP_HEADER_CONTENT_RANGE,
        ("bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(bytes)).c_str());
  return send(connection, range ? kHttpPartial : kHttpOk, response);
}

MHD_Result CacheServer::State::sendBatch(MHD_Connection *connection, const HttpPath &path, llvm::StringRef keys) {
  std::string text;
  size_t answered = 0;
  while (!keys.empty()) {
    llvm::StringRef key;
    std::tie(key, keys) = keys.split('\n');
    if (!isFingerprint(key) || answered == kMaxBatchKeys)
      return sendText(connection, kHttpBadRequest, "expected up to " + std::to_string(kMaxBatchKeys) + " keys\n");
    std::optional<CacheShares::Found> found = find(path, key);
    std::unique_ptr<OpenEnvelope> envelope = found ? openEnvelope(store, *found) : nullptr;
    // No kernel is so large.
    if (envelope && envelope->bytes <= kMaxBatchBytes) {
      if (text.size() + envelope->bytes > kMaxBatchBytes)
        break;
      std::string whole(envelope->bytes, '\0');
      uint64_t position = 0;
      while (position < whole.size()) {
        ssize_t count = readEnvelope(envelope.get(), position, whole.data() + position, whole.size() - position);
        if (count <= 0)
          break;
        position += count;
      }
      if (position == whole.size())
        text += makeFrame(key, whole);
    }
    ++answered;
  }
  text += makeBatchEnd(answered);
  return sendHeld(connection, std::move(text));
}

MHD_Result CacheServer::State::sendList(MHD_Connection *connection, const HttpPath &path) {
  constexpr size_t kMaxListBytes = size_t(64) << 20;
  std::string text;
  {
    std::lock_guard<std::mutex> guard(lock);
    llvm::Error error = CacheShares(store).visit(path.nameSpace, [&](const SignedEntry &entry) {
      text += makeEnvelopeHead(entry);
      return text.size() <= kMaxListBytes;
    });
    if (error || text.size() > kMaxListBytes) {
      llvm::consumeError(std::move(error));
      return sendText(connection, kHttpFault, "the list is too long, or the index cannot be read\n");
    }
  }
  return sendHeld(connection, std::move(text));
}

MHD_Result CacheServer::State::answer(MHD_Connection *connection, const char *url, const char *method, const char *body,
                                      size_t *bodyBytes, void **context) {
  if (!*context) {
    *context = new Body;
    return MHD_YES;
  }
  Body &received = *static_cast<Body *>(*context);
  constexpr size_t kMaxBody = kMaxBatchKeys * 65;
  if (*bodyBytes) {
    received.isTooLong |= received.text.size() + *bodyBytes > kMaxBody;
    if (!received.isTooLong)
      received.text.append(body, *bodyBytes);
    *bodyBytes = 0;
    return MHD_YES;
  }
  std::optional<HttpPath> path = parseHttpPath(url);
  // A missing namespace is refused like an existing one, so that its existence is not disclosed.
  if (!options.tokens.isAllowed(getField(connection, MHD_HTTP_HEADER_AUTHORIZATION), path ? path->nameSpace : ""))
    return sendText(connection, kHttpUnauthorized, "a token is needed\n");
  if (!path)
    return sendText(connection, kHttpNotFound, "there is no such entry\n");
  if (received.isTooLong)
    return sendText(connection, kHttpTooLarge, "expected up to " + std::to_string(kMaxBatchKeys) + " keys\n");
  bool isGet = llvm::StringRef(method) == "GET" || llvm::StringRef(method) == "HEAD";
  bool isBatch = path->kind && path->key.empty();
  if (isBatch ? llvm::StringRef(method) != "POST" : !isGet)
    return sendText(connection, kHttpBadMethod, "this server is read-only\n");
  if (isBatch)
    return sendBatch(connection, *path, received.text);
  return path->key.empty() ? sendList(connection, *path) : sendEntry(connection, *path);
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

static llvm::Expected<sockaddr_storage> parseAddress(const std::string &text, uint16_t port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(text.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    return makeError(CompileStatus::misuse, "expected an IP address such as 127.0.0.1, got '" + text + "'");
  sockaddr_storage address{};
  memcpy(&address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

static llvm::Error readPem(const std::string &file, std::string &text) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return makeError(CompileStatus::invalid, file + ": " + buffer.getError().message());
  text = (*buffer)->getBuffer().str();
  return llvm::Error::success();
}

CacheServer::CacheServer(std::unique_ptr<State> state) : state(std::move(state)) {}

CacheServer::~CacheServer() {
  if (state->daemon)
    MHD_stop_daemon(state->daemon);
}

llvm::Expected<std::unique_ptr<CacheServer>> CacheServer::start(const CacheStore &store, ServerOptions options) {
  llvm::Expected<sockaddr_storage> address = parseAddress(options.address, options.port);
  if (!address)
    return address.takeError();
  std::unique_ptr<CacheServer> server(new CacheServer(std::make_unique<State>(store, std::move(options))));
  State &state = *server->state;
  bool isEncrypted = !state.options.certificateFile.empty();
  if (isEncrypted) {
    if (llvm::Error error = readPem(state.options.certificateFile, state.certificate))
      return error;
    if (llvm::Error error = readPem(state.options.keyFile, state.key))
      return error;
  }
  auto answer = [](void *context, MHD_Connection *connection, const char *url, const char *method, const char *,
                   const char *body, size_t *bodyBytes, void **request) {
    return static_cast<State *>(context)->answer(connection, url, method, body, bodyBytes, request);
  };
  auto end = [](void *, MHD_Connection *, void **request, MHD_RequestTerminationCode) {
    delete static_cast<Body *>(*request);
    *request = nullptr;
  };
  auto quiet = [](void *, const char *, va_list) {};
  constexpr unsigned kIdleSeconds = 30, kThreads = 4;
  constexpr size_t kConnectionBytes = size_t(64) << 10;
  unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ERROR_LOG;
  if (address->ss_family == AF_INET6)
    flags |= MHD_USE_IPv6;
  if (isEncrypted)
    flags |= MHD_USE_TLS;
  std::vector<MHD_OptionItem> items = {
      {MHD_OPTION_SOCK_ADDR, 0, &*address},
      {MHD_OPTION_EXTERNAL_LOGGER,
       reinterpret_cast<intptr_t>(+static_cast<void (*)(void *, const char *, va_list)>(quiet)), nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED,
       reinterpret_cast<intptr_t>(
           +static_cast<void (*)(void *, MHD_Connection *, void **, MHD_RequestTerminationCode)>(end)),
       nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<intptr_t>(std::max(state.options.maxConnections, kThreads)), nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<intptr_t>(kConnectionBytes), nullptr},
      {MHD_OPTION_THREAD_POOL_SIZE, kThreads, nullptr},
      {MHD_OPTION_LISTENING_ADDRESS_REUSE, 1, nullptr}};
  if (isEncrypted) {
    items.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, state.certificate.data()});
    items.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, state.key.data()});
  }
  items.push_back({MHD_OPTION_END, 0, nullptr});
  std::string where = (address->ss_family == AF_INET6 ? "[" + state.options.address + "]" : state.options.address);
  errno = 0;
  state.daemon = MHD_start_daemon(flags, state.options.port, nullptr, nullptr, answer, &state, MHD_OPTION_ARRAY,
                                  items.data(), MHD_OPTION_END);
  if (!state.daemon)
    return makeError(CompileStatus::resources,
                     "cannot listen on " + where + ":" + std::to_string(state.options.port) + ": " +
                         (errno ? std::generic_category().message(errno) : "the certificate or its key is invalid"));
  const MHD_DaemonInfo *info = MHD_get_daemon_info(state.daemon, MHD_DAEMON_INFO_BIND_PORT);
  server->url =
      (isEncrypted ? "https://" : "http://") + where + ":" + std::to_string(info ? info->port : state.options.port);
  return server;
}
