//===- AttentionMatch.cpp - attention as a model has it -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That a softmax can be done while its elements pass by is due to Milakov and
// Gimelshein ("Online normalizer calculation for softmax", 2018), and attention
// without scores in memory to Dao and others ("FlashAttention", 2022).
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/AttentionMatch.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/fusion/Cheap.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-fuse-attention"

using namespace mlir;
using namespace tenon;

/// Upper bounds for the operations between scores and weights, and for those that are cloned into the body.
static constexpr int64_t kMaxSteps = 32, kMaxTaken = 32; // limit: hostile models

//===----------------------------------------------------------------------===//
// What the scores go through
//===----------------------------------------------------------------------===//

/// Returns the contraction that `value` is computed from by at most `steps` elementwise operations and reshapes, and
/// adds these to `path` in order.
static ContractOp findScores(Value value, int64_t steps, SmallVectorImpl<Operation *> &path) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse() || steps < 0)
    return {};
  if (auto contract = dyn_cast<ContractOp>(op))
    return contract;
  if (!op->hasTrait<Elementwise>() && !isa<ReshapeOp>(op))
    return {};
  ContractOp found;
  for (Value operand : op->getOperands()) {
    if (!isa<ReshapeOp>(op) && getDims(operand) != getDims(value))
      continue;
    SmallVector<Operation *> before;
    ContractOp contract = findScores(operand, steps - 1, before);
    if (!contract)
      continue;
    if (found)
      return {};
    found = contract;
    path.append(before);
  }
  path.push_back(op);
  return found;
}

/// If `value` replaces NaN in its input by zero, returns that input, else null. A softmax yields NaN for all elements
/// of a row or for none.
static Value getGuarded(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto isNaN = select ? select.getCondition().getDefiningOp<IsNaNOp>() : IsNaNOp();
  auto zero = select ? select->getOperand(1).getDefiningOp<WeightOp>() : WeightOp();
  auto splat = zero ? dyn_cast<SplatElementsAttr>(zero.getValue()) : SplatElementsAttr();
  bool isZero = splat && isa<FloatType>(splat.getElementType()) && splat.getSplatValue<APFloat>().isZero();
  bool isGuard =
      isNaN && isZero && select->hasOneUse() && isNaN->hasOneUse() && isNaN->getOperand(0) == select->getOperand(2);
  return isGuard ? select->getOperand(2) : Value();
}

static std::optional<AttentionMatch> match(ContractOp mix, unsigned weightsNumber) {
  assert(weightsNumber < 2 && "a contraction has two operands");
  AttentionMatch m{{}, mix, {}, weightsNumber, {}, {}, false, {}};
  Value weights = m.getWeights();
  for (auto reshape = weights.getDefiningOp<ReshapeOp>(); reshape && reshape->hasOneUse();
       reshape = weights.getDefiningOp<ReshapeOp>()) {
    m.after.insert(m.after.begin(), reshape);
    weights = reshape.getInput();
  }
  Value guarded = getGuarded(weights);
  m.zeroesQueries = bool(guarded);
  m.softmax = (guarded ? guarded : weights).getDefiningOp<SoftmaxOp>();
  if (!m.softmax || !m.softmax.getResult().hasNUses(guarded ? 2 : 1) || m.softmax.getLog())
    return std::nullopt;
  m.weights = weights;
  m.scores = findScores(m.softmax.getInput(), kMaxSteps, m.before);
  if (!m.scores || m.scores->getBlock() != mix->getBlock())
    return std::nullopt;
  return m;
}

//===----------------------------------------------------------------------===//
// What runs over what
//===----------------------------------------------------------------------===//

namespace {
/// The indices that both contractions assign to the dimensions of a tenon.attention.
struct Indices {
  SmallVector<int64_t> scores, values, result;
};
} // namespace

/// Returns the dimension of the scores along which the softmax runs; none if it is not the last one although the
/// weights are reshaped afterwards.
static std::optional<int64_t> getKeyDim(AttentionMatch &m) {
  int64_t axis = m.softmax.getAxis(), last = m.softmax.getType().getRank() - 1;
  Value scores = m.scores.getResult(), weights = m.getWeights();
  if (getDims(weights) != getDims(scores))
    return std::nullopt;
  if (!llvm::any_of(m.before, llvm::IsaPred<ReshapeOp>) && m.after.empty())
    return axis;
  if (axis != last || getDims(scores).back() != getDims(m.softmax.getInput()).back())
    return std::nullopt;
  return m.scores.getResultDims().size() - 1;
}

