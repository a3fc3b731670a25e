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

/// Writes an HTML section with the assembly of kernels, in this order, collapsed behind their names, and their IR if
/// `record` is not null. Kernel 3 has the id "c3".
void printCodeSection(const ArtifactView &view, const CompileRecord *record, llvm::ArrayRef<uint32_t> kernels,
                      llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_CODESECTION_H
