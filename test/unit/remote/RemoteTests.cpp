//===- RemoteTests.cpp - folders, Redis and servers  ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/cache/CacheShares.h"
#include "compiler/remote/CacheServer.h"
#include "compiler/remote/RemoteExchange.h"
#include "test/unit/remote/RemoteScratch.h"
#include "test/unit/remote/TestServers.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;
using Publication = CacheExchange::Publication;

namespace {
/// What a remote cache has of some names, with what went wrong with each or with all.
struct Answers {
  std::map<std::string, std::string> contents; ///< by key; "refused: " and the reason
  std::string failure;
};
} // namespace

static Answers get(CacheRemote &remote, const RemoteScratch &scratch, const std::vector<std::string> &names,
                   CacheKind kind = CacheKind::kernel, const std::string &file = "") {
  std::vector<std::unique_ptr<EnvelopeReceiver>> receivers;
  for (const std::string &name : names)
    receivers.push_back(std::make_unique<EnvelopeReceiver>(getEnvelopeName(name, kind), scratch.trust, 64 << 20, file));
  Answers answers;
  answers.failure = takeReason(remote.get(receivers, [&](EnvelopeReceiver &receiver, llvm::Error error) {
    std::string &content = answers.contents[receiver.getName().key];
    llvm::Expected<FetchedEntry> entry = error ? llvm::Expected<FetchedEntry>(std::move(error)) : receiver.finish();
    content = entry ? entry->content.str() : "";
    if (!entry)
      content = (receiver.isRefused() ? "refused: " : "failed: ") + llvm::toString(entry.takeError());
  }));
  return answers;
}

static std::unique_ptr<CacheRemote> open(const std::string &url, const RemoteScratch &scratch, double timeout = 10,
                                         const std::string &token = "") {
  return takeValue(openRemote(url, {&scratch.trust, token, timeout}));
}

static std::string put(CacheRemote &remote, const std::vector<SignedEntry> &entries, llvm::StringRef content) {
  std::vector<Publication> publications;
  for (const SignedEntry &entry : entries)
    publications.push_back({entry, content});
  return takeReason(remote.put(publications));
}

static std::set<std::string> listKeys(CacheRemote &remote, llvm::StringRef nameSpace) {
  std::set<std::string> keys;
  std::string failure = takeReason(remote.list(nameSpace, [&](SignedEntry entry) {
    keys.insert(entry.manifest.substr(entry.manifest.find("\"key\":\"") + 7, 64));
    return true;
  }));
  CHECK(failure.empty());
  return keys;
}

/// What each remote cache that is written to does.
static void tryRemote(const std::string &url, const RemoteScratch &scratch, const std::string &token = "") {
  std::unique_ptr<CacheRemote> remote = open(url, scratch, 10, token);
  CHECK(get(*remote, scratch, {"one"}).contents.empty());
  std::string binary("a\0b\r\n\xff", 6);
  std::vector<SignedEntry> entries;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.push_back("name " + std::to_string(i));
    entries.push_back(signNamed(names.back(), binary, scratch.key));
  }
  REQUIRE(put(*remote, entries, binary).empty());
  names.push_back("absent");
  Answers answers = get(*remote, scratch, names);
  CHECK(answers.failure.empty());
  CHECK(answers.contents.size() == 300);
  for (const auto &[key, content] : answers.contents)
    CHECK(content == binary);
  CHECK(listKeys(*remote, "team").size() == 300);
  CHECK(listKeys(*remote, "other").empty());
  // Of a large one, all pieces.
  std::string large(9'000'000, 'x'), file = scratch.folder + "/part";
  for (size_t i = 0; i < large.size(); i += 1000)
    large[i] = static_cast<char>(i / 1000);
  REQUIRE(put(*remote, {signNamed("large", large, scratch.key, CacheKind::artifact)}, large).empty());
  CHECK(get(*remote, scratch, {"large"}, CacheKind::artifact, file).contents.begin()->second == large);
  // Whoever may write there can put anything under any name, and a sound entry replaces it.
  SignedEntry forged = signNamed("forged", "evil", scratch.stranger);
  REQUIRE(put(*remote, {forged}, "evil").empty());
  CHECK_THAT(get(*remote, scratch, {"forged"}).contents.begin()->second, Catch::StartsWith("refused: it is signed by"));
  REQUIRE(put(*remote, {signNamed("forged", "good", scratch.key)}, "good").empty());
  CHECK(get(*remote, scratch, {"forged"}).contents.begin()->second == "good");
  // A content that is not the signed one.
  REQUIRE(put(*remote, {signNamed("other", "good", scratch.key)}, "evil").empty());
  CHECK(get(*remote, scratch, {"other"}).contents.begin()->second == "refused: its content is not what was signed");
}