/// Translates the indices of both contractions to the numbering of the first one.
static Indices joinIndices(AttentionMatch &m) {
  ArrayRef<int64_t> weightDims = m.weightsNumber == 0 ? m.mix.getLhsDims() : m.mix.getRhsDims();
  ArrayRef<int64_t> valueDims = m.weightsNumber == 0 ? m.mix.getRhsDims() : m.mix.getLhsDims();
  assert(weightDims.size() == m.scores.getResultDims().size() && "weights have the dimensions of the scores");
  Indices indices;
  llvm::append_range(indices.scores, m.scores.getResultDims());
  llvm::SmallDenseMap<int64_t, int64_t> renamed;
  for (auto [theirs, ours] : llvm::zip(weightDims, indices.scores))
    renamed[theirs] = ours;
  int64_t next = 0;
  for (ArrayRef<int64_t> dims : {m.scores.getLhsDims(), m.scores.getRhsDims()})
    for (int64_t index : dims)
      next = std::max(next, index + 1);
  auto rename = [&](int64_t index) {
    auto [it, isNew] = renamed.try_emplace(index, next);
    next += isNew;
    return it->second;
  };
  llvm::transform(valueDims, std::back_inserter(indices.values), rename);
  llvm::transform(m.mix.getResultDims(), std::back_inserter(indices.result), rename);
  return indices;
}

/// Returns the extent of an index in a tensor; null if the tensor lacks the index.
static AffineExpr getExtent(Value tensor, ArrayRef<int64_t> indices, int64_t index) {
  const int64_t *it = llvm::find(indices, index);
  return it == indices.end() ? AffineExpr() : getDim(tensor, it - indices.begin());
}

