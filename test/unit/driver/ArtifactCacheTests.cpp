//===- ArtifactCacheTests.cpp - artifacts that need not be compiled again --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ArtifactCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

namespace {
/// A folder that is gone after the test, with a cache in it.
struct Scratch {
  Scratch() {
    llvm::SmallString<128> made;
    REQUIRE(!fs::createUniqueDirectory("tenon-cache-test", made));
    folder = made.str().str();
    cache.emplace(folder + "/cache");
  }
  ~Scratch() { fs::remove_directories(folder); }

  /// A file of an hour ago: a cache does not take what was just written.
  std::string write(const std::string &name, const std::string &text, int ageSeconds = 3600) const {
    std::string path = folder + "/" + name;
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    os << text;
    os.flush();
    int descriptor;
    REQUIRE(!fs::openFileForWrite(path, descriptor, fs::CD_OpenExisting, fs::OF_Append));
    REQUIRE(!fs::setLastAccessAndModificationTime(descriptor, now() - std::chrono::seconds(ageSeconds)));
    fs::closeFile(descriptor);
    return path;
  }

  static ArtifactRequest request(const std::string &name) {
    return {Fingerprint().add(name).get(), "model", "--option", "host"};
  }

  /// The path in the cache; empty where nothing was kept.
  std::string store(const std::string &name, const std::string &content, std::vector<std::string> files,
                    const std::string &messages = "") {
    std::string made = cache->reserve();
    REQUIRE(!made.empty());
    std::error_code error;
    llvm::raw_fd_ostream(made, error) << content;
    std::string place = cache->move(request(name), made, {std::move(files), now(), messages});
    CHECK(fs::exists(made) == place.empty());
    return place;
  }
  std::string find(const std::string &name) {
    std::optional<CacheStore::Hit> hit = cache->find(request(name));
    return hit ? hit->path : "";
  }

  static llvm::sys::TimePoint<> now() {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  }

  std::string folder;
  std::optional<ArtifactCache> cache;
};

/// A remote cache in memory, which signs with its own name. What is signed may be changed on its way.
struct FakeExchange : CacheExchange {
  std::vector<FetchedEntry> fetch(CacheKind kind, const std::vector<std::string> &keys, CacheStore &) override {
    std::vector<FetchedEntry> fetched;
    for (const auto &[entry, content] : published) {
      if (entry.kind != kind || !llvm::is_contained(keys, entry.key))
        continue;
      FetchedEntry each;
      each.entry = entry;
      each.entry.origin = "fetched";
      each.buffer = llvm::MemoryBuffer::getMemBufferCopy(content);
      each.content = each.buffer->getBuffer();
      each.share = {"team", kind, entry.key, "manifest", "signer", "signature"};
      fetched.push_back(std::move(each));
    }
    return fetched;
  }
  std::optional<SignedEntry> sign(const CacheEntry &entry, llvm::StringRef content) const override {
    published.emplace_back(entry, content.str());
    return SignedEntry{"team", entry.kind, entry.key, "manifest", "signer", "signature"};
  }
  void publish(llvm::ArrayRef<Publication> publications) override { numPublished += publications.size(); }
  const std::string &getNote() const override { return note; }
  void dropNote() override { note.clear(); }

  mutable std::vector<std::pair<CacheEntry, std::string>> published;
  size_t numPublished = 0;
  std::string note;
};

/// A request that other machines find by the same key, for a model in a folder of this machine's.
ArtifactRequest requestFrom(const Scratch &scratch, const std::string &remoteKey) {
  ArtifactRequest request = Scratch::request(scratch.folder + remoteKey);
  request.base = scratch.folder;
  request.makeRemoteKey = [remoteKey] { return remoteKey.empty() ? "" : Fingerprint().add(remoteKey).get(); };
  return request;
}
} // namespace

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

TEST_CASE("an artifact is found by its request") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights");
  CHECK(scratch.find("one").empty());
  std::string place = scratch.store("one", "artifact", {model}, "tenon: warning: a warning\n");
  REQUIRE(!place.empty());
  std::optional<CacheStore::Hit> hit = scratch.cache->find(Scratch::request("one"));
  REQUIRE(hit);
  CHECK(hit->path == place);
  CHECK(hit->content->getBuffer() == "artifact");
  CHECK(hit->entry.messages == "tenon: warning: a warning\n");
  CHECK(read(place) == "artifact");
  CHECK(scratch.find("two").empty());
}

TEST_CASE("an artifact is copied where it stays where it is") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights"), output = scratch.write("output", "artifact");
  scratch.cache->copy(Scratch::request("one"), output, {{model}, Scratch::now(), ""});
  CHECK(read(output) == "artifact");
  CHECK(read(scratch.find("one")) == "artifact");
  scratch.write("output", "of somebody else");
  CHECK(read(scratch.find("one")) == "artifact");
}

TEST_CASE("a file that has changed or is gone makes an artifact stale") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights"), data = scratch.write("data with blanks", "more");
  std::string place = scratch.store("one", "artifact", {model, data});
  REQUIRE(!place.empty());
  REQUIRE(scratch.find("one") == place);
  scratch.write("data with blanks", "MORE");
  CHECK(scratch.find("one").empty());
  scratch.write("data with blanks", "more");
  CHECK(scratch.find("one") == place);
  fs::remove(model);
  CHECK(scratch.find("one").empty());
}

TEST_CASE("what is newer than the compilation, or made of nothing, is not trusted") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights", /*ageSeconds=*/-60);
  CHECK(scratch.store("one", "artifact", {model}).empty());
  CHECK(scratch.store("one", "artifact", {scratch.folder + "/absent"}).empty());
  CHECK(scratch.store("one", "artifact", {}).empty());
  CHECK(scratch.find("one").empty());
  CHECK(scratch.cache->getNote().empty());
}

