//===- TokenizeCommand.cpp - tenon tokenize -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Table.h"
#include "runtime/text/ChatTemplate.h"
#include "runtime/text/FolderFile.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/TextInput.h"
#include "tools/tenon/Usage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace tenon;
using rt::Status;

namespace {
struct TokenizeArguments {
  std::string tokenizer, pair, chat;
  TextArguments input;
  uint64_t maxLength = 0;
  bool decodes = false, idsAlone = false, json = false, truncates = false, pads = false, omitsSpecialTokens = false,
       hasPair = false, rendersAlone = false, omitsPrompt = false;
};
} // namespace

/// Says what failed, and returns the exit code.
static int report(const llvm::Twine &prefix, const Status &status) {
  errors() << "tenon: error: " << prefix << status.message() << '\n';
  return status.code();
}

/// Prints a token on one line: control characters and invalid characters are escaped.
static std::string toPrintable(llvm::StringRef token) {
  std::string text;
  for (char c : token) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      text += llvm::formatv("\\x{0:x-2}", byte).str();
    else
      text += c;
  }
  return text;
}

static void printTable(const text::Encoding &encoding) {
  Table table({">id", "token", ">begin", ">end"});
  for (size_t i = 0; i < encoding.size(); ++i) {
    bool isSpecial = encoding.specialTokensMask[i];
    auto [begin, end] = encoding.offsets[i];
    table.add({std::to_string(encoding.ids[i]), toPrintable(encoding.tokens[i]), isSpecial ? "" : std::to_string(begin),
               isSpecial ? "" : std::to_string(end)});
  }
  table.print(llvm::outs());
}

static nlohmann::ordered_json toJson(const std::string &text, const text::Encoding &encoding) {
  nlohmann::ordered_json offsets = nlohmann::ordered_json::array();
  for (auto [begin, end] : encoding.offsets)
    offsets.push_back({begin, end});
  return {{"text", text},
          {"ids", encoding.ids},
          {"tokens", encoding.tokens},
          {"offsets", std::move(offsets)},
          {"type_ids", encoding.typeIds},
          {"attention_mask", encoding.attentionMask},
          {"special_tokens_mask", encoding.specialTokensMask}};
}

static void printJson(const nlohmann::ordered_json &json) {
  llvm::outs() << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

static int encodeTexts(const TokenizeArguments &arguments, const text::Tokenizer &tokenizer) {
  text::EncodeOptions options;
  options.addsSpecialTokens = !arguments.omitsSpecialTokens;
  options.truncates = arguments.truncates;
  options.pad = arguments.pads ? text::EncodeOptions::Pad::asFileSays : text::EncodeOptions::Pad::never;
  if (arguments.maxLength != 0)
    options.maxLength = arguments.maxLength;
  const std::vector<std::string> &texts = arguments.input.texts;
  std::vector<text::TextInput> inputs;
  for (const std::string &text : texts)
    inputs.push_back({text, arguments.hasPair ? std::optional<std::string_view>(arguments.pair) : std::nullopt});
  std::vector<text::Encoding> encodings;
  if (Status status = tokenizer.encode(inputs, options, encodings); status.failed())
    return report("", status);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (arguments.json) {
      all.push_back(toJson(texts[i], encodings[i]));
    } else if (arguments.idsAlone) {
      llvm::interleave(encodings[i].ids, llvm::outs(), " ");
      llvm::outs() << '\n';
    } else {
      llvm::outs() << (i == 0 ? "" : "\n");
      printTable(encodings[i]);
    }
  }
  if (arguments.json)
    printJson(all);
  return 0;
}

