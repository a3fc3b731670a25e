//===- Bf16Dot2.cpp - dot products of two bf16 in vectors ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// vdpbf16ps (AVX512-BF16) adds two products of bf16 to each f32 of a vector. It
// reads columns in pairs of rows, as AMX tiles do.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/Path.h"
#include "passes/paths/SplitProduct.h"

using namespace mlir;
using namespace tenon;

namespace {
struct Bf16Dot2 : public Path {
  explicit Bf16Dot2(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return kBf16Dot2Path; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *) const override { return kSumError; }
  bool isAsExact() const override { return true; }
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override {
    return rewriteSplitProduct(op, 1, rewriter);
  }

private:
  PathPolicy policy;
};
} // namespace

std::optional<double> Bf16Dot2::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<SplitProduct> product =
      machine.bf16Pairs && isa<ContractOp>(op) ? findSplitProduct(op, 1) : std::nullopt;
  if (!product || product->rowTerms != 1)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  int64_t depth = static_cast<int64_t>(shape.depth);
  if (depth < 1)
    return std::nullopt;
  double perCycle = 2 * machine.getMultiplyAdds(sizeof(float));
  double cycles =
      shape.getProducts() / perCycle / policy.bf16Share + (depth % chooseStep(depth) ? policy.bf16SplitLaunch : 0);
  return std::max(cycles, machine.getReadCycles(shape.getWeights() * product->getMatrixBytes()));
}

std::unique_ptr<Path> tenon::createBf16Dot2(const PathPolicy &policy) { return std::make_unique<Bf16Dot2>(policy); }
