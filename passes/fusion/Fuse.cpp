//===- Fuse.cpp - group operations into dispatch regions ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DotProducts.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/cost/Flops.h"
#include "passes/cost/FusionCost.h"
#include "passes/cost/FusionPolicy.h"
#include "passes/cost/LayoutPolicy.h"
#include "passes/cost/PromotedCopies.h"
#include "passes/fusion/Chains.h"
#include "passes/fusion/Cheap.h"
#include "passes/fusion/FusionChoices.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-fuse"

namespace tenon {
#define GEN_PASS_DEF_FUSE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What may be computed where
//===----------------------------------------------------------------------===//

/// True for constants, which cost nothing at run time or are copied into each region that reads them.
static bool isConstant(Operation *op) {
  if (auto weight = dyn_cast<WeightOp>(op))
    return isa<SplatElementsAttr>(weight.getValue());
  return isa<SizesOp>(op);
}

/// True if the producer of a value can write it directly into the result of the concat.
static bool isPlaceable(Value value, ConcatOp concat) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != concat->getBlock() ||
      (definition->hasTrait<NoKernel>() && !definition->hasTrait<LaunchLike>()))
    return false;
  return llvm::none_of(definition->getUsers(), [&](Operation *user) {
    return isa<func::ReturnOp, AppendOp>(user) || (isa<ConcatOp>(user) && user != concat);
  });
}

/// Upper bound for the inputs of all concats in a region: its kernel has a branch for each, and the time to compile it
/// grows with their square (LLVM compares all memory accesses of a loop for dependences): a third of a second for 64.
constexpr size_t kMaxBranches = 64; // limit: compile time

/// Replaces a concat of too many inputs for a kernel by a tree of concats, of which each is a kernel of its own. The
/// price is that elements are copied once per level. Contiguous concats need no branches: they copy input by input.
static void splitConcat(ConcatOp concat) {
  if (isContiguous(concat))
    return;
  OpBuilder b(concat);
  SmallVector<Value> inputs(concat.getInputs());
  while (inputs.size() > kMaxBranches) {
    size_t groups = llvm::divideCeil(inputs.size(), kMaxBranches);
    SmallVector<Value> next;
    for (size_t group = 0; group < groups; ++group) {
      size_t begin = group * inputs.size() / groups, end = (group + 1) * inputs.size() / groups;
      ValueRange part = ValueRange(inputs).slice(begin, end - begin);
      next.push_back(ConcatOp::create(b, concat.getLoc(), part, concat.getAxis()));
    }
    inputs = std::move(next);
  }
  concat.getInputsMutable().assign(inputs);
}

/// True if most inputs of a concat can be written directly into its result; the concat then only copies the others.
static bool joinsInMemory(ConcatOp concat) {
  if (!isContiguous(concat))
    return false;
  if (concat.getInputs().size() > kMaxBranches)
    return true;
  if (llvm::any_of(concat->getUsers(),
                   [](Operation *user) { return user->hasTrait<OpTrait::ReturnLike>() || isa<AppendOp>(user); }))
    return false;
  int64_t numPlaceable =
      llvm::count_if(concat.getInputs(), [&](Value input) { return isPlaceable(getReshaped(input), concat); });
  return 2 * numPlaceable > static_cast<int64_t>(concat.getInputs().size());
}

/// True for a loop nest that can apply an epilogue to each element of its result.
static bool allowsEpilogue(Operation *op) {
  auto nest = dyn_cast<LoopNestOpInterface>(op);
  return nest && nest.allowsEpilogue();
}

/// True for a quantization, whose result takes little memory but is costly to recompute.
static bool quantizes(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && isa<FloatType>(getElementTypeOrSelf(cast.getInput())) &&
         isa<IntegerType>(cast.getType().getElementType()) && cast.getType().getElementTypeBitWidth() == 8;
}

bool tenon::isCheap(Operation *op) {
  // Other types for the same bits take no instruction.
  return (op->hasTrait<Recomputable>() || isa<BitcastOp>(op)) && !quantizes(op);
}

