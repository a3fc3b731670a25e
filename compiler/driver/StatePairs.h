//===- StatePairs.h - which outputs a model keeps for the next run ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_STATEPAIRS_H
#define TENON_COMPILER_DRIVER_STATEPAIRS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tenon {

/// Expands the patterns of --state: "past.*.key=present.*.key" pairs each input that the left side matches with the
/// output whose name has the same text in place of the star. A pattern without a star is one pair. Returns the pairs as
/// "INPUT=OUTPUT", in the order of the patterns and of the inputs. Fails if a pattern is malformed or matches no input,
/// or if an input has no such output or is matched twice.
llvm::Expected<std::vector<std::string>> expandStatePairs(llvm::ArrayRef<std::string> patterns,
                                                          llvm::ArrayRef<std::string> inputs,
                                                          llvm::ArrayRef<std::string> outputs);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_STATEPAIRS_H
