//===- Conversation.cpp - a model's chat, turn by turn --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Conversation.h"

using namespace tenon;

void Conversation::setSystem(const std::string &content) {
  messages.push_back({{"role", "system"}, {"content", content}});
}

Status Conversation::add(const std::string &content, std::vector<uint32_t> &tokens) {
  messages.push_back({{"role", "user"}, {"content", content}});
  std::string conversation = messages.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), whole;
  TENON_TRY(chat.render(conversation, /*addsPrompt=*/true, whole));
  text::EncodeOptions options;
  options.addsSpecialTokens = false; // the template writes them
  std::vector<text::Encoding> encodings;
  TENON_TRY(tokenizer.encode({{whole, std::nullopt}}, options, encodings));
  tokens = encodings.front().ids;
  return {};
}

void Conversation::addAnswer(const std::string &content) {
  messages.push_back({{"role", "assistant"}, {"content", content}});
}
