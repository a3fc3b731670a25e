//===- SizeProfiles.h - the sizes that an artifact has programs for -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_SIZEPROFILES_H
#define TENON_COMPILER_PIPELINE_SIZEPROFILES_H

#include "dialects/tenon/Ranges.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// The programs that profiles ask for, besides the one for all sizes, as `tenon-specialize` names them. The runtime
/// looks through `fixed` before `ranged`.
struct SizePrograms {
  std::vector<std::vector<NamedRange>> fixed, ranged;

  /// All of them in order, each once.
  std::vector<std::string> list() const;
};

/// Adds what `--specialize` asks for: symbols joined by ";", each N=MIN,BEST,MAX, N=FIRST..LAST or N=VALUE. All values
/// of a small range, or BEST, get a program with the sizes as constants; MIN to MAX one with that range, in which BEST
/// is usual. The names of the symbols go to `symbols`. An error of category `misuse` says what is wrong with the text.
llvm::Error addProfile(llvm::StringRef text, SizePrograms &programs, std::vector<std::string> &symbols);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_SIZEPROFILES_H
