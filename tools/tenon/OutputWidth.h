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

/// Columns of the terminal that standard output is, or of a page where it is none.
size_t getOutputWidth();

} // namespace tenon

#endif // TENON_TOOLS_TENON_OUTPUTWIDTH_H
