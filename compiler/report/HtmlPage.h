//===- HtmlPage.h - what stands around the content of a page ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLPAGE_H
#define TENON_COMPILER_REPORT_HTMLPAGE_H

namespace llvm {
class raw_ostream;
}

namespace tenon {

class Html;

/// A page's head, with styles and a security policy that allows our script and nothing else, and its heading.
void beginPage(const Html &title, llvm::raw_ostream &os);

/// The script, and the end of the page.
void endPage(llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLPAGE_H
