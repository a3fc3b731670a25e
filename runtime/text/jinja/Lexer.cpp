//===- Lexer.cpp - templates as tokens ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/jinja/Lexer.h"

#include <algorithm>
#include <cctype>

using namespace tenon::text::jinja;

namespace {
class Lexer {
public:
  Lexer(std::string_view source, std::vector<Lexeme> &lexemes) : source(source), lexemes(lexemes) {}

  Status run();

private:
  void addText(size_t end, std::string_view opening);
  Status skipComment();
  Status readTag(bool isStatement);
  void closeTag(bool isStatement, bool isStripped);
  Status readLexeme();
  Status readString();
  void readNumber();
  bool readRaw();

  char peek(size_t distance = 0) const { return at + distance < source.size() ? source[at + distance] : '\0'; }
  void moveTo(size_t end) {
    line += static_cast<int>(
        std::count(source.begin() + static_cast<ptrdiff_t>(at), source.begin() + static_cast<ptrdiff_t>(end), '\n'));
    at = end;
  }
  void add(Lexeme::Kind kind, std::string content) { lexemes.push_back({kind, std::move(content), line}); }
  Status fail(const char *what) const { return Status::make(TENON_INVALID, "line %d: %s", line, what); }
  static bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)); }

  std::string_view source;
  std::vector<Lexeme> &lexemes;
  size_t at = 0;
  int line = 1;
  bool isAtLineBegin = true;
};
} // namespace

/// Adds the text up to `end`, where a tag begins.
void Lexer::addText(size_t end, std::string_view opening) {
  std::string_view text = source.substr(at, end - at);
  char sign = end + 2 < source.size() ? source[end + 2] : '\0';
  if (sign == '-') {
    while (!text.empty() && isSpace(text.back()))
      text.remove_suffix(1);
  } else if (sign != '+' && !opening.empty() && opening != "{{") {
    // There are only spaces between the beginning of the line and the tag.
    size_t lineBegin = text.rfind('\n') + 1;
    bool isFromBegin = lineBegin > 0 || isAtLineBegin;
    if (isFromBegin && std::all_of(text.begin() + static_cast<ptrdiff_t>(lineBegin), text.end(), isSpace))
      text = text.substr(0, lineBegin);
  }
  if (!text.empty())
    add(Lexeme::Kind::text, std::string(text));
  moveTo(end);
}

/// Moves past the end of a tag, and the whitespace that it strips.
void Lexer::closeTag(bool isStatement, bool isStripped) {
  size_t end = at + 2;
  if (isStripped)
    while (end < source.size() && isSpace(source[end]))
      ++end;
  else if (isStatement && end < source.size() && source[end] == '\n')
    ++end;
  moveTo(end);
  isAtLineBegin = at > 0 && source[at - 1] == '\n';
}

Status Lexer::skipComment() {
  size_t end = source.find("#}", at + 2);
  if (end == source.npos)
    return fail("a comment does not end");
  bool isStripped = end > at + 2 && source[end - 1] == '-';
  moveTo(end);
  closeTag(/*isStatement=*/true, isStripped);
  return {};
}

/// Reads the text between {% raw %} and {% endraw %}. Returns false if the tag is another one.
bool Lexer::readRaw() {
  auto skipSpaces = [&](size_t from) {
    while (from < source.size() && (isSpace(source[from]) || source[from] == '-' || source[from] == '+'))
      ++from;
    return from;
  };
  size_t word = skipSpaces(at + 2), close = skipSpaces(word + 3);
  if (source.substr(std::min(word, source.size()), 3) != "raw" ||
      source.substr(std::min(close, source.size()), 2) != "%}")
    return false;
  size_t begin = close + 2;
  for (size_t open = source.find("{%", begin); open != source.npos; open = source.find("{%", open + 2)) {
    size_t end = skipSpaces(open + 2);
    if (source.substr(end, 6) != "endraw")
      continue;
    if (source[close - 1] == '-')
      while (begin < open && isSpace(source[begin]))
        ++begin;
    else if (begin < open && source[begin] == '\n')
      ++begin;
    moveTo(begin);
    addText(open, "{%");
    size_t last = source.find("%}", open);
    moveTo(last == source.npos ? source.size() - 2 : last);
    closeTag(/*isStatement=*/true, source[at - 1] == '-');
    return true;
  }
  return false;
}

Status Lexer::readString() {
  char mark = source[at];
  std::string text;
  size_t end = at + 1;
  for (; end < source.size() && source[end] != mark; ++end) {
    if (source[end] != '\\' || end + 1 == source.size()) {
      text += source[end];
      continue;
    }
    static constexpr std::string_view kEscapes = "nrtabfv0", kMeanings("\n\r\t\a\b\f\v\0", 8);
    char escape = source[++end];
    size_t which = kEscapes.find(escape);
    if (which != kEscapes.npos)
      text += kMeanings[which];
    else if (escape == '\\' || escape == '\'' || escape == '"')
      text += escape;
    else if (escape == 'x' || escape == 'u' || escape == 'U' || escape == 'N' ||
             std::isdigit(static_cast<unsigned char>(escape)))
      return fail("escapes of characters by number or name are not supported in strings");
    else if (escape != '\n')
      text += {'\\', escape};
  }
  if (end == source.size())
    return fail("a string does not end");
  add(Lexeme::Kind::string, std::move(text));
  moveTo(end + 1);
  return {};
}

