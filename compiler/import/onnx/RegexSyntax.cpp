//===- RegexSyntax.cpp - regular expressions as trees ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/RegexSyntax.h"
#include "compiler/errors/CompileError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include <algorithm>
#include <optional>
#include <string>

using namespace llvm;
using namespace tenon;
using namespace tenon::onnx_import;

using NodePtr = std::unique_ptr<RegexNode>;

namespace {

constexpr int kMaxRepeat = 1000, kMaxDepth = 200;

/// A recursive descent parser. After the first error all results are null.
class Parser {
public:
  explicit Parser(StringRef pattern) : rest(pattern) {}

  Expected<NodePtr> parse() {
    NodePtr node = parseChoice();
    if (node && !rest.empty())
      node = fail("has a ')' that nothing opens");
    if (!node)
      return makeError(CompileStatus::unsupported, fault);
    return node;
  }

private:
  NodePtr parseChoice();
  NodePtr parseSequence();
  NodePtr parseRepeats(NodePtr node);
  NodePtr parseAtom();
  NodePtr parseGroup();
  NodePtr parseEscape();
  NodePtr parseBrackets();
  std::optional<CodeRanges> parseClassName();
  std::optional<CodeRanges> parseClassEscape(char letter);
  std::optional<uint32_t> parseCharacterEscape();
  std::optional<uint32_t> parseCodePoint();
  bool parseCounts(int &min, int &max);

  NodePtr fail(const Twine &text) {
    if (fault.empty())
      fault = text.str();
    return nullptr;
  }

  StringRef rest;
  std::string fault;
  bool dotIsAll = false;
  int depth = 0;
};

NodePtr makeSet(CodeRanges ranges) {
  auto node = std::make_unique<RegexNode>();
  node->kind = RegexNode::set;
  node->ranges = std::move(ranges);
  return node;
}

NodePtr makeNode(RegexNode::Kind kind) {
  auto node = std::make_unique<RegexNode>();
  node->kind = kind;
  return node;
}

/// All code points but these.
CodeRanges invert(CodeRanges ranges) {
  llvm::sort(ranges);
  CodeRanges result;
  uint32_t next = 0;
  for (auto [first, last] : ranges) {
    if (first > next)
      result.emplace_back(next, first - 1);
    next = std::max(next, last + 1);
  }
  if (next <= kLastCodePoint)
    result.emplace_back(next, kLastCodePoint);
  return result;
}

std::optional<CodeRanges> getNamedClass(StringRef name) {
  return StringSwitch<std::optional<CodeRanges>>(name)
      .Case("alnum", CodeRanges{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}})
      .Case("alpha", CodeRanges{{'A', 'Z'}, {'a', 'z'}})
      .Case("ascii", CodeRanges{{0, 0x7f}})
      .Case("blank", CodeRanges{{'\t', '\t'}, {' ', ' '}})
      .Case("cntrl", CodeRanges{{0, 0x1f}, {0x7f, 0x7f}})
      .Case("digit", CodeRanges{{'0', '9'}})
      .Case("graph", CodeRanges{{'!', '~'}})
      .Case("lower", CodeRanges{{'a', 'z'}})
      .Case("print", CodeRanges{{' ', '~'}})
      .Case("punct", CodeRanges{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}})
      .Case("space", CodeRanges{{'\t', '\r'}, {' ', ' '}})
      .Case("upper", CodeRanges{{'A', 'Z'}})
      .Case("word", CodeRanges{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}})
      .Case("xdigit", CodeRanges{{'0', '9'}, {'A', 'F'}, {'a', 'f'}})
      .Default(std::nullopt);
}

} // namespace

NodePtr Parser::parseChoice() {
  if (++depth > kMaxDepth)
    return fail("nests too deep");
  NodePtr choice = makeNode(RegexNode::choice);
  do {
    choice->parts.push_back(parseSequence());
    if (!choice->parts.back())
      return nullptr;
  } while (rest.consume_front("|"));
  --depth;
  return choice;
}

NodePtr Parser::parseSequence() {
  NodePtr sequence = makeNode(RegexNode::sequence);
  while (!rest.empty() && rest[0] != '|' && rest[0] != ')') {
    NodePtr part = parseAtom();
    part = part ? parseRepeats(std::move(part)) : nullptr;
    if (!part)
      return nullptr;
    sequence->parts.push_back(std::move(part));
  }
  return sequence;
}

