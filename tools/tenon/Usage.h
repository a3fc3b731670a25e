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

/// "; did you mean 'compile'?" with the nearest of `names`; empty where none is near.
std::string suggest(llvm::StringRef word, llvm::ArrayRef<std::string> names);

/// Lays help pages out: options in groups, descriptions wrapped to 100 columns beside them.
void setHelpLayout(CLI::App &app);

/// Adds a paragraph of commands to the end of a help page.
void addExamples(CLI::App &command, llvm::ArrayRef<llvm::StringRef> examples, llvm::StringRef remark = "");

/// One line on what is wrong with a command line, with what was probably meant and the help page to read.
std::string describeUsage(const CLI::App &app, const CLI::ParseError &error);

} // namespace tenon

#endif // TENON_TOOLS_TENON_USAGE_H
