//===- WriteArtifact.cpp - writes an artifact for tests of programs ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/ArtifactBuilder.h"

#include <cstdio>

using namespace tenon::test;

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: write-test-artifact FILE\n");
    return 2;
  }
  ArtifactBuilder builder = scaleAndAdd();
  builder.codes.clear();
  builder.codes.push_back({"x86_64:", kernelCode("x86_64")});
  builder.codes.push_back({"aarch64:asimd", kernelCode("aarch64")});
  Bytes file = builder.build();
  writeFile(arguments[1], file.data(), file.size);
  printf("%s\n", arguments[1]);
}
