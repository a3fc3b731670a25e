//===- HtmlReport.h - an artifact as a page --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLREPORT_H
#define TENON_COMPILER_REPORT_HTMLREPORT_H

#include "compiler/report/ArtifactView.h"
#include "compiler/report/CompileRecord.h"
#include <string>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Which page to write about an artifact.
struct ReportOptions {
  std::string artifact, report; ///< paths of the artifact and of the page
  SizeArguments sizes;
  ArtifactView::Choice choice;
  std::string measurements;              ///< path of a file for parseMeasurements; empty for none
  const CompileRecord *record = nullptr; ///< of the compilation that has just written the artifact, if any
};

/// Writes a self-contained file that runs no script but its own. Dynamic dimensions without a size in `sizes` get an
/// assumed size, which the page reports, with the command for other ones. On failure prints one line to `errors`.
/// Returns an exit code.
int writeHtmlReport(const ReportOptions &options, llvm::raw_ostream &errors);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLREPORT_H