/// True if the operation is in the epilogue of a loop nest, where it costs nothing but its arithmetic.
static bool isEpilogue(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    Operation *definition = operand.getDefiningOp();
    return definition && operand.hasOneUse() &&
           (allowsEpilogue(definition) || (definition->hasTrait<Elementwise>() && isEpilogue(definition)));
  });
}

/// True if an elementwise operation belongs to the epilogue of a loop nest whose sums have elements of more than `bits`
/// bits.
static bool followsWiderSums(Operation *op, unsigned bits) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || !operand.hasOneUse())
      return false;
    return allowsEpilogue(definition) ? getElementTypeOrSelf(operand).getIntOrFloatBitWidth() > bits
                                      : definition->hasTrait<Elementwise>() && followsWiderSums(definition, bits);
  });
}

/// True if the result of an epilogue takes less memory than the sums, so that it should be stored in their place.
static bool isBestStored(Operation *op) {
  return op->hasTrait<Elementwise>() &&
         followsWiderSums(op, getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth());
}

namespace {
/// What the choices of this pass are made by.
struct Policies {
  FusionPolicy fusion;
  LayoutPolicy layout;
  ChainPolicy chains;
  /// False where the same is to be decided on any machine: then no costly operation is recomputed.
  bool knowsMachine = true;
};
} // namespace

/// True if an elementwise operation whose result `user` broadcasts is better recomputed for each element than stored.
/// False for dynamic extents.
static bool isBestRecomputed(Operation *op, Operation *user, const Policies &policies) {
  if (!policies.knowsMachine)
    return false;
  std::optional<int64_t> elements = getConstant(getElementCount(op->getContext(), getDims(op->getResult(0))));
  std::optional<int64_t> reads = getConstant(getElementCount(op->getContext(), getDims(user->getResult(0))));
  Type type = getElementTypeOrSelf(op->getResult(0));
  if (!(isa<BroadcastOp>(user) || user->hasTrait<Elementwise>()) || !op->hasTrait<Elementwise>() || quantizes(op) ||
      isEpilogue(op) || !elements || !reads || !type.isIntOrFloat())
    return false;
  double bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  const FusionPolicy &costs = policies.fusion;
  return paysToRecompute({double(*elements), double(*reads), bytes, costs.costlyVectorCycles, costs.userVectorCycles},
                         getMachine(op));
}

/// True if the kernel of a contraction still loads contiguous vectors when the transpose at operand `number` is fused:
/// the last dimension of the result stays contiguous in the operand; if vectors are loaded from the other operand, the
/// rows of this one stay contiguous or columns are few.
static bool keepsVectors(TransposeOp transpose, ContractOp contract, unsigned number, const LayoutPolicy &policy) {
  ArrayRef<int64_t> indices = number == 0 ? contract.getLhsDims() : contract.getRhsDims();
  if (contract.getResultDims().empty() || getDotIndex(contract))
    return true;
  int64_t last = indices.size() - 1;
  const int64_t *column = llvm::find(indices, contract.getResultDims().back());
  if (column == indices.end())
    return transpose.getPermutation().back() == last || llvm::is_contained(contract.getResultDims(), indices.back()) ||
           getConstant(getDims(contract.getResult()).back()).value_or(policy.minGatheredColumns) <
               policy.minGatheredColumns;
  return getConstant(getDims(transpose)[column - indices.begin()]) == 1 ||
         transpose.getPermutation()[column - indices.begin()] == last;
}

/// The same for an operand of a convolution. With channels last, an input of few channels may be read in any order, and
/// vectors run along the last dimension of a filter. With channels first, they run along the last one of the input.
static bool keepsChannels(TransposeOp transpose, ConvolveOp convolve, unsigned number, const FusionPolicy &policy) {
  int64_t channelDim = convolve.getChannelDim();
  if ((number == 0) != convolve.getChannelsLast())
    return transpose.getPermutation().back() == transpose.getType().getRank() - 1;
  return !convolve.getChannelsLast() || transpose.getPermutation()[channelDim] == channelDim ||
         (convolve.getGroups() == 1 &&
          getConstant(getDims(transpose)[channelDim]).value_or(policy.fewChannels + 1) <= policy.fewChannels);
}

