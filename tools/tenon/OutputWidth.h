//===- OutputWidth.h - how wide tables may be -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_OUTPUTWIDTH_H
#define TENON_TOOLS_TENON_OUTPUTWIDTH_H

#include <cstddef>

namespace tenon {

/// Returns the columns of the terminal on standard output, or of a page if it is no terminal.
size_t getOutputWidth();

} // namespace tenon

#endif // TENON_TOOLS_TENON_OUTPUTWIDTH_H