TEST_CASE("a folder is a remote cache") {
  RemoteScratch scratch;
  std::string folder = scratch.folder + "/shared";
  REQUIRE(!llvm::sys::fs::create_directory(folder));
  tryRemote("file://" + folder, scratch);
  // Nothing but entries is left there.
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->type() == llvm::sys::fs::file_type::regular_file)
      CHECK(isFingerprint(llvm::sys::path::filename(it->path())));
  std::unique_ptr<CacheRemote> absent = open(scratch.folder + "/absent", scratch);
  CHECK(get(*absent, scratch, {"one"}).failure == "there is no such folder");
  CHECK(put(*absent, {signNamed("one", "x", scratch.key)}, "x") == "there is no such folder");
}

TEST_CASE("links and pipes of a shared folder are not opened") {
  RemoteScratch scratch;
  std::unique_ptr<CacheRemote> remote = open(scratch.folder, scratch);
  REQUIRE(put(*remote, {signNamed("one", "good", scratch.key)}, "good").empty());
  std::string key = makeEntry("one").key, place = scratch.folder + "/team/kernel/" + key.substr(0, 2) + "/" + key;
  REQUIRE(rename(place.c_str(), (scratch.folder + "/elsewhere").c_str()) == 0);
  REQUIRE(symlink((scratch.folder + "/elsewhere").c_str(), place.c_str()) == 0);
  CHECK(get(*remote, scratch, {"one"}).contents.empty());
  REQUIRE(unlink(place.c_str()) == 0);
  REQUIRE(mkfifo(place.c_str(), 0600) == 0);
  CHECK(get(*remote, scratch, {"one"}).contents.empty());
}

TEST_CASE("Redis is a remote cache") {
  RemoteScratch scratch;
  if (!llvm::sys::findProgramByName("redis-server")) {
    WARN("no redis-server: Redis is not tried");
    return;
  }
  RedisServer redis(scratch.folder);
  tryRemote("redis://127.0.0.1:" + std::to_string(redis.getPort()) + "/3", scratch, "secret");
  std::unique_ptr<CacheRemote> wrong =
      open("redis://127.0.0.1:" + std::to_string(redis.getPort()), scratch, 10, "false");
  CHECK_THAT(get(*wrong, scratch, {"one"}).failure, Catch::StartsWith("it refuses AUTH: "));
  std::unique_ptr<CacheRemote> none = open("redis://127.0.0.1:" + std::to_string(redis.getPort()), scratch);
  CHECK_THAT(get(*none, scratch, {"one"}).failure, Catch::Contains("NOAUTH"));
}