TEST_CASE("what was written to no file is not kept") {
  Scratch scratch;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::string output = "/proc/self/fd/" + std::to_string(ends[1]);
  scratch.cache->copy(Scratch::request("one"), output, {{scratch.write("model", "weights")}, Scratch::now(), ""});
  CHECK(scratch.find("one").empty());
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("an artifact with other bytes is ignored, with one note") {
  Scratch scratch;
  std::string place = scratch.store("one", "artifact", {scratch.write("model", "weights")});
  REQUIRE(!place.empty());
  std::error_code error;
  llvm::raw_fd_ostream(place, error) << "artefact";
  CHECK(scratch.find("one").empty());
  CHECK_THAT(scratch.cache->getNote(), Catch::StartsWith("a damaged entry of the cache is ignored: "));
}

TEST_CASE("a cache that cannot be written or does not exist is an empty one") {
  ArtifactCache none(""), absent("/proc/no-such-folder");
  for (ArtifactCache *cache : {&none, &absent}) {
    CHECK(!cache->find(Scratch::request("one")));
    CHECK(cache->reserve().empty());
    cache->copy(Scratch::request("one"), "/proc/self/exe", {{"/proc/self/exe"}, Scratch::now(), ""});
    CHECK(cache->getNote().empty());
  }
}

TEST_CASE("an index that is none is said, and not used") {
  Scratch scratch;
  fs::create_directories(scratch.folder + "/cache");
  scratch.write("cache/index.db", "a text that is long enough to be taken for the header of a file of something else");
  CHECK(scratch.find("one").empty());
  CHECK_THAT(scratch.cache->getNote(), Catch::StartsWith("the cache is not used: "));
}

//===----------------------------------------------------------------------===//
// Remote caches
//===----------------------------------------------------------------------===//

TEST_CASE("another machine has an artifact whose model is elsewhere there") {
  Scratch here, there;
  auto remote = std::make_shared<FakeExchange>();
  here.cache.emplace(here.folder + "/cache", remote);
  there.cache.emplace(there.folder + "/cache", remote);
  std::string model = here.write("model", "weights"), output = here.write("output", "artifact");
  there.write("model", "weights");
  // Files outside of the model's folder keep their names.
  ArtifactRequest request = requestFrom(here, "one");
  request.base += "/no";
  here.cache->copy(request, output, {{model}, Scratch::now(), ""});
  REQUIRE(remote->published.size() == 1);
  CHECK_THAT(remote->published.front().first.files, Catch::EndsWith(" " + model + "\n"));
  remote->published.clear();
  here.cache->copy(requestFrom(here, "one"), output, {{model}, Scratch::now(), "a warning\n"});
  REQUIRE(remote->published.size() == 1);
  CHECK(remote->numPublished == 2);
  CHECK_THAT(remote->published.front().first.files, Catch::EndsWith(" model\n"));

  std::optional<CacheStore::Hit> hit = there.cache->find(requestFrom(there, "one"));
  REQUIRE(hit);
  CHECK(hit->content->getBuffer() == "artifact");
  CHECK(hit->entry.messages == "a warning\n");
  CHECK(hit->entry.origin == "fetched");
  CHECK_FALSE(there.cache->find(requestFrom(there, "two")));
  // Then it is there without the other.
  remote->published.clear();
  CHECK(there.cache->find(requestFrom(there, "one")));
  there.write("model", "WEIGHTS");
  CHECK_FALSE(there.cache->find(requestFrom(there, "one")));
}

TEST_CASE("an artifact of another machine is taken for the same files alone") {
  Scratch there;
  auto remote = std::make_shared<FakeExchange>();
  there.cache.emplace(there.folder + "/cache", remote);
  there.write("model", "weights");
  there.write("secret", "secret");
  CHECK(!fs::create_directory(there.folder + "/sub"));
  std::string hash;
  {
    // What the hash of the right file is.
    ArtifactRequest request = requestFrom(there, "hash");
    there.cache->copy(request, there.write("output", "artifact"), {{there.folder + "/model"}, Scratch::now(), ""});
    hash = llvm::StringRef(remote->published.front().first.files).split(' ').first.str();
  }
  auto tryFiles = [&](const std::string &name, const std::string &files) {
    remote->published.clear();
    CacheEntry entry;
    entry.kind = CacheKind::artifact;
    entry.key = Fingerprint().add(name).get();
    entry.files = files;
    entry.hardware = "host";
    entry.bytes = 8;
    remote->published.emplace_back(entry, "artifact");
    return there.cache->find(requestFrom(there, name)).has_value();
  };
  CHECK(tryFiles("right", hash + " model\n"));
  CHECK(tryFiles("absolute", hash + " " + there.folder + "/model\n"));
  CHECK_FALSE(tryFiles("none", ""));
  CHECK_FALSE(tryFiles("other", "0123456789abcdef model\n"));
  CHECK_FALSE(tryFiles("absent", hash + " model2\n"));
  CHECK_FALSE(tryFiles("two", hash + " model\n" + hash + " secret\n"));
  CHECK_FALSE(tryFiles("out", hash + " sub/../model\n"));
  CHECK_FALSE(tryFiles("up", hash + " ../" + llvm::sys::path::filename(there.folder).str() + "/model\n"));
  CHECK_FALSE(tryFiles("empty", "\n"));
  // A model that cannot be read has no key.
  CHECK_FALSE(there.cache->find(requestFrom(there, "")));
}
