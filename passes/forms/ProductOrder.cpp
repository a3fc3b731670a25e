//===- ProductOrder.cpp - which of three factors are multiplied first -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products are associative: (A * B) * C is A * (B * C), in another number of operations. With rows of queries, keys and
// values the scores of attention without a softmax need not be computed at all. In einsums any two of the factors may
// come first: an index is summed as soon as neither the third factor nor the result has it.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/forms/FormSource.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"

using namespace mlir;
using namespace tenon;

namespace {
using Indices = SmallVector<int64_t>;

/// A factor of two nested contractions, with the index of each of its dimensions.
struct Factor {
  Value value;
  Indices indices;
};

/// Two nested contractions of three factors, with a common numbering of indices.
struct Chain {
  ContractOp inner, outer;
  std::array<Factor, 3> factors; ///< the first two are those of the inner contraction
  Indices result;
};
} // namespace

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// True if an index occurs twice in a factor, which denotes a diagonal.
static bool hasDiagonal(ArrayRef<int64_t> indices) {
  return llvm::any_of(indices, [&](int64_t index) { return llvm::count(indices, index) > 1; });
}

/// True if each index has the same extent in all factors. An extent of 1 would be broadcast, at a place that depends on
/// the order.
static bool haveSameExtents(const Chain &chain) {
  llvm::SmallDenseMap<int64_t, AffineExpr> extents;
  for (const Factor &factor : chain.factors)
    for (auto [index, dim] : llvm::zip(factor.indices, getDims(factor.value)))
      if (extents.try_emplace(index, dim).first->second != dim || isUnknownDim(dim))
        return false;
  return true;
}

static std::optional<Chain> matchChain(ContractOp outer, unsigned innerNumber) {
  auto inner = outer->getOperand(innerNumber).getDefiningOp<ContractOp>();
  if (!inner || !inner->hasOneUse() || inner->getBlock() != outer->getBlock() || !isProductOfFloats(inner) ||
      !isProductOfFloats(outer) || !inner->getDiscardableAttrs().empty() || !outer->getDiscardableAttrs().empty())
    return std::nullopt;
  Chain chain{inner, outer, {}, {}};
  chain.factors[0] = {inner.getLhs(), llvm::to_vector(inner.getLhsDims())};
  chain.factors[1] = {inner.getRhs(), llvm::to_vector(inner.getRhsDims())};
  ArrayRef<int64_t> product = innerNumber == 0 ? outer.getLhsDims() : outer.getRhsDims();
  ArrayRef<int64_t> third = innerNumber == 0 ? outer.getRhsDims() : outer.getLhsDims();
  for (ArrayRef<int64_t> indices :
       {inner.getLhsDims(), inner.getRhsDims(), inner.getResultDims(), product, third, outer.getResultDims()})
    if (hasDiagonal(indices))
      return std::nullopt;
  // The indices of the outer contraction are renamed to those of the inner one where both share them.
  int64_t next = 0;
  for (ArrayRef<int64_t> indices : {inner.getLhsDims(), inner.getRhsDims()})
    for (int64_t index : indices)
      next = std::max(next, index + 1);
  llvm::SmallDenseMap<int64_t, int64_t> renamed;
  for (auto [theirs, ours] : llvm::zip(product, inner.getResultDims()))
    renamed[theirs] = ours;
  auto rename = [&](int64_t index) {
    auto [it, isNew] = renamed.try_emplace(index, next);
    next += isNew;
    return it->second;
  };
  chain.factors[2] = {outer->getOperand(1 - innerNumber), {}};
  llvm::transform(third, std::back_inserter(chain.factors[2].indices), rename);
  llvm::transform(outer.getResultDims(), std::back_inserter(chain.result), rename);
  return haveSameExtents(chain) ? std::optional(std::move(chain)) : std::nullopt;
}

/// Of the operations of a site, or of a contraction.
static std::optional<Chain> matchChain(ContractOp outer) {
  for (unsigned innerNumber : {0, 1})
    if (std::optional<Chain> chain = matchChain(outer, innerNumber))
      return chain;
  return std::nullopt;
}

static FormSite makeSite(const Chain &chain) {
  FormSite site{{chain.inner, chain.outer}, {}};
  llvm::raw_string_ostream os(site.region);
  os << "order " << PathRegion::get(chain.inner).text << "; " << PathRegion::get(chain.outer).text << "; operand "
     << (chain.outer->getOperand(0) == chain.inner->getResult(0) ? 0 : 1);
  return site;
}

//===----------------------------------------------------------------------===//
// Another order
//===----------------------------------------------------------------------===//

/// Creates the contraction of two factors with the indices that are kept.
static Factor multiply(OpBuilder &builder, Location loc, const Factor &x, const Factor &y, ArrayRef<int64_t> kept) {
  auto product = ContractOp::create(builder, loc, x.value, y.value, x.indices, y.indices, kept, TypeAttr());
  return {product, llvm::to_vector(kept)};
}

