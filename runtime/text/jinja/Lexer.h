//===- Lexer.h - templates as tokens --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_LEXER_H
#define TENON_RUNTIME_TEXT_JINJA_LEXER_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::text::jinja {

using rt::Status;

/// A part of a template.
struct Lexeme {
  enum class Kind {
    text,       ///< between tags, printed as it is
    expression, ///< {{
    statement,  ///< {%
    endOfTag,   ///< }} or %}
    name,
    string,
    integer,
    number,
    sign, ///< an operator or a bracket
    end
  };
  Kind kind;
  std::string content;
  int line;
};

/// Splits a template, with the settings that chat templates assume: a line break after a statement and the spaces
/// before a statement at the start of a line are dropped (trim_blocks, lstrip_blocks), and so is the last line break.
Status splitTemplate(std::string_view source, std::vector<Lexeme> &lexemes);

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_LEXER_H