/// Parses "{2}", "{2,}" or "{2,3}"; returns false if the text is none of these, and is therefore literal.
bool Parser::parseCounts(int &min, int &max) {
  StringRef text = rest;
  if (!text.consume_front("{") || text.consumeInteger(10, min))
    return false;
  max = min;
  if (text.consume_front(",") && text.consumeInteger(10, max))
    max = -1;
  if (!text.consume_front("}"))
    return false;
  rest = text;
  return true;
}

NodePtr Parser::parseRepeats(NodePtr node) {
  while (!rest.empty()) {
    int min, max;
    if (rest.consume_front("*"))
      min = 0, max = -1;
    else if (rest.consume_front("+"))
      min = 1, max = -1;
    else if (rest.consume_front("?"))
      min = 0, max = 1;
    else if (!parseCounts(min, max))
      return node;
    if (min > kMaxRepeat || max > kMaxRepeat || (max >= 0 && max < min))
      return fail("repeats something from " + Twine(min) + " to " + Twine(max) + " times");
    // Greediness makes no difference to whether the whole text matches.
    rest.consume_front("?");
    NodePtr repeat = makeNode(RegexNode::repeat);
    repeat->min = min;
    repeat->max = max;
    repeat->parts.push_back(std::move(node));
    node = std::move(repeat);
  }
  return node;
}

/// One character of the pattern itself.
std::optional<uint32_t> Parser::parseCodePoint() {
  auto *begin = reinterpret_cast<const UTF8 *>(rest.begin()), *end = reinterpret_cast<const UTF8 *>(rest.end());
  UTF32 code;
  if (convertUTF8Sequence(&begin, end, &code, strictConversion) != conversionOK) {
    fail("is no UTF-8");
    return std::nullopt;
  }
  rest = rest.drop_front(begin - reinterpret_cast<const UTF8 *>(rest.begin()));
  return code;
}

NodePtr Parser::parseAtom() {
  if (StringRef("*+?").contains(rest[0]))
    return fail("repeats nothing at '" + rest.take_front(8) + "'");
  if (rest.consume_front("."))
    return makeSet(dotIsAll ? CodeRanges{{0, kLastCodePoint}} : invert({{'\n', '\n'}}));
  if (rest.consume_front("^"))
    return makeNode(RegexNode::begin);
  if (rest.consume_front("$"))
    return makeNode(RegexNode::end);
  if (rest.consume_front("("))
    return parseGroup();
  if (rest.consume_front("["))
    return parseBrackets();
  if (rest.consume_front("\\"))
    return parseEscape();
  std::optional<uint32_t> code = parseCodePoint();
  return code ? makeSet({{*code, *code}}) : nullptr;
}

NodePtr Parser::parseGroup() {
  bool dotWasAll = dotIsAll;
  if (rest.consume_front("?")) {
    if (rest.consume_front("P<") || rest.consume_front("<")) {
      if (rest.empty() || StringRef("=!").contains(rest[0]))
        return fail("looks behind, which is not supported");
      rest = rest.drop_front(std::min(rest.find('>'), rest.size() - 1) + 1);
    } else if (rest.consume_front("s")) {
      dotIsAll = true;
      // A flag without a group holds up to the end of the enclosing group.
      if (rest.consume_front(")"))
        return makeNode(RegexNode::sequence);
    } else if (!rest.starts_with(":"))
      return fail("has the flags '(?" + rest.take_until([](char c) { return c == ')' || c == ':'; }) +
                  "', which are not supported");
    if (fault.empty() && rest.starts_with(":"))
      rest = rest.drop_front();
  }
  NodePtr node = parseChoice();
  if (node && !rest.consume_front(")"))
    return fail("has a '(' that nothing closes");
  dotIsAll = dotWasAll;
  return node;
}

