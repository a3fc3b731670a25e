//===- ArtifactCacheTests.cpp - artifacts that need not be compiled again --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/ArtifactCache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
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
