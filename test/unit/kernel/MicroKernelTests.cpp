//===- MicroKernelTests.cpp - the table of micro-kernels ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "passes/Kernel.h"
#include "passes/kernel/contract/MicroKernel.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace tenon;

/// All names that a schedule may have, without `automatic`.
static std::vector<kernel::MicroKernel> getNames() {
  std::vector<kernel::MicroKernel> names;
  for (uint32_t value = 0; value <= kernel::getMaxEnumValForMicroKernel(); ++value)
    if (auto name = kernel::symbolizeMicroKernel(value); name && *name != kernel::MicroKernel::automatic)
      names.push_back(*name);
  return names;
}

TEST_CASE("each name of a micro-kernel is registered once", "[micro-kernel]") {
  CHECK(getMicroKernels().size() == getNames().size());
  for (kernel::MicroKernel name : getNames()) {
    CAPTURE(kernel::stringifyMicroKernel(name).str());
    const MicroKernelEntry *found = findMicroKernel(name);
    REQUIRE(found);
    CHECK(found->name == name);
    CHECK(found->fits);
    CHECK(found->create);
    CHECK(found->rowStep >= 0);
  }
  CHECK_FALSE(findMicroKernel(kernel::MicroKernel::automatic));
}

TEST_CASE("each registered micro-kernel has a round-trip test", "[micro-kernel]") {
  std::ifstream file(TENON_MICRO_KERNEL_TEST);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  for (const MicroKernelEntry *entry : getMicroKernels()) {
    std::string name = kernel::stringifyMicroKernel(entry->name).str();
    CAPTURE(name);
    CHECK(text.str().find("// CHECK: @" + name + "(f32 {test.schedule = #kernel.schedule<micro_kernel = " + name +
                          ">})") != std::string::npos);
  }
}

TEST_CASE("paths name their micro-kernels", "[micro-kernel]") {
  struct Row {
    llvm::StringRef path;
    bool hasTerms;
    std::optional<kernel::MicroKernel> name;
    bool areIntegers = false;
  };
  const Row rows[] = {
      {kAmxInt8Path, false, kernel::MicroKernel::amx_i8},
      {kInt8Dot2Path, false, kernel::MicroKernel::pmaddubsw},
      {kBf16Dot2Path, true, kernel::MicroKernel::bf16_dot},
      {kRoundedF16Path, false, std::nullopt},
      {"bf16x6", true, kernel::MicroKernel::amx_bf16},
      {"", true, kernel::MicroKernel::amx_bf16},
      {"int8x6", true, kernel::MicroKernel::amx_i8_terms, /*areIntegers=*/true},
      {"", true, kernel::MicroKernel::amx_i8_terms, /*areIntegers=*/true},
      {"panels", false, std::nullopt},
      {"", false, std::nullopt},
  };
  for (const Row &row : rows) {
    CAPTURE(row.path.str(), row.hasTerms);
    Contraction contraction{};
    if (row.hasTerms)
      contraction.terms.emplace().areIntegers = row.areIntegers;
    const MicroKernelEntry *entry = findMicroKernelOfPath(row.path, contraction);
    CHECK((entry ? std::optional(entry->name) : std::nullopt) == row.name);
  }
}
