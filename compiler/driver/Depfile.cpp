//===- Depfile.cpp - which files an output was made of --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Depfile.h"
#include "llvm/ADT/STLExtras.h"

using namespace tenon;

/// Escapes a name for make, whose syntax cannot express a line break.
static std::string escape(llvm::StringRef name) {
  std::string escaped;
  for (char c : name) {
    if (c == ' ' || c == '#' || c == ':' || c == '\\')
      escaped += '\\';
    escaped += c == '$' ? "$$" : std::string(1, c);
  }
  return escaped;
}

std::string tenon::printDepfile(llvm::StringRef output, std::vector<std::string> files) {
  llvm::sort(files);
  files.erase(llvm::unique(files), files.end());
  std::string text = escape(output) + ":";
  for (const std::string &file : files)
    text += " \\\n  " + escape(file);
  return text + "\n";
}

std::vector<std::string> tenon::parseDepfile(llvm::StringRef text) {
  std::vector<std::string> words;
  std::string word;
  auto finish = [&] {
    if (!word.empty())
      words.push_back(std::move(word));
    word.clear();
  };
  bool isInRule = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if (c == '\\' || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      finish();
    } else if (c == ':' && !isInRule) {
      word.clear();
      isInRule = true;
    } else {
      word += c;
    }
  }
  finish();
  return words;
}
