//===- WeightFormats.h - what an artifact says of the formats of its weights ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the JSON section, where --weights was given: `weight_formats` has the number of `candidates`, and for each of the
// `matrices` that have another format than in the model `name`, `format`, `shape`, `bytes_before`, `bytes` and `error`,
// the root of the sum of squared errors over that of squares: of elements, or of products with the inputs that a matrix
// was calibrated with. `calibration` has `name` and `xxh3` of the files and folders of these inputs, and
// `calibration_runs` says how many runs they are. Where it was measured, `error` has what outputs differ by from those
// with the model's own weights, like `error` of the whole (ErrorFigures.h).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_WEIGHTFORMATS_H
#define TENON_COMPILER_REPORT_WEIGHTFORMATS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tenon {

/// Returns "31 of 40 matrices in int4 (group 32), 512 MiB -> 78 MiB; largest relative error 7.8 % (layers.3.mlp.down)"
/// for each format, and a line about outputs if they were compared; empty if no formats were requested. Printable
/// whatever the section contains.
std::vector<std::string> listWeightFormats(llvm::StringRef meta);

/// Prints a table of the matrices, those with the largest errors first; `all` of them or some. Prints nothing if there
/// are none.
void printWeightFormats(llvm::StringRef meta, bool all, size_t width, llvm::raw_ostream &os);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_WEIGHTFORMATS_H
