//===- HtmlScript.h - the script of the page about an artifact -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLSCRIPT_H
#define TENON_COMPILER_REPORT_HTMLSCRIPT_H

#include <string>

namespace tenon {

/// The script for zooming, dragging and searching pictures of graphs, and for expanding the targets of links. The rest
/// of the page works without it.
extern const char *const kHtmlScript;

/// The source expression 'sha256-...' for the page's security policy, which allows this script and no other.
std::string getScriptHash();

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLSCRIPT_H
