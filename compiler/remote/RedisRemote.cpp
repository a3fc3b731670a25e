//===- RedisRemote.cpp - a remote cache in Redis  -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tenon:1:NAMESPACE:KIND:KEY      an envelope
//
// How much is kept, and for how long, is the server's to say (maxmemory, maxmemory-policy).
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/remote/CacheRemote.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <hiredis/hiredis.h>
#include <unistd.h>

using namespace tenon;
using Clock = std::chrono::steady_clock;

namespace {

using Reply = std::unique_ptr<redisReply, void (*)(void *)>;
using Command = std::vector<std::string>;

class RedisRemote : public CacheRemote {
public:
  RedisRemote(std::string host, int port, int database, const RemoteSettings &settings)
      : host(std::move(host)), port(port), database(database), token(settings.token), timeout(settings.timeout) {}
  ~RedisRemote() override { disconnect(); }

  llvm::Error get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) override;
  llvm::Error put(llvm::ArrayRef<Publication> publications) override;
  llvm::Error list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) override;

private:
  llvm::Error connect();
  void disconnect();
  llvm::Error makeFault(const char *what);
  llvm::Error send(llvm::ArrayRef<Command> commands);
  llvm::Expected<Reply> receive();
  llvm::Expected<Reply> request(const Command &command);
  llvm::Error getKernels(llvm::ArrayRef<EnvelopeReceiver *> wanted, Done done);
  llvm::Error getArtifact(EnvelopeReceiver &receiver, Done done);
  llvm::Error listPage(llvm::StringRef nameSpace, std::string &cursor, bool &isOver,
                       llvm::function_ref<bool(SignedEntry)> visit);
  void setDeadline() {
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout));
  }

  std::string host;
  int port, database;
  std::string token;
  double timeout;
  redisContext *context = nullptr;
  pid_t owner = 0; ///< the process whose connection it is
  Clock::time_point deadline;
};

/// Upper bounds for the bytes of a reply that are buffered, and for a value that is written.
constexpr size_t kMaxReplyBytes = size_t(80) << 20, kMaxValueBytes = size_t(256) << 20;
/// Upper bound for the elements of a list in a reply; no reply to SCAN has more.
constexpr int kMaxElements = 100'000;

/// hiredis allocates the number of elements that the server announces, so it is limited.
void *createArray(const redisReadTask *task, decltype(redisReadTask::elements) elements) {
  static const redisReplyObjectFunctions own = [] {
    redisReader *reader = redisReaderCreate();
    redisReplyObjectFunctions functions = *reader->fn;
    redisReaderFree(reader);
    return functions;
  }();
  return elements > kMaxElements ? nullptr : own.createArray(task, elements);
}

std::string getValueName(llvm::StringRef nameSpace, CacheKind kind, llvm::StringRef key) {
  return ("tenon:1:" + nameSpace + ":" + getName(kind) + ":" + key).str();
}

std::string getValueName(const EnvelopeName &name) { return getValueName(name.nameSpace, name.kind, name.key); }

bool isText(const Reply &reply) { return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS; }

llvm::StringRef getText(const redisReply &reply) { return {reply.str, static_cast<size_t>(reply.len)}; }

} // namespace

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void RedisRemote::disconnect() {
  // The parent's connection is closed here without sending anything.
  if (context)
    redisFree(context);
  context = nullptr;
}

llvm::Error RedisRemote::makeFault(const char *what) {
  std::string reason = context && context->err ? makePlain(context->errstr) : what;
  if (context && context->err == REDIS_ERR_IO && errno == EAGAIN)
    reason = "it does not answer";
  disconnect();
  return makeError(CompileStatus::resources, reason);
}

llvm::Error RedisRemote::connect() {
  setDeadline();
  if (context && owner != getpid())
    disconnect();
  if (context)
    return llvm::Error::success();
  // A piece of a reply may take this long, too, because an unresponsive server delays the compilation.
  constexpr timeval kPatience = {1, 0};
  context = redisConnectWithTimeout(host.c_str(), port, kPatience);
  owner = getpid();
  if (!context || context->err || redisSetTimeout(context, kPatience) != REDIS_OK)
    return makeFault("cannot connect");
  static redisReplyObjectFunctions functions = *context->reader->fn;
  functions.createArray = createArray;
  context->reader->fn = &functions;
  std::vector<Command> greetings;
  if (!token.empty())
    greetings.push_back({"AUTH", token});
  if (database)
    greetings.push_back({"SELECT", std::to_string(database)});
  for (const Command &command : greetings) {
    llvm::Expected<Reply> reply = request(command);
    if (!reply)
      return reply.takeError();
    if ((*reply)->type == REDIS_REPLY_ERROR) {
      std::string said = makePlain(getText(**reply));
      disconnect();
      return makeError(CompileStatus::resources, "it refuses " + command.front() + ": " + said);
    }
  }
  return llvm::Error::success();
}

