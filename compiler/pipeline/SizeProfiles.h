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

/// The programs that --specialize requests besides the one for all sizes, named as by `tenon-specialize`. The runtime
/// tries `fixed` before `ranged`.
struct SizePrograms {
  std::vector<std::vector<NamedRange>> fixed, ranged;

  /// All of them in order, each once.
  std::vector<std::string> list() const;
};

/// Adds the programs for the value of `--specialize`: symbols joined by ";", each N=MIN,BEST,MAX, N=FIRST..LAST or
/// N=VALUE. All values of a small range, or BEST, get a program with static sizes; MIN to MAX gets one with that range
/// and the size hint BEST. The names of the symbols are added to `symbols`. An error of category `misuse` describes a
/// malformed text.
llvm::Error addProfile(llvm::StringRef text, SizePrograms &programs, std::vector<std::string> &symbols);

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_SIZEPROFILES_H