/// True if the last dimension stays the last one, as an int8 matmul requires, which reads groups of four along it.
static bool keepsK4Axis(TransposeOp transpose, Operation *nest) {
  bool isInt8 = getElementTypeOrSelf(nest->getResult(0)).isInteger(32) &&
                transpose.getType().getElementType().isUnsignedInteger(8);
  return !isInt8 || transpose.getPermutation().back() == static_cast<int64_t>(transpose.getPermutation().size()) - 1;
}

/// True for the conversion of a packed low-bit weight, which the kernel of a contraction applies to the elements that
/// it loads.
static bool widensWeight(Operation *op) {
  return isa<DequantizeOp, CastOp>(op) && op->getOperand(0).getDefiningOp<UnpackOp>();
}

/// True for rows that the kernel of a product multiplies as the integers or the f16 that they are rounded to.
static bool areMultipliedAsStored(Operation *op) {
  StringRef path;
  if (isa<DequantizeOp>(op))
    path = getElementTypeOrSelf(op->getOperand(0)).isInteger(16) ? kRoundedInt16GroupsPath : kRoundedInt8GroupsPath;
  else if (isa<CastOp>(op))
    path = kRoundedF16Path;
  return !path.empty() && !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->getAttr(kPathAttr) == StringAttr::get(user->getContext(), path);
  });
}

static bool isForAttention(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<AttentionOp>(user) || (isa<TransposeOp>(user) && isForAttention(user));
  });
}

/// True for an operation that only changes indices, or is as cheap. Queries, keys and values are often slices of one
/// matmul's result.
static bool movesElements(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  bool isPart =
      slice && llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; }) && isForAttention(slice);
  return isPart || isa<TransposeOp, BroadcastOp>(op) || op->hasTrait<Unpacking>() || widensWeight(op) ||
         areMultipliedAsStored(op);
}

/// True for a cast from f16 or bf16 that the kernel of a contraction or convolution applies once, as it packs the
/// operand.
static bool isWidenedByProduct(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && isWidenedWhenRead(cast);
}

/// True if a transpose feeds a cast that convolutions apply as they pack their input, and they can read the input in
/// its order as well.
static bool isReadTransposed(Operation *op, Operation *cast, const FusionPolicy &policy) {
  auto transpose = dyn_cast<TransposeOp>(op);
  return transpose && llvm::all_of(cast->getUsers(), [&](Operation *user) {
           auto convolve = dyn_cast<ConvolveOp>(user);
           return convolve && keepsChannels(transpose, convolve, 0, policy);
         });
}

/// True if elements must be computed before `user` reads them: a loop nest that rereads its operands would recompute
/// them each time, and a scan is not vectorized along its dimension.
static bool needsOperandsBefore(Operation *user) {
  auto nest = dyn_cast<LoopNestOpInterface>(user);
  return (nest && nest.rereadsOperands()) || isWidenedByProduct(user) ||
         (movesElements(user) && llvm::any_of(user->getUsers(), needsOperandsBefore));
}

/// True if a mark may say that the result of an operation is materialized, or recomputed. Constants and views have no
/// kernel, and the memory of packed operands is only read by kernels that undo the packing.
static bool hasFusionChoice(Operation *op) {
  return !op->hasTrait<NoKernel>() && !op->hasTrait<Unpacking>() && !widensWeight(op) && !isWidenedByProduct(op) &&
         !areMultipliedAsStored(op) && op->getNumResults() == 1;
}

/// True if an element is computed, in at most `steps` elementwise operations, from gathered elements.
static bool looksUpElements(Operation *op, int64_t steps = 4) {
  if (isa<GatherOp>(op))
    return true;
  return steps > 0 && op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), [&](Value operand) {
           Operation *definition = operand.getDefiningOp();
           return definition && looksUpElements(definition, steps - 1);
         });
}