llvm::Error RedisRemote::send(llvm::ArrayRef<Command> commands) {
  for (const Command &command : commands) {
    std::vector<const char *> texts;
    std::vector<size_t> sizes;
    for (const std::string &word : command) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    if (redisAppendCommandArgv(context, static_cast<int>(texts.size()), texts.data(), sizes.data()) != REDIS_OK)
      return makeFault("a command cannot be made");
  }
  for (int isSent = 0; !isSent;)
    if (redisBufferWrite(context, &isSent) != REDIS_OK || Clock::now() > deadline)
      return makeFault("it does not take commands in time");
  return llvm::Error::success();
}

/// Receives the next reply. hiredis itself would wait for all announced bytes as long as some arrive.
llvm::Expected<Reply> RedisRemote::receive() {
  while (true) {
    void *reply = nullptr;
    if (redisGetReplyFromReader(context, &reply) != REDIS_OK)
      return makeFault("its answer is malformed");
    if (reply)
      return Reply(static_cast<redisReply *>(reply), freeReplyObject);
    if (context->reader->len > kMaxReplyBytes)
      return makeFault("its answer is too long");
    if (Clock::now() > deadline)
      return makeFault("it does not answer in time");
    if (redisBufferRead(context) != REDIS_OK)
      return makeFault("the connection broke");
  }
}

llvm::Expected<Reply> RedisRemote::request(const Command &command) {
  if (llvm::Error error = send(command))
    return error;
  return receive();
}

//===----------------------------------------------------------------------===//
// Envelopes
//===----------------------------------------------------------------------===//

llvm::Error RedisRemote::getKernels(llvm::ArrayRef<EnvelopeReceiver *> wanted, Done done) {
  std::vector<Command> commands;
  for (EnvelopeReceiver *receiver : wanted)
    commands.push_back({"GET", getValueName(receiver->getName())});
  if (llvm::Error error = send(commands))
    return error;
  for (EnvelopeReceiver *receiver : wanted) {
    llvm::Expected<Reply> reply = receive();
    if (!reply)
      return reply.takeError();
    if ((*reply)->type == REDIS_REPLY_ERROR)
      return makeError(CompileStatus::resources, "it answered: " + makePlain(getText(**reply)));
    if (isText(*reply))
      done(*receiver, receiver->append(getText(**reply)));
  }
  return llvm::Error::success();
}

/// Receives the value in pieces, so that only the head of a rejected envelope is transferred.
llvm::Error RedisRemote::getArtifact(EnvelopeReceiver &receiver, Done done) {
  constexpr uint64_t kFirst = uint64_t(64) << 10, kPiece = uint64_t(4) << 20;
  if (llvm::Error error = receiver.restart())
    return error;
  std::string name = getValueName(receiver.getName());
  llvm::Error failure = llvm::Error::success();
  while (!failure && !receiver.isComplete()) {
    uint64_t begin = receiver.getSize(), end = begin + (begin ? kPiece : kFirst) - 1;
    llvm::Expected<Reply> reply = request({"GETRANGE", name, std::to_string(begin), std::to_string(end)});
    if (!reply)
      return reply.takeError();
    if ((*reply)->type == REDIS_REPLY_ERROR)
      return makeError(CompileStatus::resources, "it answered: " + makePlain(getText(**reply)));
    if (!isText(*reply) || (*reply)->len == 0)
      break;
    failure = receiver.append(getText(**reply));
  }
  if (failure || receiver.getSize() > 0)
    done(receiver, std::move(failure));
  return llvm::Error::success();
}

llvm::Error RedisRemote::get(llvm::ArrayRef<std::unique_ptr<EnvelopeReceiver>> wanted, Done done) {
  // Upper bound for the commands of one round trip, so that neither side buffers too many replies.
  constexpr size_t kMaxPipelined = 256;
  if (llvm::Error error = connect())
    return error;
  std::vector<EnvelopeReceiver *> kernels;
  for (const std::unique_ptr<EnvelopeReceiver> &receiver : wanted) {
    if (receiver->getName().kind == CacheKind::kernel)
      kernels.push_back(receiver.get());
    else if (llvm::Error error = getArtifact(*receiver, done))
      return error;
  }
  for (llvm::ArrayRef<EnvelopeReceiver *> rest(kernels); !rest.empty();) {
    llvm::ArrayRef<EnvelopeReceiver *> batch = rest.take_front(kMaxPipelined);
    if (llvm::Error error = getKernels(batch, done))
      return error;
    rest = rest.drop_front(batch.size());
  }
  return llvm::Error::success();
}

