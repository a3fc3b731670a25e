//===- Parser.cpp - templates to trees ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The grammar is that of Jinja's own parser (jinja.palletsprojects.com/templates): , * / // %, **, and signs to what
// stands behind a value: fields, calls, filters and tests.~, * / // %, **, and signs to what stands behind a value:
// fields, calls, filters and tests.
//
//===----------------------------------------------------------------------===//

#include "runtime/text/jinja/Parser.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

using namespace tenon::text::jinja;

using NodePtr = std::unique_ptr<Node>;

namespace {
/// Keeps the first error; the results of parsing after it are meaningless.
class Parser {
public:
  explicit Parser(const std::vector<Lexeme> &lexemes) : lexemes(lexemes) {}

  Status run(NodePtr &root) {
    root = parseBlock({});
    if (!status.failed() && !isKind(Lexeme::Kind::end))
      fail("'" + lexemes[at + 1].content + "' ends nothing");
    return std::move(status);
  }

private:
  using Names = std::initializer_list<std::string_view>;

  const Lexeme &here() const { return lexemes[at]; }
  bool isKind(Lexeme::Kind kind) const { return here().kind == kind; }
  bool isSign(std::string_view sign) const { return isKind(Lexeme::Kind::sign) && here().content == sign; }
  bool isName(std::string_view name) const { return isKind(Lexeme::Kind::name) && here().content == name; }
  bool takeSign(std::string_view sign) { return isSign(sign) && (++at, true); }
  bool takeName(std::string_view name) { return isName(name) && (++at, true); }
  void expectSign(std::string_view sign) {
    if (!takeSign(sign))
      fail("expected '" + std::string(sign) + "'" + found());
  }
  std::string expectName() {
    if (!isKind(Lexeme::Kind::name))
      fail("expected a name" + found());
    return status.failed() ? "" : lexemes[at++].content;
  }
  void expectEnd() {
    if (!isKind(Lexeme::Kind::endOfTag))
      fail("expected the end of the tag" + found());
    else
      ++at;
  }
  std::string found() const { return here().content.empty() ? "" : ", found '" + here().content + "'"; }
  void fail(const std::string &what, tenon_status code = TENON_INVALID) {
    if (!status.failed())
      status = Status::make(code, "line %d: %s", here().line, what.c_str());
    // What follows the fault is not looked at.
    at = lexemes.size() - 1;
  }
  NodePtr make(Node::Kind kind, std::string name = "") {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->line = here().line;
    node->name = std::move(name);
    return node;
  }
  NodePtr make(Node::Kind kind, std::string name, NodePtr first, NodePtr second = nullptr) {
    NodePtr node = make(kind, std::move(name));
    node->children.push_back(std::move(first));
    if (second)
      node->children.push_back(std::move(second));
    return node;
  }
  /// True if a statement with one of these names begins here.
  bool isStatement(Names names) const {
    if (!isKind(Lexeme::Kind::statement) || at + 1 >= lexemes.size())
      return false;
    return std::find(names.begin(), names.end(), lexemes[at + 1].content) != names.end();
  }
  void expectStatement(std::string_view name) {
    if (!isStatement({name}))
      return fail("expected '" + std::string(name) + "'");
    at += 2;
    expectEnd();
  }

  NodePtr parseBlock(Names ends);
  NodePtr parseStatement();
  NodePtr parseFor();
  NodePtr parseIf();
  NodePtr parseSet();
  NodePtr parseMacro();
  NodePtr parseGeneration();
  std::vector<std::string> parseTargets();