/// True if a loop nest may compute the elements of `producer` as it reads them.
static bool mayInlineInto(Operation *producer, LoopNestOpInterface nest, OpOperand &use, const Policies &policies) {
  if (auto transpose = dyn_cast<TransposeOp>(producer);
      transpose && isa<ContractOp, ConvolveOp>(*nest) && !keepsK4Axis(transpose, nest))
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(producer))
    if (auto contract = dyn_cast<ContractOp>(*nest);
        contract && !keepsVectors(transpose, contract, use.getOperandNumber(), policies.layout))
      return false;
  if (auto transpose = dyn_cast<TransposeOp>(producer))
    if (auto convolve = dyn_cast<ConvolveOp>(*nest);
        convolve && !keepsChannels(transpose, convolve, use.getOperandNumber(), policies.fusion))
      return false;
  switch (nest.getOperandFusion()) {
  case OperandFusion::none:
    return false;
  case OperandFusion::movement:
    return movesElements(producer) || isWidenedByProduct(producer);
  case OperandFusion::recomputable:
    return isCheap(producer);
  case OperandFusion::any:
    return true;
  }
  llvm_unreachable("all cases are above");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {

/// A root, whose results are stored, and the operations that are fused with it.
struct Group {
  Operation *root;
  SetVector<Operation *> ops;
  bool hasLoopNest;
  /// Operations whose elements are computed at the same indices as those of the root, or as the values that a first
  /// loop nest passes to a second one.
  llvm::SmallPtrSet<Operation *, 8> inPlace;
  /// The first loop nest of a region that has two.
  Operation *first = nullptr;
  /// Inputs of all concats.
  size_t numBranches = 0;
};

class Fusion {
public:
  Fusion(Block &block, int64_t maxOps, const Policies &policies) : block(block), maxOps(maxOps), policies(policies) {}
  /// Assigns operations to regions, and copies those that are to be recomputed.
  void group();
  /// Replaces regions by dispatches.
  void build();
  /// Where the groups could be others.
  std::vector<FusionChoice> listChoices();

private:
  bool isNeededInMemory(Operation *op) const;
  Group *findRegion(Operation *op);
  bool mayJoin(Operation *op, Group &region);
  bool joinChain(const ChainMatch &chain);
  llvm::DenseMap<Operation *, ChainMatch> listChains();
  void join(Operation *op, Group &region);
  SetVector<Group *> listConsumers(Operation *op);
  bool recomputePerConsumer(Operation *op);
  std::optional<FusionChoice> findChoice(Operation *op);
  void build(Group &region);

  Block &block;
  int64_t maxOps;
  const Policies &policies;
  std::vector<std::unique_ptr<Group>> regions;
  llvm::DenseMap<Operation *, Group *> regionOf;
};

} // namespace

static bool hasDimsOf(Operation *op, Operation *other) {
  return getDims(op->getResult(0)) == getDims(other->getResult(0));
}

/// True if a kernel that moves elements may read a transposed tensor: neighbours stay neighbours, or there are few of
/// them, before or after. Others are transposed in squares, by a kernel of their own.
static bool keepsNeighbours(TransposeOp transpose, const FusionPolicy &policy) {
  auto isFew = [&](Value value) {
    return getConstant(getDims(value).back()).value_or(policy.fewChannels + 1) <= policy.fewChannels;
  };
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  return permutation.empty() || permutation.back() == static_cast<int64_t>(permutation.size()) - 1 ||
         isFew(transpose.getInput()) || isFew(transpose);
}

/// True if the elements of `op` may be computed where its user reads them.
static bool mayBeComputedIn(Operation *op, OpOperand &use, const Policies &policies) {
  Operation *user = use.getOwner();
  if (auto nest = dyn_cast<LoopNestOpInterface>(user))
    return mayInlineInto(op, nest, use, policies);
  // A region's reshape is between two loop nests.
  if (isa<ReshapeOp>(user))
    return op->hasTrait<Elementwise>();
  // AMX tiles load bf16 terms directly from memory, and vector code loads the elements that it splits or promotes.
  if (isWidenedByProduct(user))
    return isReadTransposed(op, user, policies.fusion);
  if (isa<MergeTermsOp, UnpackOp>(user))
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(op); transpose && isa<PadOp>(user))
    return keepsNeighbours(transpose, policies.fusion);
  // The epilogue of a product is applied to sums in registers, and squares are transposed faster as they are.
  if (isa<TransposeOp>(user) && isEpilogue(op))
    return false;
  // Each element is asked for once for each part.
  if (isa<SplitTermsOp>(user))
    return movesElements(op) || isa<PadOp>(op) ||
           (isa<MulOp>(op) && !getElementTypeOrSelf(user->getResult(0)).isBF16());
  return hasDimsOf(op, user) || (isCheap(op) && !isBestStored(op)) || isBestRecomputed(op, user, policies);
}