llvm::Error RedisRemote::put(llvm::ArrayRef<Publication> publications) {
  if (llvm::Error error = connect())
    return error;
  constexpr size_t kMaxPipelined = 64, kMaxBytes = size_t(16) << 20;
  while (!publications.empty()) {
    std::vector<Command> commands;
    size_t bytes = 0;
    while (!publications.empty() && commands.size() < kMaxPipelined && bytes < kMaxBytes) {
      const Publication &publication = publications.front();
      publications = publications.drop_front();
      const SignedEntry &share = publication.share;
      // Redis limits values to 512 MB, and keeps all of them in memory.
      if (publication.content.size() > kMaxValueBytes)
        continue;
      bytes += publication.content.size();
      commands.push_back({"SET", getValueName(share.nameSpace, share.kind, share.key),
                          makeEnvelopeHead(share) + publication.content.str()});
    }
    if (llvm::Error error = send(commands))
      return error;
    for (size_t i = 0; i < commands.size(); ++i) {
      llvm::Expected<Reply> reply = receive();
      if (!reply)
        return reply.takeError();
      if ((*reply)->type == REDIS_REPLY_ERROR) {
        // Answers to the other commands are still to come.
        std::string said = makePlain(getText(**reply));
        disconnect();
        return makeError(CompileStatus::resources, "it answered: " + said);
      }
    }
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

llvm::Error RedisRemote::listPage(llvm::StringRef nameSpace, std::string &cursor, bool &isOver,
                                  llvm::function_ref<bool(SignedEntry)> visit) {
  llvm::Expected<Reply> page =
      request({"SCAN", cursor, "MATCH", ("tenon:1:" + nameSpace + ":*").str(), "COUNT", "1000"});
  if (!page)
    return page.takeError();
  const redisReply &reply = **page;
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2 || reply.element[0]->type != REDIS_REPLY_STRING ||
      reply.element[1]->type != REDIS_REPLY_ARRAY)
    return makeError(CompileStatus::resources, "its answer to SCAN is malformed");
  cursor = getText(*reply.element[0]).str();
  const redisReply &names = *reply.element[1];
  for (size_t i = 0; i < names.elements && !isOver; ++i) {
    if (names.element[i]->type != REDIS_REPLY_STRING)
      continue;
    llvm::Expected<Reply> begin =
        request({"GETRANGE", getText(*names.element[i]).str(), "0", std::to_string(kMaxHeadBytes)});
    if (!begin)
      return begin.takeError();
    llvm::Expected<std::optional<EnvelopeHead>> head = parseEnvelopeHead(isText(*begin) ? getText(**begin) : "-");
    // Others may keep other things there.
    if (!head)
      llvm::consumeError(head.takeError());
    else if (*head)
      isOver = !visit(std::move((*head)->entry));
  }
  return llvm::Error::success();
}

llvm::Error RedisRemote::list(llvm::StringRef nameSpace, llvm::function_ref<bool(SignedEntry)> visit) {
  if (llvm::Error error = connect())
    return error;
  std::string cursor = "0";
  bool isOver = false;
  do {
    if (llvm::Error error = listPage(nameSpace, cursor, isOver, visit))
      return error;
  } while (cursor != "0" && !isOver);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CacheRemote>> tenon::makeRedisRemote(llvm::StringRef url,
                                                                    const RemoteSettings &settings) {
  constexpr int kDefaultPort = 6379, kMaxPort = 65535, kMaxDatabase = 1 << 20;
  auto [place, number] = url.split("://").second.split('/');
  int port = kDefaultPort, database = 0;
  llvm::StringRef host = place;
  if (host.consume_front("[")) {
    llvm::StringRef rest;
    std::tie(host, rest) = host.split(']');
    place = rest.starts_with(":") ? rest : "";
  } else {
    host = place.split(':').first;
    place = place.drop_front(host.size());
  }
  if (host.empty() || (!place.empty() && (place.drop_front().getAsInteger(10, port) || port < 1 || port > kMaxPort)) ||
      (!number.empty() && (number.getAsInteger(10, database) || database < 0 || database > kMaxDatabase)))
    return makeError(CompileStatus::misuse, url + ": expected redis://HOST[:PORT][/DATABASE]");
  return std::make_unique<RedisRemote>(host.str(), port, database, settings);
}