/// \d and its kin, after the backslash.
std::optional<CodeRanges> Parser::parseClassEscape(char letter) {
  StringRef name = StringSwitch<StringRef>(StringRef(&letter, 1).lower())
                       .Case("d", "digit")
                       .Case("s", "space")
                       .Case("w", "word")
                       .Default("");
  std::optional<CodeRanges> ranges = getNamedClass(name);
  // Unlike [[:space:]], RE2's \s excludes the vertical tab.
  if (name == "space")
    ranges = CodeRanges{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  return ranges && isUpper(letter) ? invert(*ranges) : ranges;
}

/// Parses an escaped character after the backslash.
std::optional<uint32_t> Parser::parseCharacterEscape() {
  if (rest.empty()) {
    fail("ends in a backslash");
    return std::nullopt;
  }
  if (rest.consume_front("x")) {
    uint32_t code;
    StringRef digits = rest.take_front(2);
    bool isLong = rest.consume_front("{");
    if (isLong)
      digits = rest.take_until([](char c) { return c == '}'; });
    rest = rest.drop_front(std::min(rest.size(), digits.size() + isLong));
    if (!digits.getAsInteger(16, code) && code <= kLastCodePoint)
      return code;
    fail("has the escape '\\x" + digits + "'");
    return std::nullopt;
  }
  static constexpr StringRef kLetters = "aftnrv", kMeanings = "\a\f\t\n\r\v";
  size_t at = kLetters.find(rest[0]);
  char c = rest[0];
  if (isAlnum(c) && at == StringRef::npos) {
    fail("has the escape '\\" + Twine(c) + "', which is not supported");
    return std::nullopt;
  }
  if (static_cast<unsigned char>(c) >= 0x80)
    return parseCodePoint();
  rest = rest.drop_front();
  return at == StringRef::npos ? c : kMeanings[at];
}

NodePtr Parser::parseEscape() {
  if (rest.consume_front("A"))
    return makeNode(RegexNode::begin);
  if (rest.consume_front("z"))
    return makeNode(RegexNode::end);
  if (rest.consume_front("b"))
    return makeNode(RegexNode::boundary);
  if (rest.consume_front("B"))
    return makeNode(RegexNode::notBoundary);
  if (std::optional<CodeRanges> ranges = rest.empty() ? std::nullopt : parseClassEscape(rest[0])) {
    rest = rest.drop_front();
    return makeSet(std::move(*ranges));
  }
  std::optional<uint32_t> code = parseCharacterEscape();
  return code ? makeSet({{*code, *code}}) : nullptr;
}

/// Parses [:alpha:] after the first bracket of the set; none if it is no class.
std::optional<CodeRanges> Parser::parseClassName() {
  StringRef text = rest;
  if (!text.consume_front("[:"))
    return std::nullopt;
  bool isInverted = text.consume_front("^");
  StringRef name = text.take_while([](char c) { return isAlpha(c); });
  std::optional<CodeRanges> ranges = getNamedClass(name);
  if (!ranges || !text.drop_front(name.size()).starts_with(":]"))
    return std::nullopt;
  rest = text.drop_front(name.size() + 2);
  return isInverted ? invert(*ranges) : ranges;
}

NodePtr Parser::parseBrackets() {
  bool isInverted = rest.consume_front("^");
  CodeRanges ranges;
  auto parseOne = [&]() { return rest.consume_front("\\") ? parseCharacterEscape() : parseCodePoint(); };
  // A bracket that comes first stands for itself.
  for (bool isFirst = true; isFirst || !rest.starts_with("]"); isFirst = false) {
    if (rest.empty())
      return fail("has a '[' that nothing closes");
    std::optional<CodeRanges> named = parseClassName();
    if (!named && rest.size() > 1 && rest[0] == '\\')
      if ((named = parseClassEscape(rest[1])))
        rest = rest.drop_front(2);
    if (named) {
      ranges.insert(ranges.end(), named->begin(), named->end());
      continue;
    }
    std::optional<uint32_t> first = parseOne(), last = first;
    if (first && rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
      rest = rest.drop_front();
      last = parseOne();
    }
    if (!first || !last)
      return nullptr;
    if (*first > *last)
      return fail("has a range that ends before it begins");
    ranges.emplace_back(*first, *last);
  }
  rest = rest.drop_front();
  return makeSet(isInverted ? invert(ranges) : ranges);
}

Expected<NodePtr> onnx_import::parseRegex(StringRef pattern) { return Parser(pattern).parse(); }
