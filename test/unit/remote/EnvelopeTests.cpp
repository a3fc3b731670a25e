//===- EnvelopeTests.cpp - entries that are signed, damaged or hostile  ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/remote/HttpProtocol.h"
#include "test/unit/remote/RemoteScratch.h"
#include <random>

using namespace tenon;
using Catch::StartsWith;

static std::string makeEnvelope(const SignedEntry &entry, llvm::StringRef content) {
  return makeEnvelopeHead(entry) + content.str();
}

TEST_CASE("an envelope is received as it was sent, in whatever pieces") {
  RemoteScratch scratch;
  std::string envelope = makeEnvelope(signNamed("one", "content", scratch.key), "content");
  for (size_t piece : {size_t(1), size_t(7), size_t(200), SIZE_MAX})
    CHECK(receive(scratch, envelope, getEnvelopeName("one"), piece) == "content");
  EnvelopeReceiver receiver(getEnvelopeName("one"), scratch.trust, 1000);
  REQUIRE(takeReason(receiver.append(envelope)).empty());
  FetchedEntry entry = takeValue(receiver.finish());
  CHECK(entry.entry.origin == "fetched");
  CHECK(entry.entry.title == "contract");
  CHECK(entry.share.signer == scratch.key.getPublicKey());
  // What is kept can be passed on.
  CHECK(receive(scratch, makeEnvelope(entry.share, entry.content), getEnvelopeName("one")) == "content");
}

TEST_CASE("what nobody who is trusted has signed for that name is refused") {
  RemoteScratch scratch;
  std::string envelope = makeEnvelope(signNamed("one", "content", scratch.key), "content");
  CHECK_THAT(receive(scratch, envelope, getEnvelopeName("two")), StartsWith("refused: it is signed for another key"));
  CHECK_THAT(receive(scratch, envelope, getEnvelopeName("one", CacheKind::artifact)),
             StartsWith("refused: it is signed for another key"));
  EnvelopeName elsewhere = getEnvelopeName("one");
  elsewhere.nameSpace = "other";
  CHECK_THAT(receive(scratch, envelope, elsewhere), Catch::Contains("which is not trusted in the namespace other"));
  scratch.trustKey(scratch.key, "other");
  CHECK_THAT(receive(scratch, envelope, elsewhere), StartsWith("refused: it is signed for another namespace"));
  CHECK_THAT(
      receive(scratch, makeEnvelope(signNamed("one", "content", scratch.stranger), "content"), getEnvelopeName("one")),
      Catch::Contains("which is not trusted here"));
  // A stranger's signature under a trusted key's name.
  SignedEntry forged = signNamed("one", "content", scratch.stranger);
  forged.signer = scratch.key.getPublicKey();
  CHECK_THAT(receive(scratch, makeEnvelope(forged, "content"), getEnvelopeName("one")),
             StartsWith("refused: its signature is not one of ed25519:"));
  scratch.trustKey(scratch.key, "revoked");
  CHECK_THAT(receive(scratch, envelope, getEnvelopeName("one")), Catch::Contains("which is revoked"));
}

TEST_CASE("no byte of an envelope can be changed, added or left out") {
  RemoteScratch scratch;
  std::string envelope = makeEnvelope(signNamed("one", "content", scratch.key), "content");
  for (size_t i = 0; i < envelope.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string changed = envelope;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      // A head that says to be longer is one that has not come in.
      CHECK_THAT(receive(scratch, changed, getEnvelopeName("one")), StartsWith("refused: ") || StartsWith("failed: "));
    }
  for (size_t size = 0; size < envelope.size(); ++size)
    CHECK(receive(scratch, llvm::StringRef(envelope).take_front(size), getEnvelopeName("one")) ==
          "failed: the transfer of an entry ended early");
  for (size_t piece : {size_t(1), SIZE_MAX})
    CHECK(receive(scratch, envelope + "x", getEnvelopeName("one"), piece) ==
          "refused: it has more bytes than were signed");
}