bool Fusion::mayJoin(Operation *op, Group &region) {
  // Only a kernel that reads a packed operand can undo the packing at no cost.
  if (static_cast<int64_t>(region.ops.size()) >= maxOps && !op->hasTrait<Unpacking>())
    return false;
  if (op == region.first)
    return true;
  if (auto concat = dyn_cast<ConcatOp>(op); concat && region.numBranches + concat.getInputs().size() > kMaxBranches)
    return false;
  if (isa<LoopNestOpInterface>(op))
    return !region.hasLoopNest && allowsEpilogue(op) && op->hasOneUse() && region.inPlace.contains(*op->user_begin()) &&
           hasDimsOf(op, region.root);
  // The other users of an operation that is recomputed are in other regions.
  auto uses =
      llvm::make_filter_range(op->getUses(), [&](OpOperand &use) { return region.ops.contains(use.getOwner()); });
  auto users = llvm::map_range(uses, [](OpOperand &use) { return use.getOwner(); });
  if (!movesElements(op) && !isWidenedByProduct(op) && llvm::any_of(users, needsOperandsBefore))
    return false;
  // If `op` were computed here, the loop nest before it could no longer narrow its wider sums before it stores them.
  bool isInPlace = llvm::all_of(users, [&](Operation *user) { return region.inPlace.contains(user); });
  if (!isInPlace && isBestStored(op))
    return false;
  for (OpOperand &use : uses) {
    Operation *user = use.getOwner();
    if (!mayBeComputedIn(op, use, policies))
      return false;
    // Gathers are vectorized, but not behind a branch.
    if (isa<ConcatOp>(user) && looksUpElements(op))
      return false;
  }
  return true;
}

/// Returns the region of all users of `op` if `op` may join it, else null.
Group *Fusion::findRegion(Operation *op) {
  Group *region = nullptr;
  for (Operation *user : op->getUsers()) {
    Group *other = regionOf.lookup(user);
    if (!other || (region && region != other))
      return nullptr;
    region = other;
  }
  if (!region || (op->hasAttr(kMaterializedAttr) && op != region->first && hasFusionChoice(op)))
    return nullptr;
  return mayJoin(op, *region) ? region : nullptr;
}

void Fusion::join(Operation *op, Group &region) {
  region.ops.insert(op);
  region.hasLoopNest |= isa<LoopNestOpInterface>(op);
  if (auto concat = dyn_cast<ConcatOp>(op))
    region.numBranches += concat.getInputs().size();
  regionOf[op] = &region;
  bool usersInPlace = op == region.root || llvm::all_of(op->getUsers(), [&](Operation *user) {
                        return region.inPlace.contains(user) && (isa<ReshapeOp>(user) || hasDimsOf(op, user));
                      });
  if (op->hasTrait<Elementwise>() && usersInPlace)
    region.inPlace.insert(op);
}

/// Returns the regions of all users of a result that several regions read, if it may be computed in each; else none.
SetVector<Group *> Fusion::listConsumers(Operation *op) {
  SetVector<Group *> consumers;
  for (Operation *user : op->getUsers())
    consumers.insert(regionOf.lookup(user));
  bool mayJoinAll = consumers.size() > 1 && hasFusionChoice(op) && isCheap(op) && !isa<LoopNestOpInterface>(op) &&
                    llvm::all_of(consumers, [&](Group *region) { return region && mayJoin(op, *region); });
  return mayJoinAll ? consumers : SetVector<Group *>();
}

/// Replaces an operation by a copy in each region that reads it. Returns false, and does nothing, where a region has to
/// read the result from memory: then all of them can.
bool Fusion::recomputePerConsumer(Operation *op) {
  SetVector<Group *> consumers = listConsumers(op);
  if (consumers.empty())
    return false;
  LDBG() << "recomputes " << op->getName() << " at " << op->getLoc() << " in " << consumers.size() << " regions";
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Group *region : consumers) {
    Operation *copy = builder.clone(*op);
    op->getResult(0).replaceUsesWithIf(copy->getResult(0),
                                       [&](OpOperand &use) { return region->ops.contains(use.getOwner()); });
    join(copy, *region);
  }
  op->erase();
  return true;
}