/// Lists the indices of two factors that the third factor or the result has, too.
static Indices listKept(const Factor &x, const Factor &y, const Factor &third, ArrayRef<int64_t> result) {
  Indices kept;
  for (const Factor *factor : {&x, &y})
    for (int64_t index : factor->indices)
      if (!llvm::is_contained(kept, index) &&
          (llvm::is_contained(third.indices, index) || llvm::is_contained(result, index)))
        kept.push_back(index);
  return kept;
}

/// Creates the other order, in which `alone` is the factor that is multiplied last.
static SmallVector<Operation *> reorder(const Chain &chain, unsigned alone, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(chain.outer);
  const Factor &other = chain.factors[1 - alone], &third = chain.factors[2], &last = chain.factors[alone];
  Factor first = multiply(rewriter, chain.inner->getLoc(), other, third, listKept(other, third, last, chain.result));
  Factor result = multiply(rewriter, chain.outer->getLoc(), last, first, chain.result);
  rewriter.replaceOp(chain.outer, result.value);
  rewriter.eraseOp(chain.inner);
  return {first.value.getDefiningOp(), result.value.getDefiningOp()};
}

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kForms[] = {kGivenOrderForm, kLastPairForm, kOuterPairForm};

namespace {
/// What is known of sizes.
class Extents {
public:
  explicit Extents(const Chain &chain) : hints(chain.outer->getParentOfType<func::FuncOp>()) {
    for (const Factor &factor : chain.factors)
      for (auto [index, dim] : llvm::zip(factor.indices, getDims(factor.value)))
        extents[index] = estimateExtent(hints, dim);
  }
  double countElements(ArrayRef<int64_t> indices) const {
    double count = 1;
    for (int64_t index : indices)
      count *= extents.lookup(index);
    return count;
  }

private:
  SizeHints hints;
  llvm::SmallDenseMap<int64_t, double> extents;
};

struct ProductOrder : public FormSource {
  explicit ProductOrder(const FormPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "the order of products"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  bool hasForm(const FormSite &site, size_t form, const Machine &) const override {
    return form == 0 || hasOrder(getChain(site), form);
  }
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  /// The other order rounds sums of other products, twice as in the original.
  SmallVector<double> estimateErrors(const FormSite &, size_t form) const override {
    return form == 0 ? SmallVector<double>() : SmallVector<double>{2 * kSumError};
  }
  SmallVector<Operation *> take(const FormSite &site, size_t form, RewriterBase &rewriter) const override {
    return reorder(getChain(site), form - 1, rewriter);
  }

private:
  static Chain getChain(const FormSite &site) { return *matchChain(cast<ContractOp>(site.operations.back())); }
  bool hasOrder(const Chain &chain, size_t form) const;

  FormPolicy policy;
};
} // namespace

/// The indices of what is computed first.
static Indices listFirst(const Chain &chain, size_t form) {
  unsigned last = form == 0 ? 2 : form - 1;
  return listKept(chain.factors[last == 0 ? 1 : 0], chain.factors[last == 2 ? 1 : 2], chain.factors[last],
                  chain.result);
}

/// True if a form applies. Factors that share no summed index would form an outer product, and the intermediate result
/// must not need more memory than the original expression.
bool ProductOrder::hasOrder(const Chain &chain, size_t form) const {
  Extents extents(chain);
  double largest = std::max(extents.countElements(listFirst(chain, 0)), extents.countElements(chain.result));
  for (const Factor &factor : chain.factors)
    largest = std::max(largest, extents.countElements(factor.indices));
  Indices first = listFirst(chain, form);
  const Factor &other = chain.factors[form == 1 ? 1 : 0], &third = chain.factors[2];
  bool isSum = llvm::any_of(other.indices, [&](int64_t index) {
    return llvm::is_contained(third.indices, index) && !llvm::is_contained(first, index);
  });
  return isSum && extents.countElements(first) <= policy.maxProductGrowth * largest;
}

std::vector<FormSite> ProductOrder::listSites(func::FuncOp function) const {
  std::vector<FormSite> sites;
  function.walk([&](ContractOp op) {
    if (std::optional<Chain> chain = matchChain(op); chain && (hasOrder(*chain, 1) || hasOrder(*chain, 2)))
      sites.push_back(makeSite(*chain));
  });
  return sites;
}

/// The product in between is written and read.
double ProductOrder::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  Chain chain = getChain(site);
  double bytes =
      Extents(chain).countElements(listFirst(chain, form)) * static_cast<double>(getElementBytes(chain.outer));
  return 2 * machine.launchCycles + 2 * bytes / machine.llcBytesPerCycle;
}

std::unique_ptr<FormSource> tenon::createProductOrder(const FormPolicy &policy) {
  return std::make_unique<ProductOrder>(policy);
}
