//===- SiblingProducts.cpp - products of one value, each for itself or as one ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries, keys and values of attention are products of the same rows with three constant matrices. One product with
// the columns of all three reads the rows once and is one launch. Each element is the same sum of the same products.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/forms/FormSource.h"
#include "passes/forms/MergedWeights.h"
#include "passes/forms/PartReads.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"
#include <map>

using namespace mlir;
using namespace tenon;

/// Upper bounds for the contractions of a site, and for the elementwise operations after each of them.
static constexpr size_t kMaxSiblings = 64, kMaxEpilogue = 16; // limit: hostile models

/// Returns the constant that a value is, or is converted from at run time.
static WeightOp findWeight(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return (cast ? cast.getInput() : value).getDefiningOp<WeightOp>();
}

namespace {
/// A contraction with a constant matrix, or a convolution with a constant filter.
struct Product {
  Operation *op;
  unsigned weightNumber; ///< which operand is constant
  int64_t weightAxis;    ///< the dimension of the constant, and that of the result, which siblings may differ in
  int64_t resultAxis;

  Value getShared() const { return op->getOperand(1 - weightNumber); }
  WeightOp getWeight() const { return findWeight(op->getOperand(weightNumber)); }
  CastOp getCast() const { return op->getOperand(weightNumber).getDefiningOp<CastOp>(); }
  int64_t getColumns() const { return getWeight().getType().getDimSize(weightAxis); }
};

/// An elementwise operation that follows all sibling contractions in the same way.
struct EpilogueStep {
  SmallVector<Operation *> ops; ///< for each product
  unsigned operandNumber;       ///< of the product's values
  SmallVector<bool> isMerged;   ///< for each operand: whether there is a part of it for each product
};

struct Siblings {
  SmallVector<Product> products;
  SmallVector<EpilogueStep> epilogue;