/// One for each kernel that widens, unpacks or dequantizes what it reads.
static void repeatReads(Block &block) {
  // Users come first: what is cloned has one more operation that reads its operands.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto cast = dyn_cast<CastOp>(op);
    if (!(cast && isWidenedWhenRead(cast)) && !op.hasTrait<Unpacking>() && !areMultipliedAsStored(&op))
      continue;
    OpBuilder b(&op);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op.getUses())))
      use.set(b.clone(op)->getResult(0));
  }
}

/// Lists the chains that `tenon-choose-forms` has marked, by their links. What has changed since is no chain any more.
llvm::DenseMap<Operation *, ChainMatch> Fusion::listChains() {
  llvm::DenseMap<Operation *, ChainMatch> chains;
  for (auto link : block.getOps<ReshapeOp>()) {
    if (!link->hasAttr(kChainTileAttr))
      continue;
    if (std::optional<ChainMatch> match = matchChain(link, policies.chains))
      chains.try_emplace(link, std::move(*match));
    else
      link->removeAttr(kChainTileAttr);
  }
  return chains;
}

/// Adds the operations between two loop nests to the region of the second one, if they fit.
bool Fusion::joinChain(const ChainMatch &chain) {
  ReshapeOp link = chain.link;
  Group *region = regionOf.lookup(*link->user_begin());
  assert(region && link->hasOneUse() && "what reads a chain's link has a region before the link has one");
  if (static_cast<int64_t>(region->ops.size()) + policies.chains.maxOpsBefore > maxOps) {
    link->removeAttr(kChainTileAttr);
    return false;
  }
  LDBG() << "joins two loop nests by the reshape at " << link.getLoc();
  region->first = chain.first;
  region->ops.insert(link);
  region->inPlace.insert(link);
  regionOf[link] = region;
  return true;
}

/// True if a size has to be stored. Sizes are recomputed where regions read them; views, concats and the caller read
/// them from memory, and tenon.bind takes an expression.
bool Fusion::isNeededInMemory(Operation *op) const {
  return isa<SizesOp>(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
           if (isa<BindOp>(user))
             return false;
           if (user->hasTrait<NoKernel>() || isa<func::ReturnOp>(user))
             return true;
           bool isHere = user->getBlock() == &block;
           return isHere ? !regionOf.contains(user) : isa<SliceOp, ConcatOp>(user);
         });
}

void Fusion::group() {
  llvm::DenseMap<Operation *, ChainMatch> chains = listChains();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto chain = chains.find(&op); chain != chains.end() && joinChain(chain->second))
      continue;
    if (op.hasTrait<NoKernel>() && !isNeededInMemory(&op))
      continue;
    if (auto concat = dyn_cast<ConcatOp>(op); concat && joinsInMemory(concat))
      continue;
    if (op.hasAttr(kRecomputedAttr) && recomputePerConsumer(&op))
      continue;
    Group *region = findRegion(&op);
    if (auto slice = dyn_cast<SliceOp>(op); slice && !region && isContiguous(slice))
      continue;
    if (!region) {
      regions.push_back(std::make_unique<Group>(Group{&op, {}, /*hasLoopNest=*/false, {}}));
      region = regions.back().get();
      LDBG() << "begins a region with " << op.getName() << " at " << op.getLoc();
    } else {
      LDBG() << "computes " << op.getName() << " at " << op.getLoc() << " where " << region->root->getName()
             << " reads it";
    }
    join(&op, *region);
  }
}

void Fusion::build() {
  for (auto &region : regions)
    build(*region);
}

static StringAttr getFirstName(Location loc) {
  auto named = loc->findInstanceOf<NameLoc>();
  return named ? named.getName() : StringAttr();
}

