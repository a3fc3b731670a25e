//===- HtmlReport.h - an artifact as a page --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLREPORT_H
#define TENON_COMPILER_REPORT_HTMLREPORT_H

#include "compiler/report/Sizes.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Writes a page about an artifact to the file `report`: one file that needs no other and runs no script. Open
/// dimensions that `sizes` says nothing of get a size to draw the memory map for, which the page tells. Prints one
/// line on `errors` where it cannot. Returns an exit code.
int writeHtmlReport(const std::string &artifact, const SizeArguments &sizes, const std::string &report,
                    llvm::raw_ostream &errors);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLREPORT_H
