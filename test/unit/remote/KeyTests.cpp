//===- KeyTests.cpp - keys, signatures and lists of them  -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/remote/RemoteScratch.h"
#include <sys/stat.h>

using namespace tenon;

TEST_CASE("a signature is one of its key and text alone") {
  SigningKey key = SigningKey::generate(), other = SigningKey::generate();
  std::string signature = key.sign("text");
  CHECK(isSignedBy(key.getPublicKey(), signature, "text"));
  CHECK_FALSE(isSignedBy(key.getPublicKey(), signature, "texu"));
  CHECK_FALSE(isSignedBy(key.getPublicKey(), signature, ""));
  CHECK_FALSE(isSignedBy(other.getPublicKey(), signature, "text"));
  CHECK_FALSE(isSignedBy(key.getPublicKey(), other.sign("text"), "text"));
  for (size_t i = 0; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] = changed[i] == '0' ? '1' : '0';
    CHECK_FALSE(isSignedBy(key.getPublicKey(), changed, "text"));
  }
  // A point of small order verifies for many texts in naive implementations.
  CHECK_FALSE(isSignedBy(std::string(64, '0'), std::string(128, '0'), "text"));
  CHECK_FALSE(isSignedBy("01" + std::string(62, '0'), "01" + std::string(126, '0'), "text"));
  CHECK_FALSE(isSignedBy("", "", "text"));
  CHECK_FALSE(isSignedBy(key.getPublicKey() + "0", signature, "text"));
}

TEST_CASE("a signing key is read as it was written, and kept from others") {
  CacheScratch scratch;
  std::string file = scratch.folder + "/keys/own";
  SigningKey key = SigningKey::generate();
  REQUIRE(takeReason(key.write(file, "me@here")).empty());
  SigningKey again = takeValue(SigningKey::read(file));
  CHECK(again.getPublicKey() == key.getPublicKey());
  CHECK(isSignedBy(key.getPublicKey(), again.sign("text"), "text"));
  struct stat status;
  REQUIRE(stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  // An existing key is worth more than a new one.
  CHECK_THAT(takeReason(SigningKey::generate().write(file, "")), Catch::Contains("File exists"));
  REQUIRE(chmod(file.c_str(), 0640) == 0);
  CHECK_THAT(takeReason(SigningKey::read(file)), Catch::Contains("others may read it; run 'chmod go-rwx"));
  REQUIRE(chmod((file + ".pub").c_str(), 0600) == 0);
  CHECK_THAT(takeReason(SigningKey::read(file + ".pub")), Catch::Contains("not a signing key"));
  CHECK_THAT(takeReason(SigningKey::read(scratch.folder + "/none")), Catch::Contains("No such file"));
}

TEST_CASE("public keys and namespaces have one form") {
  std::string digits(64, 'a');
  CHECK(parsePublicKey("ed25519:" + digits) == digits);
  for (const std::string &text : {digits, "ed25519:" + digits + "a", "ed25519:" + std::string(64, 'A'),
                                  "ed25519:" + std::string(64, 'g'), std::string("ed25519:")})
    CHECK_FALSE(parsePublicKey(text));
  for (const char *name : {"a", "team-1", "a.b_c", "0"})
    CHECK(isNamespace(name));
  for (const char *name : {"", ".", "..", ".a", "-a", "A", "a/b", "a b", "*", "revoked", "a\n", "\xc3\xa4"})
    CHECK_FALSE(isNamespace(name));
  CHECK_FALSE(isNamespace(std::string(65, 'a')));
}

TEST_CASE("a key is trusted in its namespaces until it is revoked") {
  RemoteScratch scratch;
  using Standing = TrustList::Standing;
  const std::string &key = scratch.key.getPublicKey();
  CHECK(scratch.trust.judge(key, "team") == Standing::trusted);
  CHECK(scratch.trust.judge(key, "other") == Standing::elsewhere);
  CHECK(scratch.trust.judge(scratch.stranger.getPublicKey(), "team") == Standing::unknown);
  scratch.trustKey(scratch.key, "other");
  CHECK(scratch.trust.judge(key, "other") == Standing::trusted);
  scratch.trustKey(scratch.key, "revoked");
  // Whatever stands after it.
  scratch.trustKey(scratch.key, "*");
  CHECK(scratch.trust.judge(key, "team") == Standing::revoked);
  CHECK(scratch.trust.getSigners().size() == 4);
}

TEST_CASE("a list of keys that is none is not used") {
  RemoteScratch scratch;
  CHECK(takeValue(TrustList::read(scratch.folder + "/none")).getSigners().empty());
  auto write = [&](llvm::StringRef text, mode_t mode = 0644) {
    std::string file = scratch.folder + "/list";
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << text;
    REQUIRE(chmod(file.c_str(), mode) == 0);
    return takeReason(TrustList::read(file));
  };
  std::string key = printPublicKey(scratch.key.getPublicKey());
  CHECK(write("# mine\n\na,b " + key + " me and me\n* " + key).empty());
  for (const std::string &line : {std::string("team\n"), "team " + key.substr(1), "Team " + key, "a, " + key,
                                  key + " team", std::string("\0", 1), "a,,b " + key})
    CHECK_THAT(write("# one\n" + line), Catch::Contains(":2: expected 'NAMESPACE ed25519:DIGITS'"));
  CHECK_THAT(write("team " + key + "\n", 0666), Catch::Contains("others may write it"));
  // An editor may leave a last line without its end.
  CHECK(write("a " + key).empty());
  REQUIRE(
      takeReason(TrustList::append(scratch.folder + "/list", {scratch.key.getPublicKey(), {"b"}, "", false})).empty());
  CHECK(takeValue(TrustList::read(scratch.folder + "/list")).getSigners().size() == 2);
  CHECK_FALSE(takeReason(TrustList::append(scratch.folder + "/list", {key, {"b"}, "two\nlines", false})).empty());
}
