//===- TextInput.h - texts from the command line or from standard input ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_TEXTINPUT_H
#define TENON_TOOLS_TENON_TEXTINPUT_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon {

/// The input texts of a command: arguments or, without any, the lines of standard input.
struct TextArguments {
  std::vector<std::string> texts;
  bool endsWithNull = false;

  /// Adds the argument `name` and the option --null.
  void addTo(CLI::App &command, const char *name, const char *description, const char *typeName);

  /// Fills `texts` from standard input if there are no arguments. On failure prints an error; returns an exit code.
  int read(const CLI::App &command);
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_TEXTINPUT_H