void Lexer::readNumber() {
  auto isDigit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) || c == '_'; };
  size_t end = at;
  bool isInteger = true;
  while (end < source.size() && isDigit(source[end]))
    ++end;
  if (end + 1 < source.size() && source[end] == '.' && isDigit(source[end + 1])) {
    isInteger = false;
    for (++end; end < source.size() && isDigit(source[end]);)
      ++end;
  }
  size_t exponent = end + 1;
  if (exponent < source.size() && (source[end] == 'e' || source[end] == 'E')) {
    exponent += source[exponent] == '-' || source[exponent] == '+' ? 1 : 0;
    if (exponent < source.size() && std::isdigit(static_cast<unsigned char>(source[exponent]))) {
      isInteger = false;
      for (end = exponent; end < source.size() && isDigit(source[end]);)
        ++end;
    }
  }
  std::string digits(source.substr(at, end - at));
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  add(isInteger ? Lexeme::Kind::integer : Lexeme::Kind::number, std::move(digits));
  moveTo(end);
}

Status Lexer::readLexeme() {
  static constexpr std::string_view kSigns[] = {"==", "!=", "<=", ">=", "//", "**", "(", ")", "[", "]", "{", "}", ",",
                                                ".",  ":",  "|",  "+",  "-",  "*",  "/", "%", "~", "=", "<", ">"};
  auto first = static_cast<unsigned char>(peek());
  if (first == '\'' || first == '"')
    return readString();
  if (std::isdigit(first)) {
    readNumber();
    return {};
  }
  if (std::isalpha(first) || first == '_') {
    size_t end = at;
    while (end < source.size() && (std::isalnum(static_cast<unsigned char>(source[end])) || source[end] == '_'))
      ++end;
    add(Lexeme::Kind::name, std::string(source.substr(at, end - at)));
    moveTo(end);
    return {};
  }
  for (std::string_view sign : kSigns)
    if (source.substr(at, sign.size()) == sign) {
      add(Lexeme::Kind::sign, std::string(sign));
      moveTo(at + sign.size());
      return {};
    }
  return fail("a tag has an unexpected character");
}

Status Lexer::readTag(bool isStatement) {
  std::string_view closing = isStatement ? "%}" : "}}";
  add(isStatement ? Lexeme::Kind::statement : Lexeme::Kind::expression, "");
  moveTo(at + 2);
  if (peek() == '-' || peek() == '+')
    moveTo(at + 1);
  // limit: each lexeme adds at most one level to the tree, which is traversed recursively.
  constexpr size_t kMaxLexemes = 4000;
  int braces = 0;
  size_t first = lexemes.size();
  while (at < source.size()) {
    if (lexemes.size() - first > kMaxLexemes)
      return fail("a tag has more than 4000 names and signs");
    bool isSigned = (peek() == '-' || (isStatement && peek() == '+')) && source.substr(at + 1, 2) == closing;
    if (braces == 0 && (isSigned || source.substr(at, 2) == closing)) {
      add(Lexeme::Kind::endOfTag, "");
      bool isStripped = isSigned && peek() == '-', isKept = isSigned && peek() == '+';
      if (isSigned)
        moveTo(at + 1);
      closeTag(isStatement && !isKept, isStripped);
      return {};
    }
    if (isSpace(peek())) {
      moveTo(at + 1);
      continue;
    }
    braces += peek() == '{' ? 1 : peek() == '}' ? -1 : 0;
    TENON_TRY(readLexeme());
  }
  return fail("a tag does not end");
}

Status Lexer::run() {
  if (!source.empty() && source.back() == '\n')
    source.remove_suffix(1);
  while (at < source.size()) {
    size_t open = at;
    for (; open + 1 < source.size(); ++open)
      if (source[open] == '{' && (source[open + 1] == '{' || source[open + 1] == '%' || source[open + 1] == '#'))
        break;
    if (open + 1 >= source.size()) {
      addText(source.size(), "");
      break;
    }
    addText(open, source.substr(open, 2));
    if (source[at + 1] == '#')
      TENON_TRY(skipComment());
    else if (source[at + 1] == '{' || !readRaw())
      TENON_TRY(readTag(source[at + 1] == '%'));
  }
  add(Lexeme::Kind::end, "");
  return {};
}

Status tenon::text::jinja::splitTemplate(std::string_view source, std::vector<Lexeme> &lexemes) {
  lexemes.clear();
  return Lexer(source, lexemes).run();
}
