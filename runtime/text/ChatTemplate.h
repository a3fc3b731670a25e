//===- ChatTemplate.h - conversations as the text that a model was trained with ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_CHATTEMPLATE_H
#define TENON_RUNTIME_TEXT_CHATTEMPLATE_H

#include "runtime/base/Status.h"

#include <memory>
#include <string>
#include <string_view>

namespace tenon::text {

using rt::Status;

/// The chat template of a model: a Jinja template that renders messages as one text, with the special tokens of its
/// format. Thread-safe.
class ChatTemplate {
public:
  ChatTemplate();
  ~ChatTemplate();
  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;

  /// Reads the template of a folder: chat_template.jinja, or the field chat_template of tokenizer_config.json, which
  /// also contains the special tokens. Fails with a message that begins with the file.
  Status load(const std::string &folder);

  /// Parses a template; `tokens` is a JSON object of its special tokens, {"bos_token": "<s>"}.
  Status parse(std::string_view source, std::string_view tokens);

  /// Renders `conversation` as `text`: JSON, a list of messages, or an object with the fields "messages", "tools" and
  /// others that the template reads. With `addsPrompt`, the text ends with the beginning of an answer. Fails with the
  /// template's line, also if the template rejects the messages.
  Status render(std::string_view conversation, bool addsPrompt, std::string &text) const;

private:
  struct Content;
  std::unique_ptr<Content> content;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_CHATTEMPLATE_H
