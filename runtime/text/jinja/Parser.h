//===- Parser.h - templates to trees --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_JINJA_PARSER_H
#define TENON_RUNTIME_TEXT_JINJA_PARSER_H

#include "runtime/text/jinja/Lexer.h"
#include "runtime/text/jinja/Node.h"

namespace tenon::text::jinja {

/// Parses a template. Fails with TENON_INVALID, or with TENON_UNSUPPORTED for an unknown statement; the message begins
/// with the line.
Status parseTemplate(std::string_view source, std::unique_ptr<Node> &root);

} // namespace tenon::text::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_PARSER_H