static bool hasKernelType(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

/// Returns the number of query groups that have separate keys, counting static extents only.
static uint64_t countTiles(AttentionOp op) {
  uint64_t tiles = 1;
  for (auto [index, dim] : llvm::zip(op.getScoreDims(), getDims(op.getScores())))
    if (index != op.getQueryIndex() && index != op.getKeyIndex())
      tiles = llvm::SaturatingMultiply<uint64_t>(tiles, getConstant(dim).value_or(1));
  return tiles;
}

/// Returns true if there is one index each for queries, keys and sizes, and the sizes are static.
static bool hasKnownSizes(AttentionOp op, const AttentionPolicy &policy) {
  if (op.getSizeIndex() < 0 || op.getValueIndex() < 0 || !op.getQueryIndex())
    return false;
  AffineExpr keys = getExtent(op.getScores(), op.getScoreDims(), op.getKeyIndex());
  AffineExpr size = getExtent(op.getQueries(), op.getQueryDims(), op.getSizeIndex());
  AffineExpr valueSize = getExtent(op.getValues(), op.getValueDims(), op.getValueIndex());
  if (size != getExtent(op.getKeys(), op.getKeyDims(), op.getSizeIndex()))
    return false;
  if (getConstant(size).value_or(0) < 1 || getConstant(valueSize).value_or(0) < 1 || getConstant(keys) == 0)
    return false;
  return *getConstant(size) + *getConstant(valueSize) <= policy.maxSizes &&
         getExtent(op.getKeys(), op.getKeyDims(), op.getKeyIndex()) == keys &&
         getExtent(op.getValues(), op.getValueDims(), op.getKeyIndex()) == keys;
}

/// Returns true if one kernel computes the attention, with several queries for each key.
static bool isSupported(AttentionOp op, const AttentionPolicy &policy) {
  if (!hasKnownSizes(op, policy))
    return false;
  std::optional<int64_t> queries = getConstant(getExtent(op.getQueries(), op.getQueryDims(), *op.getQueryIndex()));
  return !queries ||
         (*queries >= policy.minQueries && (!policy.isFew(queries) || countTiles(op) >= policy.minTilesOfFew));
}

/// Returns the bytes of one key of all heads; none if an extent is dynamic.
static std::optional<int64_t> getBytesOfKey(Value tensor, ArrayRef<int64_t> indices, int64_t keyIndex) {
  int64_t bytes = getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() / 8;
  for (auto [index, dim] : llvm::zip(indices, getDims(tensor))) {
    std::optional<int64_t> extent = index == keyIndex ? 1 : getConstant(dim);
    if (!extent || llvm::MulOverflow(bytes, *extent, bytes))
      return std::nullopt;
  }
  return bytes;
}

/// Returns the number of keys in a split; none if the keys cannot be split.
static std::optional<int64_t> getSplitKeys(AttentionOp op, const AttentionPolicy &policy) {
  if (!hasKnownSizes(op, policy) || op.getResultDims().back() != op.getValueIndex())
    return std::nullopt;
  std::optional<int64_t> keyBytes = getBytesOfKey(op.getKeys(), op.getKeyDims(), op.getKeyIndex());
  std::optional<int64_t> valueBytes = getBytesOfKey(op.getValues(), op.getValueDims(), op.getKeyIndex());
  std::optional<int64_t> queries = getConstant(getExtent(op.getQueries(), op.getQueryDims(), *op.getQueryIndex()));
  if (!keyBytes || !valueBytes || !queries || *queries > policy.maxSplitQueries)
    return std::nullopt;
  int64_t length = policy.splitBytes / std::max<int64_t>(*keyBytes + *valueBytes, 1);
  length =
      std::clamp<int64_t>(length / policy.minSplitKeys * policy.minSplitKeys, policy.minSplitKeys, policy.maxSplitKeys);
  std::optional<int64_t> keys = getConstant(getExtent(op.getKeys(), op.getKeyDims(), op.getKeyIndex()));
  if (keys && *keys < 2 * length)
    return std::nullopt;
  int64_t elements = length + *getConstant(getExtent(op.getValues(), op.getValueDims(), op.getValueIndex()));
  for (auto [index, dim] : llvm::zip(op.getScoreDims(), getDims(op.getScores()))) {
    std::optional<int64_t> extent = index == op.getKeyIndex() ? 1 : getConstant(dim);
    if (!extent || llvm::MulOverflow(elements, *extent, elements))
      return std::nullopt;
  }
  return elements > 0 && elements <= policy.maxSplitElements ? std::optional(length) : std::nullopt;
}

/// Returns true if the body compares positions, as a causal mask or a sliding window does.
static bool comparesPositions(AttentionOp op) {
  return op.getBody().walk([](IotaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The operation
//===----------------------------------------------------------------------===//

namespace {
/// Clones the elementwise operations on the scores into the body of the attention.
class BodyBuilder {
public:
  BodyBuilder(AttentionOp attention)
      : attention(attention), builder(OpBuilder::atBlockBegin(&attention.getBody().emplaceBlock())) {}
  /// Adds the scores, which are `scale` times the result of the contraction.
  void addScores(Value scores, double scale);
  void build(AttentionMatch &m);

private:
  Value take(Value value);
  bool isTaken(Value value, int64_t depth = 0);
  void clone(Operation *op);

  AttentionOp attention;
  OpBuilder builder;
  IRMapping mapping;
  int64_t numTaken = 0;
};
} // namespace

/// True if another operand of the body can be cloned with it: a constant, a function of positions, or a value with an
/// element for each pair of query and key, each of them cheap to compute. Their number is limited, because a model may
/// have many.
bool BodyBuilder::isTaken(Value value, int64_t depth) {
  constexpr int64_t kMaxDepth = 8; // limit: hostile models
  Operation *op = value.getDefiningOp();
  if (!op || numTaken >= kMaxTaken || depth > kMaxDepth)
    return false;
  if (auto weight = dyn_cast<WeightOp>(op))
    return isa<SplatElementsAttr>(weight.getValue());
  if (isa<IotaOp, SizesOp>(op))
    return true;
  if ((!isCheap(op) && !isa<ReshapeOp>(op)) || op->hasTrait<Unpacking>())
    return false;
  Dims dims = getDims(value);
  AffineExpr keys = getExtent(attention.getKeys(), attention.getKeyDims(), attention.getKeyIndex());
  AffineExpr queries = getExtent(attention.getQueries(), attention.getQueryDims(), *attention.getQueryIndex());
  if (auto *key = llvm::find(dims, keys); key != dims.end()) {
    dims.erase(key);
    if (llvm::is_contained(dims, queries))
      return true;
  }
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isTaken(operand, depth + 1); });
}

Value BodyBuilder::take(Value value) {
  if (!mapping.contains(value) && isTaken(value)) {
    ++numTaken;
    clone(value.getDefiningOp());
  }
  return mapping.lookupOrDefault(value);
}

void BodyBuilder::clone(Operation *op) {
  for (Value operand : op->getOperands())
    take(operand);
  builder.clone(*op, mapping);
}

void BodyBuilder::addScores(Value scores, double scale) {
  Value argument = attention.getBody().addArgument(scores.getType(), scores.getLoc());
  if (scale != 1) {
    auto type = RankedTensorType::get({}, getElementTypeOrSelf(scores));
    Attribute value = FloatAttr::get(type.getElementType(), scale);
    Value factor = WeightOp::create(builder, scores.getLoc(), DenseElementsAttr::get(type, value));
    argument = MulOp::create(builder, scores.getLoc(), scores.getType(), argument, factor);
  }
  mapping.map(scores, argument);
}

void BodyBuilder::build(AttentionMatch &m) {
  for (Operation *op : m.before)
    clone(op);
  // The softmax is mapped last, because reshapes of the weights may follow it.
  mapping.map(m.weights, mapping.lookup(m.softmax.getInput()));
  for (Operation *op : m.after)
    clone(op);
  YieldOp::create(builder, m.softmax.getLoc(), mapping.lookup(m.getWeights()));
}

/// Returns the transpose of the result if it is the only user, else null.
static TransposeOp getTranspose(ContractOp mix) {
  return mix->hasOneUse() ? dyn_cast<TransposeOp>(*mix->user_begin()) : TransposeOp();
}

/// Removes a uniform factor from an operand and returns it, so that queries and keys are read from memory unchanged.
/// (f16 operands keep it, because scores might overflow without.)
static double takeScale(Value &operand) {
  auto mul = operand.getDefiningOp<MulOp>();
  Type type = getElementTypeOrSelf(operand);
  if (!mul || !(type.isF32() || type.isF64()))
    return 1;
  for (unsigned number : {0, 1}) {
    SplatElementsAttr factor;
    Value rest = mul->getOperand(1 - number);
    if (!matchPattern(mul->getOperand(number), m_Constant(&factor)) || getDims(rest) != getDims(operand))
      continue;
    operand = rest;
    return factor.getSplatValue<APFloat>().convertToDouble();
  }
  return 1;
}

/// Returns the f16 or bf16 tensor that an f32 operand is cast from, or the operand. Kernels convert one block at a
/// time, and read half the bytes.
static Value getNarrow(Value operand) {
  auto cast = operand.getDefiningOp<CastOp>();
  if (!cast || !getElementTypeOrSelf(operand).isF32())
    return operand;
  Type type = getElementTypeOrSelf(cast.getInput());
  return type.isF16() || type.isBF16() ? cast.getInput() : operand;
}

/// Creates the operation before `root`, which it takes the place of, and begins its body; null where no kernel does
/// this, as far as `isPossible` tells.
static AttentionOp createAttention(AttentionMatch &m, llvm::function_ref<bool(AttentionOp)> isPossible,
                                   Operation *&root, std::optional<BodyBuilder> &body) {
  Value queries = m.scores.getLhs(), keys = m.scores.getRhs(), values = m.mix->getOperand(1 - m.weightsNumber);
  double scale = takeScale(queries) * takeScale(keys);
  queries = getNarrow(queries);
  keys = getNarrow(keys);
  values = getNarrow(values);
  ArrayRef<int64_t> queryDims = m.scores.getLhsDims(), keyDims = m.scores.getRhsDims();
  std::optional<int64_t> keyDim = getKeyDim(m);
  if (!keyDim || !llvm::all_of(ArrayRef<Value>{queries, keys, values, m.softmax.getInput()}, hasKernelType)) {
    LDBG() << "leaves attention at " << m.mix.getLoc() << ": no kernel has its types, or its keys have no dimension";
    return {};
  }
  Indices indices = joinIndices(m);
  if (llvm::is_contained(queryDims, indices.scores[*keyDim])) {
    std::swap(queries, keys);
    std::swap(queryDims, keyDims);
  }
  root = m.mix;
  if (TransposeOp transpose = getTranspose(m.mix)) {
    SmallVector<int64_t> old = indices.result;
    for (auto [i, axis] : llvm::enumerate(transpose.getPermutation()))
      indices.result[i] = old[axis];
    root = transpose;
  }
  OpBuilder builder(root);
  auto op = AttentionOp::create(builder, builder.getFusedLoc({m.scores.getLoc(), m.softmax.getLoc(), m.mix.getLoc()}),
                                root->getResult(0).getType(), queries, keys, values, queryDims, keyDims, indices.scores,
                                indices.values, indices.result, /*zeroes_queries=*/false, /*split_keys=*/IntegerAttr(),
                                /*bf16_products=*/false);
  body.emplace(op);
  body->addScores(m.scores.getResult(), scale);
  if (op.getKeyIndex() == indices.scores[*keyDim] && isPossible(op))
    return op;
  LDBG() << "leaves attention at " << m.mix.getLoc() << ": no kernel has its indices";
  op->erase();
  return {};
}

std::optional<AttentionMatch> tenon::matchAttention(ContractOp mix) {
  for (unsigned operand : {0, 1})
    if (std::optional<AttentionMatch> found = match(mix, operand))
      return found;
  return std::nullopt;
}

/// True if the matched operations are an attention for which `isPossible` holds.
static bool isAttention(AttentionMatch &m, llvm::function_ref<bool(AttentionOp)> isPossible) {
  Operation *root = nullptr;
  std::optional<BodyBuilder> body;
  AttentionOp op = createAttention(m, isPossible, root, body);
  if (op)
    op->erase();
  return bool(op);
}

bool tenon::isFusible(AttentionMatch m, const AttentionPolicy &policy) {
  return isAttention(m, [&](AttentionOp op) { return isSupported(op, policy); });
}

/// True if the scores are computed with f32 sums, for more than few queries.
static bool areFactorsRounded(AttentionOp op, const AttentionPolicy &policy) {
  AffineExpr queries = getExtent(op.getScores(), op.getScoreDims(), *op.getQueryIndex());
  return !getElementTypeOrSelf(op.getScores()).isF64() && !policy.isFew(getConstant(queries));
}

bool tenon::canRoundFactors(AttentionMatch m, const AttentionPolicy &policy) {
  return isAttention(m, [&](AttentionOp op) { return isSupported(op, policy) && areFactorsRounded(op, policy); });
}

bool tenon::fillsAmxTiles(AttentionMatch m, const AttentionPolicy &policy) {
  return isAttention(m, [&](AttentionOp op) {
    return hasKnownSizes(op, policy) &&
           policy.fillsAmxTiles(*getConstant(getExtent(op.getKeys(), op.getKeyDims(), op.getSizeIndex())),
                                *getConstant(getExtent(op.getValues(), op.getValueDims(), op.getValueIndex())));
  });
}

AttentionOp tenon::fuseAttention(AttentionMatch m, const AttentionPolicy &policy, bool roundsFactors) {
  Operation *root = nullptr;
  std::optional<BodyBuilder> body;
  AttentionOp op = createAttention(m, [&](AttentionOp op) { return isSupported(op, policy); }, root, body);
  if (!op)
    return {};
  LDBG() << "fuses attention at " << m.mix.getLoc() << " with " << m.before.size() + m.after.size()
         << " operations on its scores";
  body->build(m);
  op.setZeroesQueries(m.zeroesQueries);
  op.setBf16Products(roundsFactors && areFactorsRounded(op, policy));
  root->replaceAllUsesWith(op);
  return op;
}

/// Creates the attention that is to be split, with its body, before `root`; null if its keys cannot be split.
static AttentionOp createSplit(AttentionMatch &m, const AttentionPolicy &policy, Operation *&root) {
  std::optional<BodyBuilder> body;
  AttentionOp op = createAttention(m, [&](AttentionOp op) { return getSplitKeys(op, policy).has_value(); }, root, body);
  if (!op)
    return {};
  body->build(m);
  if (!comparesPositions(op))
    return op;
  op->erase();
  return {};
}

bool tenon::isSplittable(AttentionMatch m, const AttentionPolicy &policy) {
  Operation *root = nullptr;
  AttentionOp op = createSplit(m, policy, root);
  if (op)
    op->erase();
  return bool(op);
}

CombineSplitsOp tenon::splitAttention(AttentionMatch m, const AttentionPolicy &policy) {
  Operation *root = nullptr;
  AttentionOp op = createSplit(m, policy, root);
  if (!op)
    return {};
  int64_t length = *getSplitKeys(op, policy);
  LDBG() << "splits the keys of attention at " << m.mix.getLoc() << " into splits of " << length;
  MLIRContext *context = op.getContext();
  AffineExpr keys = getExtent(op.getKeys(), op.getKeyDims(), op.getKeyIndex());
  Dims dims = getDims(op.getResult());
  dims.insert(dims.begin(), ceilDivDims(keys, getDimConstant(context, length)));
  dims.back() = addDims(dims.back(), getDimConstant(context, CombineSplitsOp::kNumStatistics));
  Type type = Float32Type::get(context);
  if (getElementTypeOrSelf(op.getScores()).isF64())
    type = Float64Type::get(context);
  OpBuilder builder(root);
  op.setSplitKeys(length);
  op.getResult().setType(getTensorType(dims, type));
  auto combined = CombineSplitsOp::create(builder, op.getLoc(), root->getResult(0).getType(), op, m.zeroesQueries);
  root->replaceAllUsesWith(combined);
  return combined;
}

void tenon::eraseUnused(func::FuncOp function) {
  SmallVector<Operation *> operations;
  function.walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
}
