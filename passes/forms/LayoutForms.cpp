//===- LayoutForms.cpp - convolutions of few filters, channels last or first ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of a convolution has vectors along the last dimension of its result. With channels last these are filters:
// where there are fewer of them than a vector has lanes, as in the last layer of super-resolution or segmentation, most
// lanes are idle. With channels first they are the pixels of a line, and the filters are the rows of a product of the
// filter with shifted lines. What that costs are transposes, unless the neighbours have channels first, too.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/cost/FusionCost.h"
#include "passes/cost/FusionPolicy.h"
#include "passes/cost/ProductShape.h"
#include "passes/cost/SizeHints.h"
#include "passes/forms/FormSource.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"

using namespace mlir;
using namespace tenon;

/// Upper bound for the elementwise operations of a site.
static constexpr size_t kMaxEpilogue = 16; // limit: hostile models

namespace {
/// A convolution with channels last, and the elementwise operations behind it, each the only one that reads the value
/// before.
struct Layer {
  ConvolveOp convolve;
  SmallVector<Operation *> epilogue;

  int64_t getRank() const { return ConvolveOp(convolve).getType().getRank(); }
  Value getResult() const { return epilogue.empty() ? convolve->getResult(0) : epilogue.back()->getResult(0); }
};

/// A value with permuted dimensions, as a transpose of `source`.
struct Permuted {
  Value source;
  SmallVector<int64_t> permutation;

  bool isView() const { return keepsElementOrder(getDims(source), permutation); }
};

/// What a site's form `channels_first` has in place of the graph as it stands.
struct LayoutMoves {
  bool addsInput;       ///< transposes the input
  bool pads;            ///< copies the input with its border, in a kernel of its own
  bool freesInput;      ///< drops a kernel that transposes the input
  bool addsResult;      ///< transposes the result
  int64_t freedResults; ///< kernels that transpose the result, and are dropped
};
} // namespace

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

/// [N, spatial..., C] to [N, C, spatial...].
static SmallVector<int64_t> orderChannelsFirst(int64_t rank) {
  SmallVector<int64_t> order{0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return order;
}

/// [N, C, spatial...] to [N, spatial..., C].
static SmallVector<int64_t> orderChannelsLast(int64_t rank) {
  return invertPermutationVector(orderChannelsFirst(rank));
}

/// [window..., C, F] to [F, C, window...].
static SmallVector<int64_t> orderFiltersFirst(int64_t rank) {
  SmallVector<int64_t> order{rank - 1, rank - 2};
  llvm::append_range(order, llvm::seq<int64_t>(0, rank - 2));
  return order;
}

/// Looks through a transpose that produces the value.
static Permuted permuteDims(Value value, ArrayRef<int64_t> permutation) {
  auto before = value.getDefiningOp<TransposeOp>();
  if (!before)
    return {value, llvm::to_vector(permutation)};
  return {before.getInput(), applyPermutation(before.getPermutation(), permutation)};
}

/// Returns the value with its dimensions in order, by a transpose or a view if it takes one.
static Value createPermuted(OpBuilder &b, Location loc, const Permuted &value) {
  Dims dims = applyPermutation(ArrayRef<AffineExpr>(getDims(value.source)), value.permutation);
  if (!value.isView())
    return TransposeOp::create(b, loc, value.source, value.permutation);
  RankedTensorType type = getTensorType(dims, getElementTypeOrSelf(value.source));
  Value source = getReshaped(value.source);
  return source.getType() == type ? source : b.createOrFold<ReshapeOp>(loc, type, source);
}

/// Returns the dimensions of a value that broadcasts against `rank` dimensions, with extents of 1 in front.
static Dims getBroadcastDims(Value value, int64_t rank) {
  Dims dims = getDims(value);
  dims.insert(dims.begin(), rank - dims.size(), getDimConstant(value.getContext(), 1));
  return dims;
}

/// True if an operand of an elementwise operation of `rank` dimensions is read with channels first without a copy.
static bool isFreeToMove(Value value, int64_t rank) {
  SmallVector<int64_t> order = orderChannelsFirst(rank);
  if (static_cast<int64_t>(getDims(value).size()) == rank)
    return permuteDims(value, order).isView();
  return keepsElementOrder(getBroadcastDims(value, rank), order);
}

/// Returns the operand of an elementwise operation with channels first.
static Value moveOperand(OpBuilder &b, Location loc, Value value, int64_t rank) {
  int64_t ownRank = cast<RankedTensorType>(value.getType()).getRank();
  if (ownRank == 0)
    return value;
  if (ownRank < rank)
    value = b.createOrFold<ReshapeOp>(loc, getTensorType(getBroadcastDims(value, rank), getElementTypeOrSelf(value)),
                                      value);
  return createPermuted(b, loc, permuteDims(value, orderChannelsFirst(rank)));
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// Returns the elementwise operation that alone reads a value, if it can do so with channels first.
static Operation *findStep(Value value, int64_t rank) {
  Operation *op = value.use_empty() ? nullptr : *value.user_begin();
  if (!op || !llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; }) ||
      !op->hasTrait<Elementwise>() || op->getNumResults() != 1 || op->getBlock() != value.getParentBlock() ||
      getDims(op->getResult(0)) != getDims(value))
    return nullptr;
  bool isFree =
      llvm::all_of(op->getOperands(), [&](Value operand) { return operand == value || isFreeToMove(operand, rank); });
  return isFree ? op : nullptr;
}