TEST_CASE("an envelope is refused before its content comes in") {
  RemoteScratch scratch;
  std::string content(100'000, 'x');
  auto countTaken = [&](const SignedEntry &entry, uint64_t limit) {
    EnvelopeReceiver receiver(getEnvelopeName("one"), scratch.trust, limit);
    llvm::Error error = receiver.append(makeEnvelopeHead(entry));
    bool isRefused = static_cast<bool>(error);
    llvm::consumeError(std::move(error));
    return isRefused;
  };
  CHECK_FALSE(countTaken(signNamed("one", content, scratch.key), 100'000));
  CHECK(countTaken(signNamed("one", content, scratch.key), 99'999));
  CHECK(countTaken(signNamed("one", content, scratch.stranger), 100'000));
  CHECK(countTaken(signNamed("two", content, scratch.key), 100'000));
}

TEST_CASE("a manifest by a trusted key is still checked") {
  RemoteScratch scratch;
  auto trySigned = [&](const std::string &manifest) {
    SignedEntry entry{"team", CacheKind::kernel, "", manifest, scratch.key.getPublicKey(), scratch.key.sign(manifest)};
    return receive(scratch, makeEnvelope(entry, "content"), getEnvelopeName("one"));
  };
  CHECK(trySigned("") == "refused: its manifest is no JSON");
  CHECK(trySigned("[1]") == "refused: its manifest is of another version");
  CHECK(trySigned(R"({"version": 2})") == "refused: its manifest is of another version");
  CHECK(trySigned(R"({"version": 1, "namespace": 3})") == "refused: its manifest lacks 'namespace'");
  CHECK(trySigned(std::string(100'000, '[')) == "refused: its manifest is nested too deep");
  CHECK(trySigned(R"({"a": "\"[[[[[", "b": [[)" + std::string(100'000, '[')) ==
        "refused: its manifest is nested too deep");
  CHECK(trySigned(R"({"a": "\"[[[[[", "version": 2})") == "refused: its manifest is of another version");
  std::string good = signNamed("one", "content", scratch.key).manifest;
  CHECK(trySigned(good) == "content");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = good;
    REQUIRE(changed.find(from) != std::string::npos);
    return trySigned(changed.replace(changed.find(from), from.size(), to));
  };
  CHECK_THAT(with("\"bytes\":7", "\"bytes\":-7"), StartsWith("refused: its manifest has an invalid kind or size"));
  CHECK_THAT(with("\"bytes\":7", "\"bytes\":1e300"), StartsWith("refused: its manifest has an invalid kind or size"));
  CHECK(with("\"bytes\":7", "\"bytes\":8") == "failed: the transfer of an entry ended early");
  CHECK(with("\"bytes\":7", "\"bytes\":6") == "refused: it has more bytes than were signed");
  CHECK_THAT(with("\"kind\":\"kernel\"", "\"kind\":\"program\""),
             StartsWith("refused: its manifest has an invalid kind"));
  CHECK_THAT(with("\"seal\":\"", "\"seal\":\"../"), StartsWith("refused: its key or seal is no fingerprint"));
}

TEST_CASE("an interrupted transfer goes on from its file") {
  RemoteScratch scratch;
  std::string content(50'000, 'c'), file = scratch.folder + "/part";
  std::string envelope = makeEnvelope(signNamed("one", content, scratch.key), content);
  for (size_t begun : {size_t(0), size_t(10), envelope.size() - content.size(), envelope.size() - 1, envelope.size()}) {
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << llvm::StringRef(envelope).take_front(begun);
    EnvelopeReceiver receiver(getEnvelopeName("one"), scratch.trust, 1 << 20, file);
    REQUIRE(takeReason(receiver.resume()).empty());
    // Without its head, a beginning is nothing.
    CHECK(receiver.getSize() == (begun < 1000 && begun + content.size() < envelope.size() ? 0 : begun));
    REQUIRE(takeReason(receiver.append(llvm::StringRef(envelope).drop_front(receiver.getSize()))).empty());
    CHECK(takeValue(receiver.finish()).content == content);
  }
  // What somebody else has left there, or a longer one, is not taken.
  std::error_code error;
  llvm::raw_fd_ostream(file, error) << envelope << "and more";
  EnvelopeReceiver receiver(getEnvelopeName("one"), scratch.trust, 1 << 20, file);
  REQUIRE(takeReason(receiver.resume()).empty());
  CHECK(receiver.getSize() == 0);
  CHECK_FALSE(receiver.isRefused());
  REQUIRE(takeReason(receiver.append(envelope)).empty());
  CHECK(takeValue(receiver.finish()).content == content);
}

TEST_CASE("envelopes and batches that are damaged at random are never taken for others") {
  RemoteScratch scratch;
  std::string envelope = makeEnvelope(signNamed("one", "content", scratch.key), "content");
  std::string key = makeEntry("one").key, batch = makeFrame(key, envelope) + makeFrame(key, envelope) + makeBatchEnd(2);
  std::mt19937 random(20261127);
  auto damage = [&](std::string text) {
    for (unsigned i = 0; i <= random() % 4; ++i)
      switch (size_t at = random() % text.size(); random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 40);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
      default:
        text.insert(at, 1, "\n 0-9\0"[random() % 6]);
      }
    return text;
  };
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = damage(envelope),
                result = receive(scratch, damaged, getEnvelopeName("one"), 1 + random() % 300);
    CHECK((damaged == envelope || result != "content"));
    BatchReader reader;
    std::string whole = damage(batch);
    for (llvm::StringRef rest = whole; !rest.empty() && reader.append(rest.take_front(97));)
      rest = rest.drop_front(std::min<size_t>(97, rest.size()));
    for (const BatchReader::Frame &frame : reader.getFrames()) {
      std::string got = receive(scratch, frame.envelope, getEnvelopeName("one"));
      CHECK((frame.envelope == envelope || got != "content"));
    }
  }
}

TEST_CASE("a batch is read in whatever pieces, and ends where it says") {
  std::string one(64, '1'), two(64, '2');
  std::string batch = makeFrame(one, "first\nline") + makeFrame(two, "x") + makeBatchEnd(5);
  for (size_t piece : {size_t(1), size_t(3), SIZE_MAX}) {
    BatchReader reader;
    for (llvm::StringRef rest = batch; !rest.empty(); rest = rest.drop_front(std::min(piece, rest.size())))
      REQUIRE(reader.append(rest.take_front(piece)));
    REQUIRE(reader.isComplete());
    CHECK(reader.getAnswered() == 5);
    REQUIRE(reader.getFrames().size() == 2);
    CHECK(reader.getFrames()[0].envelope == "first\nline");
    CHECK(reader.getFrames()[1].key == two);
    CHECK_FALSE(reader.append("more"));
  }
  for (const std::string &text : {one + " 0\n", one + " 99999999999\n", one + "\n", std::string("answered x\n"),
                                  std::string(200, 'x'), "../" + one + " 3\nabc"}) {
    BatchReader reader;
    CHECK_FALSE(reader.append(text));
  }
}

TEST_CASE("a path of the server names an entry or nothing") {
  std::string key(64, 'a');
  std::optional<HttpPath> path = parseHttpPath("/v1/team/kernel/" + key);
  REQUIRE(path);
  CHECK((path->nameSpace == "team" && path->kind == CacheKind::kernel && path->key == key));
  CHECK(parseHttpPath("/v1/team/artifact"));
  CHECK(parseHttpPath("/v1/team"));
  for (const std::string &text :
       {std::string(""), std::string("/"), std::string("/v1"), std::string("/v1/"), std::string("/v1/.."),
        "/v1/team/kernel/" + key + "/", "/v1/team/kernel/" + key.substr(1), "/v1/team/kernel/../" + key,
        "/v1/team/program/" + key, "/v2/team/kernel/" + key, "//v1/team/kernel/" + key,
        "/v1/team/kernel/" + std::string(64, '.'), "v1/team/kernel/" + key, std::string("/v1/team//")})
    CHECK_FALSE(parseHttpPath(text));
}