  SmallVector<Value> listValues() const {
    SmallVector<Value> values;
    for (const Product &product : products)
      values.push_back(product.op->getResult(0));
    if (!epilogue.empty())
      for (auto [value, op] : llvm::zip(values, epilogue.back().ops))
        value = op->getResult(0);
    return values;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Which products are siblings
//===----------------------------------------------------------------------===//

/// Describes the contraction with the first dimension of its result that only the constant operand has.
static std::optional<Product> findColumns(ContractOp op, unsigned weightNumber) {
  ArrayRef<int64_t> weight = weightNumber == 0 ? op.getLhsDims() : op.getRhsDims();
  ArrayRef<int64_t> shared = weightNumber == 0 ? op.getRhsDims() : op.getLhsDims();
  for (auto [place, index] : llvm::enumerate(op.getResultDims()))
    if (llvm::count(weight, index) == 1 && !llvm::is_contained(shared, index) &&
        llvm::count(op.getResultDims(), index) == 1)
      return Product{op, weightNumber, llvm::find(weight, index) - weight.begin(), static_cast<int64_t>(place)};
  return std::nullopt;
}

static std::optional<Product> matchProduct(Operation *op) {
  if (auto convolve = dyn_cast<ConvolveOp>(op); convolve && convolve.getGroups() == 1)
    return Product{op, 1, convolve.getFilterDim(), convolve.getChannelDim()};
  if (auto contract = dyn_cast<ContractOp>(op))
    for (unsigned weightNumber : {1, 0})
      if (findWeight(contract->getOperand(weightNumber)) && !findWeight(contract->getOperand(1 - weightNumber)))
        return findColumns(contract, weightNumber);
  return std::nullopt;
}

/// True if nothing else reads the matrix, which would then be stored twice. A splat matrix is excluded, because its
/// matmul is a plain sum.
static bool hasOwnMatrix(const Product &product) {
  WeightOp weight = product.getWeight();
  CastOp cast = product.getCast();
  return weight && weight->hasOneUse() &&
         (!cast || (cast->hasOneUse() && cast->getBlock() == product.op->getBlock())) &&
         isMergeable(weight.getValue()) && getBytes(weight.getValue()) &&
         weight.getType().getRank() > product.weightAxis && !findWeight(product.getShared());
}

/// Numbers indices in the order in which they occur.
static std::string renumber(ContractOp op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::SmallDenseMap<int64_t, size_t> numbers;
  for (ArrayRef<int64_t> dims : {op.getLhsDims(), op.getRhsDims(), op.getResultDims()}) {
    for (int64_t index : dims)
      os << numbers.try_emplace(index, numbers.size()).first->second << ' ';
    os << "; ";
  }
  return text;
}

/// Returns a text of all that siblings must have in common besides the shared operand: everything but the number of
/// columns.
static std::string getKey(const Product &product) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Operation *op = product.op;
  os << op->getName() << ' ' << product.weightNumber << ' ' << product.weightAxis << ' ' << product.resultAxis << ' ';
  auto contract = dyn_cast<ContractOp>(op);
  if (contract)
    os << renumber(contract);
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!contract || !attribute.getName().getValue().ends_with("_dims"))
      os << attribute.getName().getValue() << '=' << attribute.getValue() << ' ';
  RankedTensorType weight = product.getWeight().getType();
  SmallVector<int64_t> shape(weight.getShape());
  shape[product.weightAxis] = 0;
  os << weight.clone(shape) << ' ' << getElementTypeOrSelf(op->getOperand(product.weightNumber)) << ' '
     << getElementTypeOrSelf(op->getResult(0));
  return text;
}

/// True if the constants that an epilogue operation reads have an element for each column; false if they are the same
/// for all columns; none if neither holds.
static std::optional<bool> isMergedOperand(ArrayRef<Product> products, ArrayRef<Operation *> ops, unsigned number) {
  SmallVector<WeightOp> weights;
  for (Operation *op : ops)
    if (auto weight = op->getOperand(number).getDefiningOp<WeightOp>())
      weights.push_back(weight);
  if (weights.size() != ops.size())
    return std::nullopt;
  RankedTensorType first = weights.front().getType();
  int64_t rank = cast<RankedTensorType>(ops.front()->getResult(0).getType()).getRank();
  int64_t axis = products.front().resultAxis - (rank - first.getRank());
  // A splat may have more elements than fit in memory.
  constexpr int64_t kMaxSplat = 1 << 16; // limit: memory
  auto hasColumns = [&](WeightOp weight, const Product &product) {
    RankedTensorType type = weight.getType();
    if (isa<SplatElementsAttr>(weight.getValue()) && type.getNumElements() > kMaxSplat)
      return false;
    if (!isMergeable(weight.getValue()) || type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType() || type.getDimSize(axis) != product.getColumns())
      return false;
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = first.getDimSize(axis);
    return ArrayRef(shape) == first.getShape();
  };
  if (axis >= 0 && llvm::all_of_zip(weights, products, hasColumns))
    return true;
  bool isStretched = axis < 0 || first.getDimSize(axis) == 1;
  bool isSame = llvm::all_of(weights, [&](WeightOp weight) { return weight.getValue() == weights.front().getValue(); });
  return isStretched && isSame ? std::optional(false) : std::nullopt;
}

/// Returns the operation that is the only user of each value, if it is the same for all of them.
static std::optional<EpilogueStep> findStep(ArrayRef<Product> products, ArrayRef<Value> values) {
  EpilogueStep step{{}, 0, {}};
  for (Value value : values) {
    if (!value.hasOneUse())
      return std::nullopt;
    OpOperand &use = *value.use_begin();
    Operation *op = use.getOwner(), *first = step.ops.empty() ? op : step.ops.front();
    if (op->getNumResults() != 1 || op->getBlock() != products.front().op->getBlock() || !op->hasTrait<Elementwise>() ||
        getDims(op->getResult(0)) != getDims(value))
      return std::nullopt;
    if (step.ops.empty())
      step.operandNumber = use.getOperandNumber();
    if (op->getName() != first->getName() || op->getAttrDictionary() != first->getAttrDictionary() ||
        use.getOperandNumber() != step.operandNumber ||
        getElementTypeOrSelf(op->getResult(0)) != getElementTypeOrSelf(first->getResult(0)))
      return std::nullopt;
    step.ops.push_back(op);
  }
  for (unsigned number = 0; number < step.ops.front()->getNumOperands(); ++number) {
    std::optional<bool> isMerged = number == step.operandNumber ? true : isMergedOperand(products, step.ops, number);
    if (!isMerged)
      return std::nullopt;
    step.isMerged.push_back(*isMerged);
  }
  return step;
}

static Siblings makeSiblings(ArrayRef<Product> products) {
  Siblings siblings{llvm::to_vector(products), {}};
  while (siblings.epilogue.size() < kMaxEpilogue)
    if (std::optional<EpilogueStep> step = findStep(products, siblings.listValues()))
      siblings.epilogue.push_back(std::move(*step));
    else
      break;
  return siblings;
}

/// Of the operations of a site.
static Siblings matchSite(const FormSite &site) {
  SmallVector<Product> products;
  for (Operation *op : site.operations)
    if (std::optional<Product> product = matchProduct(op))
      products.push_back(*product);
  return makeSiblings(products);
}

static PartReads listReads(const Siblings &siblings) {
  PartReads reads;
  for (Value value : siblings.listValues())
    reads.add(value, siblings.products.front().resultAxis);
  return reads;
}

static FormSite makeSite(const Siblings &siblings) {
  FormSite site;
  llvm::raw_string_ostream os(site.region);
  os << "siblings";
  for (const Product &product : siblings.products) {
    site.operations.push_back(product.op);
    if (CastOp cast = product.getCast())
      site.operations.push_back(cast);
    os << ' ' << PathRegion::get(product.op).text << ';';
  }
  for (const EpilogueStep &step : siblings.epilogue) {
    llvm::append_range(site.operations, step.ops);
    os << ' ' << step.ops.front()->getName() << ';';
  }
  llvm::sort(site.operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  os << ' ' << listReads(siblings).describe();
  return site;
}

//===----------------------------------------------------------------------===//
// The merged product
//===----------------------------------------------------------------------===//

namespace {
/// Writes the merged product of some siblings.
class Merger {
public:
  Merger(const Siblings &siblings, RewriterBase &rewriter) : siblings(siblings), rewriter(rewriter) {}
  SmallVector<Operation *> run();

private:
  int64_t getAxis() const { return siblings.products.front().resultAxis; }
  Value mergeWeights(ArrayRef<WeightOp> weights, int64_t axis);
  Value mergeMatrices();
  Operation *merge(ArrayRef<Operation *> ops, const IRMapping &operands);
  Operation *mergeStep(const EpilogueStep &step, Value value);
  void replace(Value merged);

  const Siblings &siblings;
  RewriterBase &rewriter;
};
} // namespace

/// Constants have no operands, so all of them can be moved before the matrix of the first contraction.
Value Merger::mergeWeights(ArrayRef<WeightOp> weights, int64_t axis) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(siblings.products.front().getWeight());
  SmallVector<ElementsAttr> parts;
  SmallVector<Location> locs;
  for (WeightOp weight : weights) {
    parts.push_back(weight.getValue());
    locs.push_back(weight.getLoc());
  }
  auto merged = WeightOp::create(rewriter, rewriter.getFusedLoc(locs), mergeElements(parts, axis));
  merged.setNameAttr(deriveName(WeightOp(weights.front()).getNameAttr(), "merged"));
  return merged;
}

/// What is widened stays so.
Value Merger::mergeMatrices() {
  SmallVector<WeightOp> matrices;
  for (const Product &product : siblings.products)
    matrices.push_back(product.getWeight());
  const Product &first = siblings.products.front();
  Value merged = mergeWeights(matrices, first.weightAxis);
  CastOp widened = first.getCast();
  if (!widened)
    return merged;
  auto type = cast<RankedTensorType>(merged.getType()).clone(widened.getType().getElementType());
  return CastOp::create(rewriter, widened.getLoc(), type, merged);
}

/// The operation that all of `ops` are parts of.
Operation *Merger::merge(ArrayRef<Operation *> ops, const IRMapping &operands) {
  SmallVector<Location> locs;
  AffineExpr columns = getDimConstant(rewriter.getContext(), 0);
  for (Operation *op : ops) {
    locs.push_back(op->getLoc());
    columns = addDims(columns, getDim(op->getResult(0), getAxis()));
  }
  Value first = ops.front()->getResult(0);
  Dims dims = getDims(first);
  dims[getAxis()] = columns;
  IRMapping mapping = operands;
  Operation *merged = rewriter.clone(*ops.front(), mapping);
  merged->setLoc(rewriter.getFusedLoc(locs));
  merged->getResult(0).setType(getTensorType(dims, getElementTypeOrSelf(first)));
  return merged;
}

Operation *Merger::mergeStep(const EpilogueStep &step, Value value) {
  IRMapping mapping;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (unsigned number = 0; number < step.isMerged.size(); ++number) {
    Value operand = step.ops.front()->getOperand(number);
    if (number == step.operandNumber) {
      mapping.map(operand, value);
      continue;
    }
    SmallVector<WeightOp> weights;
    for (Operation *op : step.ops)
      weights.push_back(op->getOperand(number).getDefiningOp<WeightOp>());
    if (step.isMerged[number]) {
      mapping.map(operand, mergeWeights(weights, getAxis() - (rank - weights.front().getType().getRank())));
      continue;
    }
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(siblings.products.front().getWeight());
    mapping.map(operand, rewriter.clone(*weights.front())->getResult(0));
  }
  return merge(step.ops, mapping);
}

/// Replaces the results of the siblings by slices of the merged result.
void Merger::replace(Value merged) {
  MLIRContext *context = rewriter.getContext();
  AffineExpr zero = getDimConstant(context, 0), start = zero;
  for (Value value : siblings.listValues()) {
    Dims starts(getDims(value).size(), zero);
    starts[getAxis()] = start;
    start = addDims(start, getDim(value, getAxis()));
    Value slice = SliceOp::create(rewriter, value.getLoc(), value.getType(), merged, ShapeAttr::get(context, starts),
                                  SmallVector<int64_t>(starts.size(), 1));
    rewriter.replaceAllUsesWith(value, slice);
  }
}

static void eraseAll(ArrayRef<Operation *> ops, RewriterBase &rewriter) {
  for (Operation *op : ops) {
    llvm::SmallSetVector<WeightOp, 2> weights;
    for (Value operand : op->getOperands())
      if (auto weight = operand.getDefiningOp<WeightOp>())
        weights.insert(weight);
    rewriter.eraseOp(op);
    for (WeightOp weight : weights)
      if (weight->use_empty())
        rewriter.eraseOp(weight);
  }
}

SmallVector<Operation *> Merger::run() {
  SmallVector<Operation *> ops, casts, merged;
  for (const Product &product : siblings.products) {
    ops.push_back(product.op);
    if (CastOp cast = product.getCast())
      casts.push_back(cast);
  }
  const Product &first = siblings.products.front();
  rewriter.setInsertionPoint(first.op);
  IRMapping mapping;
  mapping.map(first.op->getOperand(first.weightNumber), mergeMatrices());
  merged.push_back(merge(ops, mapping));
  for (const EpilogueStep &step : siblings.epilogue)
    merged.push_back(mergeStep(step, merged.back()->getResult(0)));
  replace(merged.back()->getResult(0));
  for (const EpilogueStep &step : llvm::reverse(siblings.epilogue))
    eraseAll(step.ops, rewriter);
  eraseAll(ops, rewriter);
  eraseAll(casts, rewriter);
  return merged;
}

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kForms[] = {kSeparateProductsForm, kMergedProductsForm};

namespace {
struct SiblingProducts : public FormSource {
  llvm::StringRef getName() const override { return "sibling products"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t, RewriterBase &rewriter) const override {
    Siblings siblings = matchSite(site);
    return Merger(siblings, rewriter).run();
  }
};
} // namespace

std::vector<FormSite> SiblingProducts::listSites(func::FuncOp function) const {
  std::vector<SmallVector<Product>> groups;
  std::map<std::tuple<const void *, const void *, std::string>, size_t> places; // of groups; is not iterated over
  function.walk([&](Operation *op) {
    std::optional<Product> product = matchProduct(op);
    if (!product || !hasOwnMatrix(*product))
      return;
    auto [it, isNew] = places.try_emplace({op->getBlock(), product->getShared().getAsOpaquePointer(), getKey(*product)},
                                          groups.size());
    if (isNew)
      groups.emplace_back();
    if (groups[it->second].size() < kMaxSiblings)
      groups[it->second].push_back(*product);
  });
  std::vector<FormSite> sites;
  for (ArrayRef<Product> products : groups)
    if (products.size() > 1)
      sites.push_back(makeSite(makeSiblings(products)));
  return sites;
}

double SiblingProducts::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  Siblings siblings = matchSite(site);
  Value shared = siblings.products.front().getShared();
  SizeHints hints(site.operations.front()->getParentOfType<func::FuncOp>());
  double bytes = llvm::divideCeil(getElementTypeOrSelf(shared).getIntOrFloatBitWidth(), 8);
  for (AffineExpr dim : getDims(shared))
    bytes *= estimateExtent(hints, dim);
  double ofProduct = machine.launchCycles + bytes / machine.llcBytesPerCycle;
  if (form == 0)
    return ofProduct * static_cast<double>(siblings.products.size());
  return ofProduct + listReads(siblings).estimateCycles(machine);
}

std::unique_ptr<FormSource> tenon::createSiblingProducts(const FormPolicy &) {
  return std::make_unique<SiblingProducts>();
}