/// Finds the convolutions that may have channels first: of f32, with all channels in each filter or one, with few
/// filters, and with pixels side by side in each vector.
static std::optional<Layer> matchLayer(ConvolveOp op, const FormPolicy &policy) {
  RankedTensorType type = op.getType(), filter = op.getFilter().getType();
  if (!op.getChannelsLast() || !type.getElementType().isF32() || !isProductOfFloats(op) || op.getStrides().empty() ||
      op.getStrides().back() != 1 || !filter.hasStaticShape())
    return std::nullopt;
  int64_t filters = filter.getDimSize(op.getFilterDim()), groups = static_cast<int64_t>(op.getGroups());
  bool isDepthwise = groups == filters && filter.getDimSize(op.getFilterChannelDim()) == 1;
  if ((groups != 1 && !isDepthwise) || filters > policy.maxFirstFilters)
    return std::nullopt;
  Layer layer{op, {}};
  while (layer.epilogue.size() < kMaxEpilogue)
    if (Operation *step = findStep(layer.getResult(), type.getRank()))
      layer.epilogue.push_back(step);
    else
      break;
  return layer;
}

/// True if a transpose is computed where its elements are read, rather than by a kernel of its own.
static bool isReadInPlace(TransposeOp transpose) {
  return llvm::all_of(transpose->getUsers(), [](Operation *user) { return user->hasTrait<Elementwise>(); });
}

/// Returns the transpose of the result that a user computes, and which channels first make superfluous.
static TransposeOp getInverse(Operation *user, int64_t rank) {
  auto transpose = dyn_cast<TransposeOp>(user);
  bool isInverse =
      transpose &&
      keepsElementOrder(applyPermutation(ArrayRef<AffineExpr>(getDims(transpose.getInput())), orderChannelsFirst(rank)),
                        applyPermutation(orderChannelsLast(rank), transpose.getPermutation()));
  return isInverse ? transpose : TransposeOp();
}

static LayoutMoves listMoves(const Layer &layer) {
  ConvolveOp convolve = layer.convolve;
  int64_t rank = layer.getRank();
  Value input = convolve.getInput(), result = layer.getResult();
  Permuted first = permuteDims(input, orderChannelsFirst(rank));
  LayoutMoves moves{!first.isView(), hasPadding(convolve), false, false, 0};
  // Of few channels a convolution with channels last reads a transposed image by itself, and so does a kernel that
  // pads.
  int64_t channels = getConstant(getDims(input)[convolve.getChannelDim()]).value_or(FusionPolicy().fewChannels + 1);
  bool areFew = channels <= FusionPolicy().fewChannels;
  moves.freesInput =
      !moves.addsInput && first.source != input && input.hasOneUse() && !(areFew && convolve.getGroups() == 1);
  moves.pads &= !(areFew && moves.addsInput);
  bool isView = keepsElementOrder(getDims(result), orderChannelsFirst(rank));
  for (Operation *user : result.getUsers())
    if (TransposeOp inverse = getInverse(user, rank))
      moves.freedResults += !isView && !isReadInPlace(inverse);
    else
      moves.addsResult |= !isView;
  return moves;
}

static FormSite makeSite(const Layer &layer) {
  FormSite site;
  llvm::raw_string_ostream os(site.region);
  os << "layout " << PathRegion::get(layer.convolve).text << ';';
  site.operations.push_back(layer.convolve);
  for (Operation *op : layer.epilogue) {
    os << ' ' << op->getName() << ';';
    site.operations.push_back(op);
  }
  LayoutMoves moves = listMoves(layer);
  os << " input "
     << (moves.addsInput    ? "transposed"
         : moves.freesInput ? "freed"
                            : "kept")
     << ", result " << (moves.addsResult ? "transposed" : "kept") << ", " << moves.freedResults << " freed";
  return site;
}

//===----------------------------------------------------------------------===//
// Channels first
//===----------------------------------------------------------------------===//

/// Replaces the result of a layer by `first`, which has the same elements with channels first. Transposes of it become
/// transposes of `first`, or none.
static void replaceResult(Value result, Value first, RewriterBase &rewriter) {
  SmallVector<int64_t> toLast = orderChannelsLast(cast<RankedTensorType>(result.getType()).getRank());
  rewriter.setInsertionPointAfter(first.getDefiningOp());
  for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      Permuted other{first, applyPermutation(toLast, transpose.getPermutation())};
      rewriter.replaceOp(transpose, createPermuted(rewriter, transpose.getLoc(), other));
    }
  if (!result.use_empty())
    rewriter.replaceAllUsesWith(result, createPermuted(rewriter, result.getLoc(), {first, toLast}));
}