/// Returns the location of fused operations. A region is named after its heaviest operation, which is the loop nest
/// with the most arithmetic; that node is the location's metadata unless it comes first anyway.
static Location fuseLocations(ArrayRef<Operation *> ops, Builder &builder) {
  SmallVector<Location> locs;
  Operation *heaviest = nullptr;
  int64_t most = -1;
  for (Operation *op : ops) {
    locs.push_back(op->getLoc());
    int64_t flops = isa<LoopNestOpInterface>(op) ? getConstant(countFlops(op)).value_or(0) : -1;
    if (flops > most) {
      heaviest = op;
      most = flops;
    }
  }
  StringAttr lead = heaviest ? getFirstName(heaviest->getLoc()) : StringAttr();
  Location fused = builder.getFusedLoc(locs);
  return lead && lead != getFirstName(fused) ? builder.getFusedLoc(locs, lead) : fused;
}

void Fusion::build(Group &region) {
  assert(region.ops.contains(region.root) && "a region computes its root");
  OpBuilder builder(region.root);
  SmallVector<Operation *> ops(llvm::reverse(region.ops));
  auto dispatch = DispatchOp::create(builder, fuseLocations(ops, builder), region.root->getResultTypes());
  builder.setInsertionPointToStart(&dispatch.getBody().emplaceBlock());
  IRMapping mapping;
  for (Operation *op : llvm::reverse(region.ops)) {
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && isConstant(definition) && !mapping.contains(operand))
        builder.clone(*definition, mapping);
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (Value result : region.root->getResults())
    results.push_back(mapping.lookup(result));
  YieldOp::create(builder, region.root->getLoc(), results);
  region.root->replaceAllUsesWith(dispatch.getResults());
  for (Operation *op : region.ops)
    op->erase();
}

//===----------------------------------------------------------------------===//
// What could be fused otherwise
//===----------------------------------------------------------------------===//

double tenon::getVectorCycles(Operation *op, const FusionPolicy &policy) {
  if (op->hasTrait<SingleInstruction>())
    return policy.instructionVectorCycles;
  return isCheap(op) || !op->hasTrait<Elementwise>() ? policy.movedVectorCycles : policy.costlyVectorCycles;
}

/// The elements of a result; none if they are not known.
static std::optional<int64_t> countElements(Operation *op) {
  return getConstant(getElementCount(op->getContext(), getDims(op->getResult(0))));
}

double tenon::countReads(Operation *producer, Operation *consumer) {
  std::optional<int64_t> elements = countElements(producer), results = countElements(consumer);
  assert(elements && results && "a choice is of static extents");
  return isa<LoopNestOpInterface>(consumer) ? *elements : std::max(*elements, *results);
}

