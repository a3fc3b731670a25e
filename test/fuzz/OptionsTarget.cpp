//===- OptionsTarget.cpp - shapes, numbers and names on the command line ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Options.h"

using namespace tenon::run;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Arguments are texts that end with a zero, so each line is one.
  std::vector<std::string> lines{"tenon-run"};
  for (size_t i = 0; i < size; ++i)
    if (data[i] == '\n' || (i == 0 && lines.size() == 1))
      lines.emplace_back(data[i] == '\n' ? "" : std::string(1, char(data[i])));
    else if (data[i])
      lines.back().push_back(char(data[i]));
  std::vector<char *> arguments;
  for (std::string &line : lines)
    arguments.push_back(line.data());
  Options options;
  (void)parseOptions(int(arguments.size()), arguments.data(), &options);
  for (const std::string &line : lines) {
    std::vector<int64_t> dims;
    size_t index;
    std::string value;
    (void)parseShape(line, &dims);
    (void)splitNamed(line, {"x", "y=1", ""}, &index, &value);
  }
  return 0;
}
