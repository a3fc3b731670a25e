//===- Roofline.h - kernels and the limits of a machine --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_ROOFLINE_H
#define TENON_COMPILER_REPORT_ROOFLINE_H

namespace llvm {
class raw_ostream;
}

namespace tenon {

class ArtifactView;
struct Measurements;

/// Writes an HTML plot of kernels by arithmetic intensity: if they have times, by their performance below the machine's
/// roof; if only the roof is known, on the roof; if `measured` is null, by their share of all arithmetic. Points link
/// to the kernels' rows, whose ids are "k3".
void printRoofline(const ArtifactView &view, const Measurements *measured, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_ROOFLINE_H
