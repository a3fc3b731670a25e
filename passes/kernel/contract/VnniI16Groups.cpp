//===- VnniI16Groups.cpp - dot products of i16 groups that have scales ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vpdpwssd sums two products of i16 in each lane. Whoever makes the integers sees to it
// that no sum of a group exceeds i32 (passes/paths/int16).
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel.h"
#include "passes/kernel/I16Pairs.h"
#include "passes/kernel/contract/IntegerGroupKernel.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
class VnniI16Groups : public IntegerGroupKernel {
public:
  using IntegerGroupKernel::IntegerGroupKernel;

protected:
  int64_t countOtherRegisters() const override {
    constexpr int64_t kWeights = 3; // limit: registers of weights and of a row
    return kWeights;
  }
  int64_t getUnrolledWords() const override {
    constexpr int64_t kUnrolled = 4; // limit: of the code's size
    return kUnrolled;
  }
  void addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) override;
};
} // namespace

void VnniI16Groups::addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) {
  SmallVector<Value> weights = llvm::map_to_vector(llvm::seq(vectors), [&](int64_t v) { return loadWords(v); });
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value factors = loadRow(row, step, /*offset=*/0);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = sums[i * vectors + v];
      sum = addI16Dots(b, loc, problem.int8Dot, sum, factors, weights[v]);
    }
  }
}

static bool fits(const ContractionProblem &problem) {
  const std::optional<IntegerGroups> &groups = problem.contraction.integerGroups;
  return groups && !groups->areBytes() && problem.int8Dot == Int8Dot::vnni;
}

static bool implements(StringRef path, const Contraction &contraction) {
  return path == kRoundedInt16GroupsPath && contraction.integerGroups && !contraction.integerGroups->areBytes();
}

const MicroKernelEntry tenon::kVnniI16Groups = {
    .name = kernel::MicroKernel::vnni_i16_groups,
    .fits = fits,
    .create = createMicroKernel<VnniI16Groups>,
    .implements = implements,
};