  NodePtr parseExpression();
  NodePtr parseTuple();
  NodePtr parseOr();
  NodePtr parseAnd();
  NodePtr parseNot();
  NodePtr parseComparison();
  NodePtr parseSum();
  NodePtr parseConcatenation();
  NodePtr parseProduct();
  NodePtr parsePower();
  NodePtr parseUnary();
  NodePtr parseSigned();
  NodePtr parsePostfix(NodePtr value);
  NodePtr parseFilters(NodePtr value);
  NodePtr parseTest(NodePtr value);
  NodePtr parsePrimary();
  NodePtr parseNumber();
  NodePtr parseList();
  NodePtr parseDict();
  NodePtr parseSubscript(NodePtr object);
  void parseArguments(Node &call);
  NodePtr parseBinary(NodePtr (Parser::*operand)(), Names signs);

  const std::vector<Lexeme> &lexemes;
  size_t at = 0;
  int depth = 0;
  Status status;
};

/// Counts how deep a parser is in itself.
class Nesting {
public:
  explicit Nesting(int &counter) : depth(counter) { ++depth; }
  ~Nesting() { --depth; }
  Nesting(const Nesting &) = delete;
  bool isTooDeep() const {
    constexpr int kMaxDepth = 100; // limit: of the stack; each level takes some fifteen calls
    return depth > kMaxDepth;
  }

private:
  int &depth;
};
} // namespace

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

NodePtr Parser::parseBlock(Names ends) {
  Nesting nesting(depth);
  NodePtr block = make(Node::Kind::block);
  if (nesting.isTooDeep())
    fail("statements nest too deep");
  while (!status.failed() && !isKind(Lexeme::Kind::end)) {
    if (isKind(Lexeme::Kind::text)) {
      block->children.push_back(make(Node::Kind::text, here().content));
      ++at;
    } else if (isKind(Lexeme::Kind::expression)) {
      ++at;
      block->children.push_back(make(Node::Kind::print, "", parseTuple()));
      expectEnd();
    } else if (isStatement(ends)) {
      break;
    } else if (NodePtr statement = parseStatement()) {
      block->children.push_back(std::move(statement));
    }
  }
  return block;
}

NodePtr Parser::parseStatement() {
  static constexpr struct {
    std::string_view name;
    NodePtr (Parser::*parse)();
  } kStatements[] = {{"for", &Parser::parseFor},
                     {"if", &Parser::parseIf},
                     {"set", &Parser::parseSet},
                     {"macro", &Parser::parseMacro},
                     {"generation", &Parser::parseGeneration}};
  if (isStatement({"break", "continue"})) {
    NodePtr node = make(lexemes[at + 1].content == "break" ? Node::Kind::breakLoop : Node::Kind::continueLoop);
    at += 2;
    expectEnd();
    return node;
  }
  for (const auto &[name, parse] : kStatements)
    if (isStatement({name})) {
      at += 2;
      return (this->*parse)();
    }
  std::string name = at + 1 < lexemes.size() ? lexemes[at + 1].content : "";
  if (name.substr(0, 3) == "end" || name == "else" || name == "elif")
    fail("'" + name + "' ends nothing");
  else
    fail("the statement '" + name + "' is not supported", TENON_UNSUPPORTED);
  return nullptr;
}

std::vector<std::string> Parser::parseTargets() {
  bool isBracketed = takeSign("(");
  std::vector<std::string> names{expectName()};
  while (takeSign(","))
    names.push_back(expectName());
  if (isBracketed)
    expectSign(")");
  return names;
}

NodePtr Parser::parseFor() {
  NodePtr node = make(Node::Kind::forLoop);
  node->names = parseTargets();
  if (!takeName("in"))
    fail("expected 'in'" + found());
  // "a if b else c" is not parsed here, because `if` begins a condition in this context.
  node->children.push_back(parseOr());
  node->children.push_back(takeName("if") ? parseExpression() : nullptr);
  if (isName("recursive"))
    fail("'recursive' is not supported", TENON_UNSUPPORTED);
  expectEnd();
  node->children.push_back(parseBlock({"else", "endfor"}));
  NodePtr otherwise;
  if (isStatement({"else"})) {
    expectStatement("else");
    otherwise = parseBlock({"endfor"});
  }
  node->children.push_back(std::move(otherwise));
  expectStatement("endfor");
  return node;
}

