//===- ChatTemplate.cpp - conversations as the text that a model was trained with ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Unicode.h"
#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Parser.h"

using namespace tenon::text;

struct ChatTemplate::Content {
  std::unique_ptr<jinja::Node> root;
  jinja::Dict tokens;
};

ChatTemplate::ChatTemplate() = default;
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;

static Status prefix(const std::string &path, const Status &status) {
  return status.failed() ? Status::make(status.code(), "%s: %s", path.c_str(), status.message()) : Status();
}

/// Returns the special tokens of tokenizer_config.json: strings, or objects with the string in "content".
static Json findTokens(const Json &config) {
  Json tokens = Json::object();
  for (const auto &[key, value] : config.items()) {
    if (key.size() < 6 || key.compare(key.size() - 6, 6, "_token") != 0)
      continue;
    if (value.is_string())
      tokens[key] = value;
    else if (value.is_object() && value.contains("content") && value["content"].is_string())
      tokens[key] = value["content"];
  }
  return tokens;
}

/// Finds the default template.
static Status findTemplate(const Json &config, std::string &source) {
  const Json &field = config.contains("chat_template") ? config["chat_template"] : config;
  if (field.is_string()) {
    source = field.get<std::string>();
    return {};
  }
  if (field.is_array())
    for (const Json &named : field)
      if (named.is_object() && named.contains("name") && named["name"] == "default" && named.contains("template") &&
          named["template"].is_string()) {
        source = named["template"].get<std::string>();
        return {};
      }
  return Status::make(TENON_INVALID, "has no chat template");
}

Status ChatTemplate::load(const std::string &folder) {
  std::string configPath = folder + "/tokenizer_config.json", templatePath = folder + "/chat_template.jinja", text,
              source;
  Json config = Json::object();
  if (existsFile(configPath)) {
    TENON_TRY(readFile(configPath, /*followsLinks=*/false, text));
    TENON_TRY(prefix(configPath, parseJson(text, config)));
  }
  bool hasFile = existsFile(templatePath);
  if (hasFile)
    TENON_TRY(readFile(templatePath, /*followsLinks=*/false, source));
  else
    TENON_TRY(prefix(configPath, findTemplate(config, source)));
  return prefix(hasFile ? templatePath : configPath, parse(source, findTokens(config).dump()));
}

Status ChatTemplate::parse(std::string_view source, std::string_view tokens) {
  std::u32string ignored;
  if (decodeUtf8(source, ignored))
    return Status::make(TENON_INVALID, "the chat template is no UTF-8");
  auto made = std::make_unique<Content>();
  jinja::Value values;
  TENON_TRY(jinja::parseValue(tokens, values));
  if (const jinja::Dict *dict = values.asDict())
    made->tokens = *dict;
  TENON_TRY(prefix("the chat template", jinja::parseTemplate(source, made->root)));
  content = std::move(made);
  return {};
}

Status ChatTemplate::render(std::string_view conversation, bool addsPrompt, std::string &text) const {
  jinja::Value given;
  TENON_TRY(jinja::parseValue(conversation, given));
  jinja::Dict variables = content->tokens;
  variables.set("tools", jinja::Value::None());
  variables.set("documents", jinja::Value::None());
  variables.set("add_generation_prompt", addsPrompt);
  if (const jinja::Dict *fields = given.asDict())
    for (const auto &[name, value] : fields->entries)
      variables.set(name, value);
  else
    variables.set("messages", given);
  const jinja::Value *messages = variables.find("messages");
  if (!messages || !messages->asList())
    return Status::make(TENON_INVALID,
                        "the conversation is no list of messages, and has no field 'messages' that is one");
  return prefix("the chat template", jinja::Interpreter(variables).run(*content->root, text));
}
