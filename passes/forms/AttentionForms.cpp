//===- AttentionForms.cpp - attention as one kernel, as several, or in splits -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/PathPolicy.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/forms/FormSource.h"
#include "passes/fusion/AttentionMatch.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"
#include "passes/paths/SplitProduct.h"
#include "passes/paths/split/Bf16Terms.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

static constexpr llvm::StringLiteral kForms[] = {kSplitAttentionForm, kFusedAttentionForm, kSplitKeysForm,
                                                 kFusedBf16AttentionForm};
enum Form : size_t { kSplit, kFused, kSplitKeys, kFusedBf16 };

namespace {
struct AttentionForms : public FormSource {
  explicit AttentionForms(const FormPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "attention"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  /// Scores in memory are the exception.
  size_t getDefault() const override { return kFused; }
  /// Reshapes stand next to what they are views of by then, and masks are not transposed yet.
  bool isLate() const override { return true; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  bool hasForm(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<double> estimateErrors(const FormSite &site, size_t form) const override;
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t form, RewriterBase &) const override;

private:
  static AttentionMatch getMatch(const FormSite &site) {
    return *matchAttention(cast<ContractOp>(site.operations.back()));
  }
  double estimateReading(const FormSite &site, size_t form, const Machine &machine) const;
  bool hasAmxTiles(const AttentionMatch &match, const Machine &machine) const {
    return machine.amxBf16 && fillsAmxTiles(match, attention);
  }
  double estimateBf16(const AttentionMatch &match, const Machine &machine) const;
  double estimateAmx(const AttentionMatch &match) const;

  FormPolicy policy;
  AttentionPolicy attention;
  PathPolicy paths;
};
} // namespace

static FormSite makeSite(const AttentionMatch &match) {
  FormSite site;
  site.operations.push_back(match.scores);
  llvm::append_range(site.operations, match.before);
  site.operations.push_back(match.softmax);
  llvm::append_range(site.operations, match.after);
  llvm::raw_string_ostream os(site.region);
  os << "attention " << PathRegion::get(match.scores).text << ";";
  for (Operation *op : ArrayRef(site.operations).drop_front())
    os << ' ' << op->getName();
  os << "; " << PathRegion::get(match.mix).text;
  // A guard that replaces NaN weights by zero also reads the softmax.
  if (match.zeroesQueries) {
    auto select = cast<SelectOp>(*llvm::find_if(match.softmax->getUsers(), llvm::IsaPred<SelectOp>));
    llvm::append_range(site.operations, SmallVector<Operation *>{select.getCondition().getDefiningOp(), select});
  }
  llvm::sort(site.operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  // The last one is what the attention ends with.
  site.operations.push_back(match.mix);
  return site;
}

std::vector<FormSite> AttentionForms::listSites(func::FuncOp function) const {
  SmallVector<ContractOp> contractions;
  function.walk([&](ContractOp op) { contractions.push_back(op); });
  std::vector<FormSite> sites;
  for (ContractOp op : contractions)
    if (std::optional<AttentionMatch> match = matchAttention(op);
        match && (isFusible(*match, attention) || isSplittable(*match, attention)))
      sites.push_back(makeSite(*match));
  return sites;
}

bool AttentionForms::hasForm(const FormSite &site, size_t form, const Machine &machine) const {
  switch (form) {
  case kSplit:
    return true;
  case kFused:
    return isFusible(getMatch(site), attention);
  case kSplitKeys:
    return isSplittable(getMatch(site), attention);
  default:
    return (machine.bf16Pairs || hasAmxTiles(getMatch(site), machine)) && canRoundFactors(getMatch(site), attention);
  }
}

/// Each of the two products rounds both of its factors.
SmallVector<double> AttentionForms::estimateErrors(const FormSite &, size_t form) const {
  double error = kSumError + std::sqrt(2) * kBf16RoundingError;
  return form == kFusedBf16 ? SmallVector<double>{error, error} : SmallVector<double>();
}

SmallVector<Operation *> AttentionForms::take(const FormSite &site, size_t form, RewriterBase &) const {
  Operation *op;
  if (form == kFused || form == kFusedBf16)
    op = fuseAttention(getMatch(site), attention, /*roundsFactors=*/form == kFusedBf16);
  else
    op = splitAttention(getMatch(site), attention);
  return op ? SmallVector<Operation *>{op} : SmallVector<Operation *>();
}

/// Estimates the additional cycles for reading keys and values below the memory bandwidth, if there are few queries.
double AttentionForms::estimateReading(const FormSite &site, size_t form, const Machine &machine) const {
  AttentionMatch match = getMatch(site);
  if (form == kSplitKeys || !isSplittable(match, attention))
    return 0;
  SizeHints hints(match.mix->getParentOfType<func::FuncOp>());
  auto getBytes = [&](Value tensor) {
    double bytes = getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() / 8;
    for (AffineExpr dim : getDims(tensor))
      bytes *= estimateExtent(hints, dim);
    return bytes;
  };
  // Either operand of the first product may have the keys: those are more than the queries.
  double bytes = std::max(getBytes(match.scores.getLhs()), getBytes(match.scores.getRhs())) +
                 getBytes(match.mix->getOperand(1 - match.weightsNumber));
  return machine.getReadCycles(bytes) * (1 / policy.interleavedShare - 1);
}

/// Estimates the cycles of the products in one kernel that rounds their factors to bf16. Keys and values are rounded
/// again for each tile of queries.
double AttentionForms::estimateBf16(const AttentionMatch &match, const Machine &machine) const {
  double cycles = 0;
  for (ContractOp product : {match.scores, match.mix}) {
    // A sum of an odd number of products has a pair that is half empty.
    ProductShape shape = *getProductShape(product);
    double padding = 2 * std::ceil(shape.depth / 2) / std::max(shape.depth, 1.0);
    double tiles = std::ceil(shape.rows / static_cast<double>(attention.tileQueries));
    cycles += padding * estimateFloats(product, machine, policy.attentionBf16Share);
    cycles += shape.repetitions * shape.depth * shape.columns * tiles * policy.bf16PairCycles;
  }
  return cycles;
}

/// Estimates the cycles of the same products in AMX tiles. A block of keys adds to the sums of values, and its values
/// are transposed as pairs.
double AttentionForms::estimateAmx(const AttentionMatch &match) const {
  constexpr double kRows = 16; // format: rows and columns of an AMX tile
  double cycles = paths.amxBeginCycles;
  for (ContractOp product : {match.scores, match.mix}) {
    ProductShape shape = *getProductShape(product);
    if (shape.getProducts() < 1)
      continue;
    bool isOfValues = product == match.mix;
    double tiles =
        shape.rows / shape.neighbours * std::ceil(shape.neighbours / kRows) * std::ceil(shape.columns / kRows);
    double steps = std::ceil(shape.depth / static_cast<double>(chooseStep(static_cast<int64_t>(shape.depth))));
    double sums = isOfValues ? std::ceil(shape.depth / static_cast<double>(attention.bf16BlockKeys)) : 1;
    cycles += shape.repetitions * tiles * (steps * paths.getAmxStepCycles(1, 1, 1) + sums * paths.amxBf16SumCycles);
    double elements = shape.repetitions * shape.depth * shape.columns *
                      std::ceil(shape.rows / static_cast<double>(attention.tileQueries));
    cycles += elements * (policy.bf16PairCycles + (isOfValues ? policy.amxTransposeCycles : 0));
  }
  return cycles;
}

double AttentionForms::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  AttentionMatch match = getMatch(site);
  double reading = estimateReading(site, form, machine);
  if (form != kSplit) {
    // What combines splits is a kernel of its own.
    double cycles = (form == kSplitKeys ? 2 : 1) * machine.launchCycles;
    // Other products have no paths whose cycles the other form would count.
    if (form == kFusedBf16)
      return cycles + reading + (hasAmxTiles(match, machine) ? estimateAmx(match) : estimateBf16(match, machine));
    for (ContractOp product : {match.scores, match.mix})
      cycles += isProductOfFloats(product) ? estimateFloats(product, machine, policy.attentionShare) : 0;
    return cycles + reading;
  }
  SizeHints hints(match.mix->getParentOfType<func::FuncOp>());
  double bytes = getElementBytes(match.softmax);
  for (AffineExpr dim : getDims(match.softmax.getResult()))
    bytes *= estimateExtent(hints, dim);
  // Scores are written and read twice, by a kernel for the first product, one for the softmax, and one for the second.
  return 3 * machine.launchCycles + 4 * bytes / machine.llcBytesPerCycle + reading;
}

std::unique_ptr<FormSource> tenon::createAttentionForms(const FormPolicy &policy) {
  return std::make_unique<AttentionForms>(policy);
}
