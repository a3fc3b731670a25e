//===- ErrorFigures.h - what an artifact says of its error ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the JSON section: `tolerance`; in `error` either `not_measured`, a text, or
// `input_sets`, `inputs` ("given" or "generated"), `largest`, maybe the `emulator`
// that took the place of the target, and for each output `name` and `error` (null
// where it is not finite), or `differing` of `elements`, and maybe an `own_error`, of
// the model's own f16 or bf16, and a `note`, why the error cannot be bounded; of integers maybe a `score_error`, or
// `scores`, the output that they are chosen by. `goes_on` where states were those of an earlier run. In `paths`, how
// many `choices` of paths there were, and the `largest_error` of an operation that is computed in another way than its
// own.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_ERRORFIGURES_H
#define TENON_COMPILER_REPORT_ERRORFIGURES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// Returns one line for each output, and one about the choice of paths; none if the section has no errors, or is not in
/// the compiler's format. Printable whatever the section contains.
std::vector<std::string> listErrors(llvm::StringRef meta);

/// Returns the largest measured error among outputs that count, relative to the largest element; none if there is no
/// such output, or if the error is not finite.
std::optional<double> getLargestError(llvm::StringRef meta);

/// Returns the number of outputs whose error cannot be bounded, and of all outputs; 0 of 0 if nothing was measured.
std::pair<size_t, size_t> countUnbounded(llvm::StringRef meta);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_ERRORFIGURES_H
