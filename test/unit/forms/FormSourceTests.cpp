//===- FormSourceTests.cpp - what all sources of forms keep -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/forms/FormSource.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/Path.h"
#include <catch2/catch.hpp>
#include <map>

using namespace tenon;

TEST_CASE("each name of a form is that of one source, and no path's") {
  std::map<std::string, int> counts;
  for (const auto &source : getFormSources()) {
    CHECK(!source->getName().empty());
    CHECK(source->getForms().size() >= 2);
    for (llvm::StringRef form : source->getForms())
      ++counts[form.str()];
  }
  for (const auto &path : getPaths())
    CHECK(!counts.count(path->getName().str()));
  std::map<std::string, int> listed;
  for (llvm::StringRef form : kFormNames)
    ++listed[form.str()];
  CHECK(counts == listed);
  for (const auto &[name, count] : counts)
    CHECK(count == 1);
}