TEST_CASE("Redis that is not there, hangs or lies is a miss") {
  RemoteScratch scratch;
  auto tryAnswer = [&](const std::string &answer, FakeServer::End end) {
    FakeServer server(answer, end);
    std::unique_ptr<CacheRemote> remote = open("redis://127.0.0.1:" + std::to_string(server.getPort()), scratch, 1);
    auto begin = std::chrono::steady_clock::now();
    Answers answers = get(*remote, scratch, {"one"});
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
    for (const auto &[key, content] : answers.contents)
      CHECK_THAT(content, Catch::StartsWith("refused: "));
    return answers.failure;
  };
  CHECK(tryAnswer("", FakeServer::End::hang) == "it does not answer");
  CHECK_FALSE(tryAnswer("", FakeServer::End::close).empty());
  CHECK_FALSE(tryAnswer("HTTP/1.1 200 OK\r\n\r\n", FakeServer::End::close).empty());
  CHECK_FALSE(tryAnswer("$99999999999999999999\r\n", FakeServer::End::hang).empty());
  CHECK_FALSE(tryAnswer("$900000000\r\nxxx", FakeServer::End::repeat).empty());
  CHECK_FALSE(tryAnswer("*900000000\r\n", FakeServer::End::hang).empty());
  CHECK_FALSE(tryAnswer("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", FakeServer::End::repeat).empty());
  CHECK(tryAnswer("$4\r\nevil\r\n", FakeServer::End::close).empty());
  CHECK(tryAnswer("-ERR \x1b[31mred\xff\a" + std::string(1000, '!') + "\r\n", FakeServer::End::close) ==
        "it answered: ERR ?[31mred??" + std::string(200 - 14, '!') + "...");
  std::unique_ptr<CacheRemote> nobody = open("redis://127.0.0.1:1", scratch);
  CHECK(get(*nobody, scratch, {"one"}).failure == "Connection refused");
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

/// Adds an entry with its signature to a store, as compilations do.
static void addSigned(CacheStore &store, const RemoteScratch &scratch, const std::string &name, llvm::StringRef content,
                      CacheKind kind = CacheKind::kernel, llvm::StringRef nameSpace = "team") {
  std::vector<CacheStore::Addition> additions;
  additions.push_back({makeEntry(name, kind), content, "", signNamed(name, content, scratch.key, kind, nameSpace)});
  REQUIRE(takeReason(store.commit(additions, {})).empty());
}

static std::unique_ptr<CacheServer> serve(const CacheStore &store, std::map<std::string, std::string> tokens = {}) {
  ServerOptions options;
  for (const auto &[nameSpace, token] : tokens)
    options.tokens.add(nameSpace, token);
  return takeValue(CacheServer::start(store, std::move(options)));
}

TEST_CASE("a server has the signed entries of a store") {
  RemoteScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  std::unique_ptr<CacheServer> server = serve(*store);
  std::unique_ptr<CacheRemote> remote = open(server->getUrl(), scratch);
  CHECK(get(*remote, scratch, {"one"}).contents.empty());
  // While it runs.
  std::vector<std::string> names;
  for (int i = 0; i < 1100; ++i)
    names.push_back("name " + std::to_string(i));
  for (int i = 0; i < 1100; i += 100)
    addSigned(*store, scratch, names[i], "content " + std::to_string(i));
  add(*store, "unsigned", "content");
  names.push_back("unsigned");
  Answers answers = get(*remote, scratch, names);
  CHECK(answers.failure.empty());
  CHECK(answers.contents.size() == 11);
  CHECK(answers.contents[makeEntry("name 300").key] == "content 300");
  CHECK(listKeys(*remote, "team").size() == 11);
  CHECK(listKeys(*remote, "default").empty());
  std::string large(3'000'000, 'x'), file = scratch.folder + "/part";
  addSigned(*store, scratch, "large", large, CacheKind::artifact);
  CHECK(get(*remote, scratch, {"large"}, CacheKind::artifact, file).contents.begin()->second == large);
  // An entry that was replaced here has a signature no longer.
  add(*store, "name 300", "content by another compilation");
  CHECK(get(*remote, scratch, {"name 300"}).contents.empty());
  CHECK_THAT(put(*remote, {signNamed("one", "x", scratch.key)}, "x"), Catch::Contains("servers are read-only"));
}

TEST_CASE("a batch that is too large is answered in several") {
  RemoteScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  std::string content(6'000'000, 'y');
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    names.push_back(std::to_string(i));
    addSigned(*store, scratch, names.back(), content);
  }
  std::unique_ptr<CacheServer> server = serve(*store);
  Answers answers = get(*open(server->getUrl(), scratch, 60), scratch, names);
  CHECK(answers.failure.empty());
  CHECK(answers.contents.size() == 5);
}

TEST_CASE("a token opens its namespace alone") {
  RemoteScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  addSigned(*store, scratch, "one", "content");
  std::unique_ptr<CacheServer> server = serve(*store, {{"team", "right"}, {"other", "left"}});
  auto getWith = [&](const std::string &token) {
    Answers answers = get(*open(server->getUrl(), scratch, 10, token), scratch, {"one"});
    return answers.failure.empty() ? std::to_string(answers.contents.size()) : answers.failure;
  };
  CHECK(getWith("right") == "1");
  CHECK(getWith("left") == "it does not accept the token");
  CHECK(getWith("righ") == "it does not accept the token");
  CHECK(getWith("") == "it wants a token; set TENON_CACHE_TOKEN or TENON_CACHE_TOKEN_FILE");
}