/// Parses numbers separated by spaces or commas. On failure prints an error and returns false.
static bool parseIds(llvm::StringRef text, const text::Tokenizer &tokenizer, std::vector<uint32_t> &ids) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, " ,\t\r");
  for (llvm::StringRef word : words) {
    uint32_t id = 0;
    if (word.getAsInteger(10, id)) {
      errors() << "tenon: error: --decode expects token IDs, got '" << toPrintable(word) << "'\n";
      return false;
    }
    if (!tokenizer.getToken(id)) {
      errors() << "tenon: error: the tokenizer has no token with the ID " << id << '\n';
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

static int decodeTexts(const TokenizeArguments &arguments, bool areArguments, const text::Tokenizer &tokenizer) {
  // The arguments are one text, but each line of standard input is a text.
  std::vector<std::string> lines = arguments.input.texts;
  if (areArguments)
    lines = {llvm::join(lines, " ")};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string &line : lines) {
    std::vector<uint32_t> ids;
    if (!parseIds(line, tokenizer, ids))
      return 1;
    std::string text;
    if (Status status = tokenizer.decode(ids, arguments.omitsSpecialTokens, text); status.failed())
      return report(arguments.tokenizer + ": ", status);
    if (arguments.json)
      all.push_back({{"ids", ids}, {"text", text}});
    else
      llvm::outs() << text << (arguments.input.endsWithNull ? '\0' : '\n');
  }
  if (arguments.json)
    printJson(all);
  return 0;
}

/// Renders a conversation as text, and prints it or its tokens.
static int tokenizeChat(TokenizeArguments &arguments) {
  text::ChatTemplate chat;
  if (Status status = chat.load(arguments.tokenizer); status.failed())
    return report("", status);
  std::string conversation, text;
  if (Status status = text::readFile(arguments.chat, /*followsLinks=*/true, conversation); status.failed())
    return report("", status);
  if (Status status = chat.render(conversation, !arguments.omitsPrompt, text); status.failed())
    return report(arguments.chat + ": ", status);
  if (arguments.rendersAlone) {
    llvm::outs() << text << '\n';
    return 0;
  }
  std::unique_ptr<text::Tokenizer> tokenizer;
  if (Status status = text::loadTokenizer(arguments.tokenizer, tokenizer); status.failed())
    return report("", status);
  // The template has written the special tokens.
  arguments.omitsSpecialTokens = true;
  arguments.input.texts = {std::move(text)};
  return encodeTexts(arguments, *tokenizer);
}

static int tokenize(TokenizeArguments &arguments, const CLI::App &command) {
  if (!arguments.chat.empty())
    return tokenizeChat(arguments);
  std::unique_ptr<text::Tokenizer> tokenizer;
  if (Status status = text::loadTokenizer(arguments.tokenizer, tokenizer); status.failed())
    return report("", status);
  bool areArguments = !arguments.input.texts.empty();
  if (int status = arguments.input.read(command))
    return status;
  return arguments.decodes ? decodeTexts(arguments, areArguments, *tokenizer) : encodeTexts(arguments, *tokenizer);
}

void tenon::addTokenizeCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<TokenizeArguments>();
  CLI::App *command = app.add_subcommand("tokenize", "split texts into the tokens of a model, or join tokens to text");
  command
      ->add_option("tokenizer", arguments->tokenizer,
                   "folder with tokenizer.json or tokenizer.model, or one of these files")
      ->type_name("FOLDER|FILE")
      ->required();
  arguments->input.addTo(*command, "texts", "texts; without any, each line of standard input is one", "TEXT...");
  CLI::Option *decode =
      command->add_flag("--decode", arguments->decodes, "print the text of tokens: each TEXT is a token ID");
  CLI::Option *pair =
      command->add_option("--pair", arguments->pair, "second text, for models that compare two")->type_name("TEXT");
  command->add_option("--max-length", arguments->maxLength, "cut texts off after this many tokens, added ones included")
      ->check(CLI::Range(uint64_t(1), uint64_t(UINT32_MAX)))
      ->type_name("N")
      ->excludes(decode);
  command->add_flag("--truncate", arguments->truncates, "cut texts off as tokenizer.json says")->excludes(decode);
  command->add_flag("--pad", arguments->pads, "pad as tokenizer.json says, or else to the longest of the texts")
      ->excludes(decode);
  command->add_flag("--no-special-tokens", arguments->omitsSpecialTokens,
                    "leave out tokens like [CLS] and <s>, which texts do not have");
  CLI::Option *json = command->add_flag("--json", arguments->json, "print JSON, with types and masks");
  command->add_flag("--ids", arguments->idsAlone, "print only the token IDs, a line for each text")
      ->excludes(decode)
      ->excludes(json);
  pair->excludes(decode);
  CLI::Option *chat =
      command
          ->add_option("--chat", arguments->chat,
                       "conversation, as JSON: a list of messages, or an object with messages and tools; "
                       "the folder's chat template makes one text of it")
          ->type_name("FILE.json")
          ->excludes(decode)
          ->excludes(pair)
          ->excludes("texts");
  command->add_flag("--render", arguments->rendersAlone, "print the text of --chat, not its tokens")->needs(chat);
  command->add_flag("--no-prompt", arguments->omitsPrompt, "end the text of --chat before the answer begins")
      ->needs(chat);
  addExamples(*command,
              {"tenon tokenize llama/ \"Hello, world\"", "tenon tokenize llama/ --ids < lines.txt",
               "tenon tokenize llama/ --decode 15043 29892 3186",
               "tenon tokenize llama/ --chat messages.json --render"},
              "Offsets are characters of the text.");
  command->callback([arguments, command, pair, &status] {
    arguments->hasPair = pair->count() > 0;
    status = tokenize(*arguments, *command);
  });
}
