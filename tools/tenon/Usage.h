//===- Usage.h - wrong command lines, and what was meant --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_USAGE_H
#define TENON_TOOLS_TENON_USAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace tenon {

/// Returns "; did you mean 'compile'?" with the most similar of `names`; empty if none is similar.
std::string suggest(llvm::StringRef word, llvm::ArrayRef<std::string> names);

/// Sets the layout of help pages: options in groups, with descriptions beside them that are wrapped at 100 columns.
void setHelpLayout(CLI::App &app);

/// Adds a paragraph of example commands to the end of a help page.
void addExamples(CLI::App &command, llvm::ArrayRef<llvm::StringRef> examples, llvm::StringRef remark = "");

/// Describes in one line what is wrong with a command line, what was probably meant, and which help page to read.
std::string describeUsage(const CLI::App &app, const CLI::ParseError &error);

} // namespace tenon

#endif // TENON_TOOLS_TENON_USAGE_H
