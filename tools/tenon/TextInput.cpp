//===- TextInput.cpp - texts from the command line or from standard input -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/TextInput.h"
#include "tools/tenon/ErrorStream.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tenon;

void TextArguments::addTo(CLI::App &command, const char *name, const char *description, const char *typeName) {
  command.add_option(name, texts, description)->type_name(typeName);
  command.add_flag("-0,--null", endsWithNull,
                   "texts on standard input end with a null byte, so that they may have several lines");
}

int TextArguments::read(const CLI::App &command) {
  if (!texts.empty()) {
    if (!endsWithNull)
      return 0;
    errors() << "tenon: error: --null is about texts on standard input, but there are some on the command line; see '"
             << "tenon " << command.get_name() << " --help'\n";
    return 2;
  }
  auto bytes = llvm::MemoryBuffer::getSTDIN();
  if (!bytes) {
    errors() << "tenon: error: standard input cannot be read: " << bytes.getError().message() << '\n';
    return 1;
  }
  char end = endsWithNull ? '\0' : '\n';
  llvm::StringRef rest = (*bytes)->getBuffer();
  while (!rest.empty()) {
    auto [text, others] = rest.split(end);
    texts.push_back(text.str());
    rest = others;
  }
  return 0;
}
