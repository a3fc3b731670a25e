//===- Depfile.h - which files an output was made of ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule of make, "OUTPUT: FILE FILE...", which make and ninja read to know when to compile again.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_DEPFILE_H
#define TENON_COMPILER_DRIVER_DEPFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tenon {

/// Prints the rule for `output` and its input files, without duplicates.
std::string printDepfile(llvm::StringRef output, std::vector<std::string> files);

/// Returns the files of a rule that printDepfile has printed.
std::vector<std::string> parseDepfile(llvm::StringRef text);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_DEPFILE_H
