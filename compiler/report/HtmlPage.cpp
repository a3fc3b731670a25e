//===- HtmlPage.cpp - what stands around the content of a page -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/HtmlPage.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlScript.h"
#include "compiler/report/HtmlStyle.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

/// Prints links to the sections that begin with <section id="..."><h2>. Text cannot contain this, since it is escaped.
static void printNavigation(llvm::StringRef content, llvm::raw_ostream &os) {
  os << "<nav>";
  for (llvm::StringRef rest = content;;) {
    rest = rest.split("<section id=\"").second;
    if (rest.empty())
      break;
    auto [id, heading] = rest.split("\"><h2>");
    os << "<a href=\"#" << id << "\">" << heading.split("</h2>").first << "</a> ";
  }
  os << "</nav>\n";
}

void tenon::printPage(const Html &title, llvm::StringRef content, llvm::raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src "
     << getScriptHash() << "\">\n<title>" << title << "</title>\n<style>" << kHtmlStyle
     << "</style>\n</head>\n<body>\n<h1>" << title << "</h1>\n";
  printNavigation(content, os);
  os << content << "<script>" << kHtmlScript << "</script>\n</body>\n</html>\n";
}
