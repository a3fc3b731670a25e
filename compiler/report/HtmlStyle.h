//===- HtmlStyle.h - how the page about an artifact looks ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_HTMLSTYLE_H
#define TENON_COMPILER_REPORT_HTMLSTYLE_H

namespace tenon {

/// The style sheet, for light and dark displays and for widths from 400 pixels on.
extern const char *const kHtmlStyle;

} // namespace tenon

#endif // TENON_COMPILER_REPORT_HTMLSTYLE_H