/// Returns the type of the result of an operation of a layer with channels first.
static RankedTensorType getFirstType(Value result) {
  Dims dims = getDims(result);
  return getTensorType(applyPermutation(ArrayRef<AffineExpr>(dims), orderChannelsFirst(dims.size())),
                       getElementTypeOrSelf(result));
}

static ConvolveOp convolveFirst(ConvolveOp op, RewriterBase &rewriter) {
  int64_t rank = op.getType().getRank();
  Location loc = op.getLoc();
  Value input = createPermuted(rewriter, loc, permuteDims(op.getInput(), orderChannelsFirst(rank)));
  // The kernel reads single elements of the filter, in whatever order.
  Value filter = createPermuted(rewriter, loc, permuteDims(op.getFilter(), orderFiltersFirst(rank)));
  auto first = ConvolveOp::create(rewriter, loc, input, filter, op.getStrides(), op.getDilations(), op.getLow(),
                                  op.getHigh(), op.getGroups(), op.getResultTypeAttr(), /*channels_last=*/false);
  first.getResult().setType(getFirstType(op.getResult()));
  first->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return first;
}

static SmallVector<Operation *> moveChannelsFirst(const Layer &layer, RewriterBase &rewriter) {
  int64_t rank = layer.getRank();
  rewriter.setInsertionPoint(layer.convolve);
  SmallVector<Operation *> created{convolveFirst(layer.convolve, rewriter)};
  Value before = ConvolveOp(layer.convolve).getResult();
  for (Operation *op : layer.epilogue) {
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand == before ? created.back()->getResult(0)
                                           : moveOperand(rewriter, op->getLoc(), operand, rank));
    before = op->getResult(0);
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(getFirstType(before));
    created.push_back(moved);
  }
  replaceResult(before, created.back()->getResult(0), rewriter);
  for (Operation *op : llvm::reverse(layer.epilogue))
    rewriter.eraseOp(op);
  rewriter.eraseOp(layer.convolve);
  return created;
}

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kForms[] = {kChannelsLastForm, kChannelsFirstForm};

namespace {
struct LayoutForms : public FormSource {
  explicit LayoutForms(const FormPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "the layout of a convolution"; }
  ArrayRef<llvm::StringLiteral> getForms() const override { return kForms; }
  std::vector<FormSite> listSites(func::FuncOp function) const override {
    std::vector<FormSite> sites;
    function.walk([&](ConvolveOp op) {
      if (std::optional<Layer> layer = matchLayer(op, policy))
        sites.push_back(makeSite(*layer));
    });
    return sites;
  }
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t, RewriterBase &rewriter) const override {
    return moveChannelsFirst(getLayer(site), rewriter);
  }

private:
  Layer getLayer(const FormSite &site) const { return *matchLayer(cast<ConvolveOp>(site.operations.front()), policy); }

  FormPolicy policy;
};
} // namespace

/// Returns the bytes that a kernel reads and writes to copy a value.
static double countCopiedBytes(Value value, const SizeHints &hints) {
  double bytes = 2.0 * llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  for (AffineExpr dim : getDims(value))
    bytes *= estimateExtent(hints, dim);
  return bytes;
}

/// Returns the elements of a line of pixels.
static double getLineElements(ConvolveOp op, const SizeHints &hints) {
  Dims dims = getDims(op.getInput());
  return estimateExtent(hints, dims[dims.size() - 2]);
}

/// Returns the cycles of a kernel that copies `bytes` line by line, as prefetchers expect it.
static double getCopyCycles(double bytes, const Machine &machine) {
  return bytes / machine.llcBytesPerCycle + machine.launchCycles;
}

/// Returns the cycles of a kernel that transposes. It gains nothing by a second cache that holds all of it.
static double getTransposeCycles(double bytes, const Machine &machine) {
  return std::max(getCopyCycles(bytes, machine), getKernelCycles({0, bytes}, machine));
}

double LayoutForms::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  Layer layer = getLayer(site);
  LayoutMoves moves = listMoves(layer);
  SizeHints hints(layer.convolve->getParentOfType<func::FuncOp>());
  double bytes = countCopiedBytes(layer.convolve.getInput(), hints), input = getTransposeCycles(bytes, machine),
         result = getTransposeCycles(countCopiedBytes(layer.getResult(), hints), machine);
  if (form == 0)
    return (moves.freesInput ? input : 0) + static_cast<double>(moves.freedResults) * result;
  double padded = bytes * std::max(1.0, policy.shortLineElements / getLineElements(layer.convolve, hints));
  return (moves.addsInput ? input : 0) + (moves.pads ? getCopyCycles(padded, machine) : 0) +
         (moves.addsResult ? result : 0);
}

std::unique_ptr<FormSource> tenon::createLayoutForms(const FormPolicy &policy) {
  return std::make_unique<LayoutForms>(policy);
}
