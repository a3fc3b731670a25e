//===- CodeSection.h - IR and assembly of kernels in a page ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_CODESECTION_H
#define TENON_COMPILER_REPORT_CODESECTION_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace llvm {
class raw_ostream;
}

namespace tenon {

class ArtifactView;
struct CompileRecord;

/// Writes HTML: a section with the assembly of kernels, in this order, folded behind their names, and their IR where
/// `record` is not null. Kernel 3 is found by the id "c3".
void printCodeSection(const ArtifactView &view, const CompileRecord *record, llvm::ArrayRef<uint32_t> kernels,
                      llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_CODESECTION_H
