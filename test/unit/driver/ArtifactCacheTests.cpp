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

  std::string store(const std::string &request, const std::string &content, llvm::ArrayRef<std::string> files) const {
    std::string made = cache->reserve();
    REQUIRE(!made.empty());
    std::error_code error;
    llvm::raw_fd_ostream(made, error) << content;
    return cache->store(request, made, files, now());
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
  CHECK(scratch.cache->find("one").empty());
  std::string place = scratch.store("one", "artifact", {model});
  CHECK(scratch.cache->find("one") == place);
  CHECK(read(place) == "artifact");
  CHECK(scratch.cache->find("two").empty());
}

TEST_CASE("a file that has changed or is gone makes an artifact stale") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights"), data = scratch.write("data with blanks", "more");
  std::string place = scratch.store("one", "artifact", {model, data});
  REQUIRE(scratch.cache->find("one") == place);
  scratch.write("data with blanks", "MORE");
  CHECK(scratch.cache->find("one").empty());
  scratch.write("data with blanks", "more");
  CHECK(scratch.cache->find("one") == place);
  fs::remove(model);
  CHECK(scratch.cache->find("one").empty());
}

TEST_CASE("what is newer than the compilation is not trusted") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights", /*ageSeconds=*/-60);
  CHECK(scratch.store("one", "artifact", {model}).empty());
  CHECK(scratch.store("one", "artifact", {scratch.folder + "/absent"}).empty());
  CHECK(scratch.cache->find("one").empty());
}

TEST_CASE("an artifact without its list of files is no entry") {
  Scratch scratch;
  std::string place = scratch.store("one", "artifact", {scratch.write("model", "weights")});
  fs::remove(place.substr(0, place.size() - 6) + ".inputs");
  CHECK(scratch.cache->find("one").empty());
}

TEST_CASE("entries that were not used for longest go first") {
  Scratch scratch;
  std::string model = scratch.write("model", "weights");
  std::string first = scratch.store("one", std::string(1000, 'a'), {model});
  std::string second = scratch.store("two", std::string(1000, 'b'), {model});
  // The first is used last.
  for (auto [path, age] : {std::pair(first, 10), std::pair(second, 20)}) {
    int descriptor;
    REQUIRE(!fs::openFileForWrite(path, descriptor, fs::CD_OpenExisting, fs::OF_Append));
    REQUIRE(!fs::setLastAccessAndModificationTime(descriptor, Scratch::now() - std::chrono::seconds(age)));
    fs::closeFile(descriptor);
  }
  REQUIRE(scratch.cache->list().size() == 2);
  CHECK(scratch.cache->list()[0].artifact == first);
  CHECK(scratch.cache->trim(1u << 20) == 0);
  CHECK(scratch.cache->trim(1800) == 1);
  CHECK(scratch.cache->find("one") == first);
  CHECK(scratch.cache->find("two").empty());
  CHECK(scratch.cache->trim(0) == 1);
  CHECK(scratch.cache->list().empty());
}

TEST_CASE("a cache that cannot be written or does not exist is an empty one") {
  ArtifactCache none(""), absent("/proc/no-such-folder");
  for (const ArtifactCache &cache : {none, absent}) {
    CHECK(cache.find("one").empty());
    CHECK(cache.reserve().empty());
    CHECK(cache.list().empty());
    CHECK(cache.trim(0) == 0);
  }
}
