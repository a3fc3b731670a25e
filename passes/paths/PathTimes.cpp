//===- PathTimes.cpp - what real runs say of paths --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/PathTimes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/SizeHints.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace tenon;

/// Prints a type such as "f32[64, ?]"; dynamic extents are replaced by their size hints, if any.
static void printType(llvm::raw_ostream &os, Value value, const SizeHints &hints) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    os << value.getType();
    return;
  }
  os << type.getElementType() << '[';
  llvm::interleaveComma(getDims(value), os, [&](AffineExpr dim) {
    if (std::optional<int64_t> size = hints.get(dim))
      os << *size;
    else
      os << '?';
  });
  os << ']';
}

PathRegion PathRegion::get(Operation *op) {
  PathRegion region;
  if (auto module = op->getParentOfType<ModuleOp>())
    region.target = module.getName().value_or("").str();
  SizeHints hints(op->getParentOfType<func::FuncOp>());
  llvm::raw_string_ostream os(region.text);
  os << op->getName();
  for (Value operand : op->getOperands()) {
    os << ' ';
    printType(os, operand, hints);
    // A path that packs an operand at compile time only applies to weights.
    if (operand.getDefiningOp<WeightOp>())
      os << " weight";
  }
  os << " ->";
  for (Value result : op->getResults()) {
    os << ' ';
    printType(os, result, hints);
  }
  // Attributes that passes attach to an operation do not change what it computes.
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!attribute.getName().getValue().starts_with("tenon."))
      os << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
  return region;
}

std::string PathRegion::getFingerprint() const {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16);
}

namespace {
/// A geometric mean, built up from its factors.
class GeometricMean {
public:
  void add(double factor) {
    logarithms += std::log(factor);
    ++count;
  }
  std::optional<double> get() const {
    return count ? std::optional(std::exp(logarithms / static_cast<double>(count))) : std::nullopt;
  }

private:
  double logarithms = 0;
  size_t count = 0;
};
} // namespace

std::vector<std::vector<double>> tenon::blendCosts(ArrayRef<std::vector<PathCost>> operations) {
  auto addAll = [](GeometricMean &mean, ArrayRef<PathCost> costs) {
    for (const PathCost &cost : costs)
      if (cost.nanoseconds && cost.cycles > 0)
        mean.add(*cost.nanoseconds / cost.cycles);
  };
  GeometricMean all;
  for (ArrayRef<PathCost> costs : operations)
    addAll(all, costs);
  std::vector<std::vector<double>> blended;
  for (ArrayRef<PathCost> costs : operations) {
    GeometricMean own;
    addAll(own, costs);
    double scale = own.get().value_or(all.get().value_or(1));
    std::vector<double> &result = blended.emplace_back();
    for (const PathCost &cost : costs)
      result.push_back(cost.nanoseconds.value_or(cost.cycles * scale));
  }
  return blended;
}