NodePtr Parser::parseIf() {
  Nesting nesting(depth);
  NodePtr node = make(Node::Kind::ifElse, "", parseTuple());
  if (nesting.isTooDeep())
    fail("statements nest too deep");
  expectEnd();
  node->children.push_back(parseBlock({"elif", "else", "endif"}));
  NodePtr otherwise;
  if (isStatement({"elif"})) {
    at += 2;
    // It ends this statement, too.
    node->children.push_back(parseIf());
    return node;
  }
  if (isStatement({"else"})) {
    expectStatement("else");
    otherwise = parseBlock({"endif"});
  }
  node->children.push_back(std::move(otherwise));
  expectStatement("endif");
  return node;
}

NodePtr Parser::parseSet() {
  NodePtr node = make(Node::Kind::set);
  node->names = parseTargets();
  if (takeSign(".")) {
    node->name = "field";
    node->names.push_back(expectName());
  }
  if (takeSign("=")) {
    node->children.push_back(parseTuple());
    expectEnd();
    return node;
  }
  if (node->names.size() != 1)
    fail("expected '='" + found());
  node->kind = Node::Kind::setBlock;
  node->name = node->names.front();
  expectEnd();
  node->children.push_back(parseBlock({"endset"}));
  expectStatement("endset");
  return node;
}

NodePtr Parser::parseMacro() {
  NodePtr node = make(Node::Kind::macro, expectName());
  std::vector<NodePtr> defaults;
  expectSign("(");
  while (!status.failed() && !isSign(")")) {
    node->names.push_back(expectName());
    defaults.push_back(takeSign("=") ? parseExpression() : nullptr);
    if (!takeSign(","))
      break;
  }
  expectSign(")");
  expectEnd();
  node->children.push_back(parseBlock({"endmacro"}));
  for (NodePtr &value : defaults)
    node->children.push_back(std::move(value));
  expectStatement("endmacro");
  return node;
}

