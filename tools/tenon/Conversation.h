//===- Conversation.h - a model's chat, turn by turn ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_CONVERSATION_H
#define TENON_TOOLS_TENON_CONVERSATION_H

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tenon {

using rt::Status;

/// The messages of a chat so far, in the model's chat format.
class Conversation {
public:
  Conversation(const text::Tokenizer &tokenizer, const text::ChatTemplate &chat) : tokenizer(tokenizer), chat(chat) {}

  /// Adds the message that comes before all others.
  void setSystem(const std::string &content);
  /// Adds a user's message, and sets `tokens` to the whole conversation up to the start of the answer.
  Status add(const std::string &content, std::vector<uint32_t> &tokens);
  /// Adds the model's answer.
  void addAnswer(const std::string &content);

private:
  const text::Tokenizer &tokenizer;
  const text::ChatTemplate &chat;
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_CONVERSATION_H
