//===- HtmlPage.h - what stands around the content of a page ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLPAGE_H
#define TENON_COMPILER_REPORT_HTMLPAGE_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}

namespace tenon {

class Html;

/// Writes a page: its head, with styles and a security policy that only allows our script, the heading, links to those
/// sections of `content` that have an id, the content, and the script. `content` is markup.
void printPage(const Html &title, llvm::StringRef content, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLPAGE_H