/// The `generation` block marks the model's output for training; it is printed normally.
NodePtr Parser::parseGeneration() {
  expectEnd();
  NodePtr body = parseBlock({"endgeneration"});
  expectStatement("endgeneration");
  return body;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

NodePtr Parser::parseExpression() {
  Nesting nesting(depth);
  if (nesting.isTooDeep()) {
    fail("expressions nest too deep");
    return make(Node::Kind::constant);
  }
  NodePtr value = parseOr();
  while (takeName("if")) {
    NodePtr condition = parseOr();
    NodePtr node = make(Node::Kind::conditional, "", std::move(condition), std::move(value));
    node->children.push_back(takeName("else") ? parseExpression() : nullptr);
    value = std::move(node);
  }
  return value;
}

/// Parses an expression, or a comma-separated tuple.
NodePtr Parser::parseTuple() {
  NodePtr first = parseExpression();
  if (!isSign(","))
    return first;
  NodePtr list = make(Node::Kind::list, "tuple", std::move(first));
  while (takeSign(",") && !isKind(Lexeme::Kind::endOfTag) && !isSign(")"))
    list->children.push_back(parseExpression());
  return list;
}

NodePtr Parser::parseOr() {
  NodePtr left = parseAnd();
  while (takeName("or"))
    left = make(Node::Kind::andOr, "or", std::move(left), parseAnd());
  return left;
}

NodePtr Parser::parseAnd() {
  NodePtr left = parseNot();
  while (takeName("and"))
    left = make(Node::Kind::andOr, "and", std::move(left), parseNot());
  return left;
}

NodePtr Parser::parseNot() {
  Nesting nesting(depth);
  if (nesting.isTooDeep())
    fail("expressions nest too deep");
  if (takeName("not"))
    return make(Node::Kind::unary, "not", parseNot());
  return parseComparison();
}

NodePtr Parser::parseComparison() {
  static constexpr std::string_view kSigns[] = {"==", "!=", "<=", ">=", "<", ">"};
  NodePtr left = parseSum();
  bool isChained = false;
  while (!status.failed()) {
    std::string name;
    for (std::string_view sign : kSigns)
      if (name.empty() && isSign(sign))
        name = sign;
    if (isName("in"))
      name = "in";
    else if (isName("not") && lexemes[at + 1].content == "in")
      name = "not in";
    if (name.empty())
      break;
    if (isChained) {
      fail("several comparisons in a row are not supported", TENON_UNSUPPORTED);
      break;
    }
    isChained = true;
    at += name == "not in" ? 2 : 1;
    left = make(Node::Kind::binary, name, std::move(left), parseSum());
  }
  return left;
}

NodePtr Parser::parseBinary(NodePtr (Parser::*operand)(), Names signs) {
  NodePtr left = (this->*operand)();
  while (!status.failed() && isKind(Lexeme::Kind::sign) &&
         std::find(signs.begin(), signs.end(), here().content) != signs.end()) {
    std::string sign = lexemes[at++].content;
    left = make(Node::Kind::binary, sign, std::move(left), (this->*operand)());
  }
  return left;
}

NodePtr Parser::parseSum() { return parseBinary(&Parser::parseConcatenation, {"+", "-"}); }
NodePtr Parser::parseConcatenation() { return parseBinary(&Parser::parseProduct, {"~"}); }
NodePtr Parser::parseProduct() { return parseBinary(&Parser::parsePower, {"*", "/", "//", "%"}); }
NodePtr Parser::parsePower() { return parseBinary(&Parser::parseUnary, {"**"}); }

/// A sign binds weaker than fields and calls, and stronger than filters.
NodePtr Parser::parseSigned() {
  Nesting nesting(depth);
  if (nesting.isTooDeep())
    fail("expressions nest too deep");
  for (std::string_view sign : {"-", "+"})
    if (takeSign(sign))
      return make(Node::Kind::unary, std::string(sign), parseSigned());
  return parsePostfix(parsePrimary());
}

NodePtr Parser::parseUnary() { return parseFilters(parseSigned()); }

NodePtr Parser::parsePrimary() {
  const Lexeme &lexeme = here();
  if (takeSign("(")) {
    NodePtr value = isSign(")") ? make(Node::Kind::list, "tuple") : parseTuple();
    expectSign(")");
    return value;
  }
  if (takeSign("["))
    return parseList();
  if (takeSign("{"))
    return parseDict();
  if (isKind(Lexeme::Kind::integer) || isKind(Lexeme::Kind::number))
    return parseNumber();
  NodePtr node = make(Node::Kind::constant);
  if (isKind(Lexeme::Kind::string)) {
    std::string text;
    while (isKind(Lexeme::Kind::string))
      text += lexemes[at++].content;
    node->value = Value(std::move(text));
    return node;
  }
  if (takeName("true") || takeName("True"))
    node->value = true;
  else if (takeName("false") || takeName("False"))
    node->value = false;
  else if (takeName("none") || takeName("None"))
    node->value = Value::None();
  else if (isKind(Lexeme::Kind::name)) {
    ++at;
    node->kind = Node::Kind::variable;
    node->name = lexeme.content;
  } else {
    fail("expected a value" + found());
  }
  return node;
}

NodePtr Parser::parseNumber() {
  NodePtr node = make(Node::Kind::constant);
  const std::string &digits = here().content;
  const char *begin = digits.data(), *end = begin + digits.size();
  int64_t integer = 0;
  double number = 0;
  std::errc fault;
  if (isKind(Lexeme::Kind::integer)) {
    fault = std::from_chars(begin, end, integer).ec;
    node->value = integer;
  } else {
    fault = std::from_chars(begin, end, number).ec;
    node->value = number;
  }
  if (fault != std::errc())
    fail("the number " + digits + " is too large");
  else
    ++at;
  return node;
}

NodePtr Parser::parseList() {
  NodePtr list = make(Node::Kind::list);
  while (!status.failed() && !isSign("]")) {
    list->children.push_back(parseExpression());
    if (!takeSign(","))
      break;
  }
  expectSign("]");
  return list;
}

NodePtr Parser::parseDict() {
  NodePtr dict = make(Node::Kind::dict);
  while (!status.failed() && !isSign("}")) {
    dict->children.push_back(parseExpression());
    expectSign(":");
    dict->children.push_back(parseExpression());
    if (!takeSign(","))
      break;
  }
  expectSign("}");
  return dict;
}

NodePtr Parser::parseSubscript(NodePtr object) {
  auto parsePart = [this]() -> NodePtr { return isSign(":") || isSign("]") ? nullptr : parseExpression(); };
  NodePtr first = parsePart();
  NodePtr node;
  if (isSign(":")) {
    node = make(Node::Kind::slice, "", std::move(object));
    node->children.push_back(std::move(first));
    node->children.push_back(takeSign(":") ? parsePart() : nullptr);
    node->children.push_back(takeSign(":") ? parsePart() : nullptr);
  } else {
    if (!first)
      fail("expected an index");
    node = make(Node::Kind::subscript, "", std::move(object), std::move(first));
  }
  expectSign("]");
  return node;
}

void Parser::parseArguments(Node &call) {
  while (!status.failed() && !isSign(")")) {
    std::string name;
    if (isKind(Lexeme::Kind::name) && lexemes[at + 1].kind == Lexeme::Kind::sign && lexemes[at + 1].content == "=") {
      name = here().content;
      at += 2;
    }
    call.names.push_back(std::move(name));
    call.children.push_back(parseExpression());
    if (!takeSign(","))
      break;
  }
  expectSign(")");
}

NodePtr Parser::parsePostfix(NodePtr value) {
  while (!status.failed()) {
    if (takeSign(".")) {
      if (isKind(Lexeme::Kind::integer))
        value = make(Node::Kind::subscript, "", std::move(value), parseNumber());
      else
        value = make(Node::Kind::attribute, expectName(), std::move(value));
    } else if (takeSign("[")) {
      value = parseSubscript(std::move(value));
    } else if (takeSign("(")) {
      value = make(Node::Kind::call, "", std::move(value));
      parseArguments(*value);
    } else {
      break;
    }
  }
  return value;
}

NodePtr Parser::parseTest(NodePtr value) {
  bool isNegated = takeName("not");
  NodePtr test = make(Node::Kind::test, expectName(), std::move(value));
  bool isArgument = isKind(Lexeme::Kind::string) || isKind(Lexeme::Kind::integer) || isKind(Lexeme::Kind::number) ||
                    isSign("[") || isSign("{") ||
                    (isKind(Lexeme::Kind::name) && !isName("else") && !isName("or") && !isName("and") &&
                     !isName("if") && !isName("is") && !isName("in") && !isName("not"));
  if (takeSign("(")) {
    parseArguments(*test);
  } else if (isArgument) {
    test->names.emplace_back();
    test->children.push_back(parsePostfix(parsePrimary()));
  }
  return isNegated ? make(Node::Kind::unary, "not", std::move(test)) : std::move(test);
}

NodePtr Parser::parseFilters(NodePtr value) {
  while (!status.failed()) {
    if (takeSign("|")) {
      value = make(Node::Kind::filter, expectName(), std::move(value));
      if (takeSign("("))
        parseArguments(*value);
    } else if (takeName("is")) {
      value = parseTest(std::move(value));
    } else {
      break;
    }
  }
  return value;
}

Status tenon::text::jinja::parseTemplate(std::string_view source, std::unique_ptr<Node> &root) {
  std::vector<Lexeme> lexemes;
  TENON_TRY(splitTemplate(source, lexemes));
  return Parser(lexemes).run(root);
}