TEST_CASE("ServerTokens compares whole tokens") {
  ServerTokens tokens;
  CHECK(tokens.isAllowed(nullptr, "team"));
  tokens.add("team", "right");
  tokens.add("*", "master");
  CHECK(tokens.isAllowed("Bearer right", "team"));
  CHECK(tokens.isAllowed("bearer master", "team"));
  CHECK(tokens.isAllowed("Bearer master", "other"));
  for (const char *field : {"Bearer right", "Bearer ", "Bearer", "", "right", "Bearer master ", "Basic master"})
    CHECK_FALSE(tokens.isAllowed(field, "other"));
  CHECK_FALSE(tokens.isAllowed(nullptr, "team"));
}

TEST_CASE("a server refuses what is no request, and goes on") {
  RemoteScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  addSigned(*store, scratch, "one", "content");
  std::unique_ptr<CacheServer> server = serve(*store, {{"team", "right"}});
  auto say = [&](const std::string &text) { return speak(server->getUrl(), text).substr(0, 12); };
  std::string token = "Authorization: Bearer right\r\nHost: x\r\n\r\n", key = makeEntry("one").key;
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\n" + token) == "HTTP/1.1 200");
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\nHost: x\r\n\r\n") == "HTTP/1.1 401");
  CHECK(say("GET /v1/team/../../index.db HTTP/1.1\r\n" + token) == "HTTP/1.1 401");
  CHECK(say("GET /v1/team/kernel/..%2f..%2findex.db HTTP/1.1\r\n" + token) == "HTTP/1.1 401");
  CHECK(say("PUT /v1/team/kernel/" + key + " HTTP/1.1\r\nContent-Length: 1\r\n" + token + "x") == "HTTP/1.1 405");
  CHECK(say("DELETE /v1/team/kernel/" + key + " HTTP/1.1\r\n" + token) == "HTTP/1.1 405");
  CHECK(say("POST /v1/team/kernel HTTP/1.1\r\nContent-Length: 4\r\n" + token + "../x") == "HTTP/1.1 400");
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\nRange: bytes=999999-\r\n" + token) == "HTTP/1.1 416");
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\nRange: bytes=5-9\r\n" + token) == "HTTP/1.1 206");
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\nRange: bytes=5-9\r\nIf-Range: \"other\"\r\n" + token) ==
        "HTTP/1.1 200");
  for (const char *range :
       {"bytes=-", "bytes=a-b", "bytes=1-2,4-5", "lines=1-2", "bytes=-5", "bytes=99999999999999999999-"})
    CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\nRange: " + range + "\r\n" + token) == "HTTP/1.1 200");
  // More than a connection may take.
  CHECK(say("POST /v1/team/kernel HTTP/1.1\r\nContent-Length: 10000000\r\n" + token + std::string(200'000, 'a')) !=
        "HTTP/1.1 200");
  CHECK(say("GET / HTTP/1.1\r\nX: " + std::string(1'000'000, 'x') + "\r\n\r\n") != "HTTP/1.1 200");
  std::string fields;
  for (int i = 0; i < 100'000; ++i)
    fields += "X" + std::to_string(i) + ": y\r\n";
  CHECK(say("GET / HTTP/1.1\r\n" + fields + "\r\n") != "HTTP/1.1 200");
  CHECK(say(std::string("\0\xff\r\n\r\n", 6)) != "HTTP/1.1 200");
  CHECK(say("GET /v1/team/kernel/" + key + " HTTP/1.1\r\n" + token) == "HTTP/1.1 200");
}

TEST_CASE("a server that hangs, lies or has no end is a miss") {
  RemoteScratch scratch;
  std::string ok = "HTTP/1.1 200 OK\r\n";
  auto tryAnswer = [&](const std::string &answer, FakeServer::End end, CacheKind kind) {
    INFO(answer.substr(0, 80));
    FakeServer server(answer, end);
    std::unique_ptr<CacheRemote> remote = open("http://127.0.0.1:" + std::to_string(server.getPort()), scratch, 1);
    auto begin = std::chrono::steady_clock::now();
    std::string file = kind == CacheKind::artifact ? scratch.folder + "/part" : "";
    Answers answers = get(*remote, scratch, {"one"}, kind, file);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
    uint64_t bytes = 0;
    if (!file.empty() && !llvm::sys::fs::file_size(file, bytes))
      CHECK(bytes < (8 << 20));
    llvm::sys::fs::remove(file);
    for (const auto &[key, content] : answers.contents)
      CHECK((llvm::StringRef(content).starts_with("refused: ") || llvm::StringRef(content).starts_with("failed: ")));
    return answers.failure.empty() && !answers.contents.empty() ? answers.contents.begin()->second : answers.failure;
  };
  for (CacheKind kind : {CacheKind::kernel, CacheKind::artifact}) {
    CHECK_FALSE(tryAnswer("", FakeServer::End::hang, kind).empty());
    CHECK_FALSE(tryAnswer("", FakeServer::End::close, kind).empty());
    CHECK_FALSE(tryAnswer("nonsense", FakeServer::End::close, kind).empty());
    CHECK_FALSE(tryAnswer(ok + "Content-Length: 9999999999999\r\n\r\nxxx", FakeServer::End::hang, kind).empty());
    CHECK_FALSE(tryAnswer(ok + "Content-Length: 99999999999999999999\r\n\r\n", FakeServer::End::hang, kind).empty());
    CHECK_FALSE(tryAnswer(ok + "\r\n" + std::string(1000, 'x'), FakeServer::End::repeat, kind).empty());
    CHECK_FALSE(tryAnswer(ok + "X: y\r\n", FakeServer::End::repeat, kind).empty());
    CHECK_FALSE(tryAnswer("HTTP/1.1 500 Fault\r\nContent-Length: 0\r\n\r\n", FakeServer::End::close, kind).empty());
    CHECK_FALSE(tryAnswer("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
                          FakeServer::End::close, kind)
                    .empty());
    CHECK_FALSE(
        tryAnswer("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n", FakeServer::End::close, kind)
            .empty());
  }
  std::string head = makeEnvelopeHead(signNamed("one", "content", scratch.stranger, CacheKind::artifact));
  CHECK_THAT(tryAnswer(ok + "\r\n" + head, FakeServer::End::repeat, CacheKind::artifact),
             Catch::Contains("which is not trusted here"));
}

TEST_CASE("a token goes to no other place than the server's") {
  RemoteScratch scratch;
  FakeServer other("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", FakeServer::End::close);
  FakeServer server("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:" + std::to_string(other.getPort()) +
                        "/there\r\nContent-Length: 0\r\n\r\n",
                    FakeServer::End::close);
  std::unique_ptr<CacheRemote> remote =
      open("http://127.0.0.1:" + std::to_string(server.getPort()), scratch, 2, "secret");
  std::string file = scratch.folder + "/part";
  CHECK(get(*remote, scratch, {"one"}, CacheKind::artifact, file).contents.empty());
  CHECK_THAT(server.getRequests(), Catch::Contains("Authorization: Bearer secret"));
  CHECK_THAT(other.getRequests(), Catch::StartsWith("GET /there"));
  CHECK_THAT(other.getRequests(), !Catch::Contains("secret"));
}

TEST_CASE("URLs of remote caches are checked") {
  RemoteScratch scratch;
  RemoteSettings settings{&scratch.trust, "", 1};
  for (const char *url : {"", "ftp://host", "redis://", "redis://host:0", "redis://host:99999", "redis://host/x",
                          "redis://user:secret@host", "https://me:secret@host", "http://", "http://host?x",
                          "file://relative", "http://host name"})
    CHECK_FALSE(takeReason(openRemote(url, settings)).empty());
  for (const char *url : {"/folder", "folder", "file:///folder", "redis://host", "redis://[::1]:7000/2",
                          "http://host:80/", "https://host/below", "http://[::1]:80"})
    CHECK(takeReason(openRemote(url, settings)).empty());
}

//===----------------------------------------------------------------------===//
// Exchange and quarantine
//===----------------------------------------------------------------------===//

TEST_CASE("what is refused is in quarantine, and what was fetched is gone when its key is revoked") {
  RemoteScratch scratch;
  std::string shared = scratch.folder + "/shared";
  REQUIRE(!llvm::sys::fs::create_directory(shared));
  std::unique_ptr<CacheRemote> remote = open(shared, scratch);
  REQUIRE(put(*remote, {signNamed("good", "content", scratch.key)}, "content").empty());
  REQUIRE(put(*remote, {signNamed("bad", "content", scratch.stranger)}, "content").empty());
  ExchangeOptions options;
  options.from = {scratch.folder + "/absent", shared};
  options.nameSpace = "team";
  options.trustFile = scratch.getTrustFile();
  std::unique_ptr<RemoteExchange> exchange = takeValue(RemoteExchange::open(options));
  std::unique_ptr<CacheStore> store = scratch.open();
  std::vector<std::string> keys = {makeEntry("good").key, makeEntry("bad").key, makeEntry("none").key};
  std::vector<FetchedEntry> fetched = exchange->fetch(CacheKind::kernel, keys, *store);
  REQUIRE(fetched.size() == 1);
  CHECK(fetched.front().content == "content");
  // The first thing that went wrong.
  CHECK_THAT(exchange->getNote(), Catch::Contains("absent is not used: there is no such folder"));
  std::vector<QuarantinedEntry> refused = takeValue(CacheShares(*store).listQuarantine());
  REQUIRE(refused.size() == 1);
  CHECK(refused.front().key == makeEntry("bad").key);
  CHECK(refused.front().signer == scratch.stranger.getPublicKey());
  CHECK_THAT(refused.front().reason, Catch::Contains("not trusted here"));

  std::vector<CacheStore::Addition> additions;
  additions.push_back({fetched.front().entry, fetched.front().content, "", fetched.front().share});
  REQUIRE(takeReason(store->commit(additions, {})).empty());
  CHECK(findContent(*store, "good") == "content");
  CacheShares shares(*store);
  CHECK(takeValue(shares.listFetched(scratch.key.getPublicKey())).size() == 1);
  CHECK(takeValue(shares.listFetched(scratch.stranger.getPublicKey())).empty());
  // It is passed on with its first signature.
  std::optional<CacheShares::Found> found = takeValue(shares.find("team", CacheKind::kernel, makeEntry("good").key));
  REQUIRE(found);
  CHECK(found->share.signer == scratch.key.getPublicKey());
  CHECK_FALSE(takeValue(shares.find("default", CacheKind::kernel, makeEntry("good").key)));
  takeValue(store->prune({}, INT64_MAX, UINT64_MAX));
  CHECK_FALSE(takeValue(shares.find("team", CacheKind::kernel, makeEntry("good").key)));
  REQUIRE(takeReason(shares.clearQuarantine()).empty());
  CHECK(takeValue(shares.listQuarantine()).empty());
}

TEST_CASE("the quarantine does not grow without end") {
  RemoteScratch scratch;
  std::unique_ptr<CacheStore> store = scratch.open();
  CacheShares shares(*store);
  for (int i = 0; i < 1010; ++i)
    REQUIRE(takeReason(shares.quarantine({i, "url", "team", "kernel", std::to_string(i), "", "reason"})).empty());
  std::vector<QuarantinedEntry> entries = takeValue(shares.listQuarantine());
  CHECK(entries.size() == 1000);
  CHECK(entries.front().key == "1009");
}

TEST_CASE("an index of an earlier version gets what it lacks") {
  RemoteScratch scratch;
  {
    std::unique_ptr<CacheStore> store = scratch.open();
    add(*store, "one", "content");
    REQUIRE(takeReason(store->getDatabase().execute("DROP TABLE shares; DROP TABLE quarantine")).empty());
    // One that is only read has no signatures.
    CHECK_FALSE(takeValue(CacheShares(*store).find("team", CacheKind::kernel, makeEntry("one").key)));
    CHECK(takeValue(CacheShares(*store).listQuarantine()).empty());
  }
  std::unique_ptr<CacheStore> store = scratch.open();
  CHECK(findContent(*store, "one") == "content");
  addSigned(*store, scratch, "one", "content");
  CHECK(takeValue(CacheShares(*store).find("team", CacheKind::kernel, makeEntry("one").key)));
}

TEST_CASE("options of an exchange are checked") {
  RemoteScratch scratch;
  auto tryOptions = [&](llvm::function_ref<void(ExchangeOptions &)> change) {
    ExchangeOptions options;
    options.trustFile = scratch.getTrustFile();
    change(options);
    return takeReason(RemoteExchange::open(options));
  };
  CHECK(tryOptions([](ExchangeOptions &) {}).empty());
  CHECK_THAT(tryOptions([](ExchangeOptions &o) { o.nameSpace = "../x"; }), Catch::StartsWith("'../x' is no namespace"));
  CHECK_THAT(tryOptions([](ExchangeOptions &o) { o.to = {"/folder"}; }), Catch::Contains("tenon cache keygen"));
  CHECK_THAT(tryOptions([](ExchangeOptions &o) { o.keyFile = "/none"; }), Catch::Contains("No such file"));
  CHECK_THAT(tryOptions([](ExchangeOptions &o) { o.from = {"ftp://x"}; }),
             Catch::Contains("expected a folder or a URL"));
}