/// Lists different operations of a block in its order.
template <typename Ops> static SmallVector<Operation *> listInOrder(Ops &&ops) {
  SetVector<Operation *> unique(ops.begin(), ops.end());
  SmallVector<Operation *> list = unique.takeVector();
  llvm::sort(list, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return list;
}

/// True if `consumer` reads elements of `producer` repeatedly, or against the order of memory.
static bool isReadCostly(Operation *producer, Operation *consumer) {
  auto nest = dyn_cast<LoopNestOpInterface>(consumer);
  if ((nest && nest.rereadsOperands()) || isa<BroadcastOp>(consumer) ||
      (consumer->hasTrait<Elementwise>() && !hasDimsOf(producer, consumer)))
    return true;
  auto transpose = dyn_cast<TransposeOp>(producer);
  return transpose && transpose.getPermutation().back() != transpose.getType().getRank() - 1;
}

/// Returns the choice that there is about an operation, if any.
std::optional<FusionChoice> Fusion::findChoice(Operation *op) {
  Group *region = regionOf.lookup(op);
  if (!region || !hasFusionChoice(op) || !countElements(op))
    return std::nullopt;
  const FusionPolicy &policy = policies.fusion;
  if (op == region->root) {
    // What else is in the region would have to be stored in place of the result.
    SetVector<Group *> kernels = region->ops.size() == 1 ? listConsumers(op) : SetVector<Group *>();
    int64_t numOperands =
        llvm::count_if(op->getOperands(), [](Value operand) { return !operand.getDefiningOp<WeightOp>(); });
    if (kernels.empty() || static_cast<int64_t>(kernels.size()) > policy.maxRecomputingKernels ||
        numOperands > policy.maxRecomputedOperands ||
        !llvm::all_of(op->getUsers(), [](Operation *user) { return countElements(user).has_value(); }))
      return std::nullopt;
    return FusionChoice{FusionChoiceKind::shared, op, listInOrder(op->getUsers())};
  }
  if (isa<LoopNestOpInterface>(op)) {
    SmallVector<Operation *> epilogue;
    llvm::copy_if(region->ops, std::back_inserter(epilogue),
                  [&](Operation *other) { return region->inPlace.contains(other) && op->isBeforeInBlock(other); });
    double cycles = 0;
    for (Operation *other : epilogue)
      cycles += getVectorCycles(other, policy);
    // What is narrower than the sums is stored in their place.
    if (cycles < policy.minEpilogueVectorCycles || *countElements(op) < policy.minChoiceReads ||
        llvm::any_of(epilogue, isBestStored))
      return std::nullopt;
    return FusionChoice{FusionChoiceKind::epilogue, op, listInOrder(epilogue)};
  }
  SmallVector<Operation *> readers = listInOrder(llvm::make_filter_range(
      op->getUsers(), [&](Operation *user) { return isReadCostly(op, user) && countElements(user); }));
  double reads = 0;
  for (Operation *reader : readers)
    reads += countReads(op, reader);
  // A broadcast that is materialized is more to read than what it copies, and a contiguous slice is a view.
  auto slice = dyn_cast<SliceOp>(op);
  if (isa<BroadcastOp>(op) || (slice && isContiguous(slice)) || reads < policy.minChoiceReads)
    return std::nullopt;
  return FusionChoice{FusionChoiceKind::prologue, op, std::move(readers)};
}

std::vector<FusionChoice> Fusion::listChoices() {
  std::vector<FusionChoice> choices;
  for (Operation &op : block)
    if (std::optional<FusionChoice> choice = findChoice(&op))
      choices.push_back(std::move(*choice));
  return choices;
}

std::vector<FusionChoice> tenon::listFusionChoices(Block &block, const FusionPolicy &policy) {
  Policies policies;
  policies.fusion = policy;
  policies.knowsMachine = false;
  Fusion fusion(block, FuseOptions().maxOps, policies);
  fusion.group();
  return fusion.listChoices();
}

/// Replaces large splat weights by a broadcast of the single value, which the artifact would otherwise store once per
/// element.
static void stretchLargeSplats(func::FuncOp function) {
  constexpr int64_t kMaxBytes = int64_t(1) << 24; // limit: the size of artifacts
  function.walk([&](WeightOp weight) {
    auto splat = dyn_cast<SplatElementsAttr>(weight.getValue());
    RankedTensorType type = weight.getType();
    if (!splat || type.getNumElements() <= kMaxBytes * 8 / type.getElementTypeBitWidth())
      return;
    OpBuilder b(weight);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value one = WeightOp::create(b, weight.getLoc(), DenseElementsAttr::get(scalar, splat.getSplatValue<Attribute>()));
    weight.replaceAllUsesWith(BroadcastOp::create(b, weight.getLoc(), type, one).getResult());
    weight.erase();
  });
}

namespace {
struct Fuse : public tenon::impl::FuseBase<Fuse> {
  using FuseBase::FuseBase;
  void runOnOperation() override {
    // A region is within one block: it does not cross the boundary of a branch or of a loop's body.
    SmallVector<Block *> blocks;
    stretchLargeSplats(getOperation());
    getOperation().walk([&](Block *block) {
      if (!isa<AttentionOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      repeatReads(*block);
      for (auto concat : llvm::make_early_inc_range(block->getOps<ConcatOp>()))
        splitConcat(concat);
      Fusion fusion(*block, maxOps, policies);
      fusion.group();
      fusion.build();
    }
    // Kernels are equal or not whatever was said about their fusion.
    getOperation().walk([](Operation *op) {
      op->removeAttr(kMaterializedAttr);
      op->removeAttr(kRecomputedAttr);
    });
  }

private:
  Policies policies;
};
} // namespace
