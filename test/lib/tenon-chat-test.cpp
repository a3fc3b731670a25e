//===- tenon-chat-test.cpp - renders the chat templates of a file ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
//   tenon-chat-test CASES.json RESULTS.json
//
// Cases are a list of objects with "template", "tokens" and "conversation", which are texts, and "prompt". For each one
// the results have an object with "text" or with "error".
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Json.h"

#include <cstdio>

using namespace tenon::text;

static Status renderCase(const Json &given, std::string &text) {
  ChatTemplate chat;
  TENON_TRY(chat.parse(given["template"].get<std::string>(), given["tokens"].get<std::string>()));
  return chat.render(given["conversation"].get<std::string>(), given["prompt"].get<bool>(), text);
}

static Status run(const char *cases, const char *results) {
  std::string content, text;
  Json given, all = Json::array();
  TENON_TRY(readFile(cases, /*followsLinks=*/true, content));
  TENON_TRY(parseJson(content, given));
  for (const Json &each : given) {
    Status status = renderCase(each, text);
    all.push_back(status.failed() ? Json{{"error", status.message()}} : Json{{"text", text}});
  }
  FILE *file = fopen(results, "w");
  std::string dump = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  bool isWritten = file && fwrite(dump.data(), 1, dump.size(), file) == dump.size();
  if (file && fclose(file) == 0 && isWritten)
    return {};
  return Status::make(TENON_RESOURCES, "%s cannot be written", results);
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: tenon-chat-test CASES.json RESULTS.json\n");
    return 2;
  }
  Status status = run(arguments[1], arguments[2]);
  if (status.failed())
    fprintf(stderr, "error: %s\n", status.message());
  return status.code();
}
