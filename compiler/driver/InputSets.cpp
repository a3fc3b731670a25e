//===- InputSets.cpp - inputs that errors are measured with ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/InputSets.h"
#include "compiler/artifact/DTypes.h"
#include "compiler/errors/CompileError.h"
#include "dialects/tenon/Tenon.h"
#include "passes/Kernel.h"
#include "passes/shape/FunctionFacts.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tenon;

using Sizes = llvm::DenseMap<AffineExpr, AffineExpr>;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// True if an input of two or more dimensions begins with the symbol, so that it is a batch size.
static bool isLeading(func::FuncOp function, AffineExpr symbol) {
  return llvm::any_of(function.getArgumentTypes(), [&](Type type) {
    Dims dims = getDims(cast<RankedTensorType>(type));
    return dims.size() > 1 && dims.front() == symbol;
  });
}

static constexpr int64_t kUsual = 64;

/// The symbols of inputs that are no batch.
static SmallVector<AffineExpr> listLengths(func::FuncOp function) {
  SmallVector<AffineExpr> lengths;
  for (AffineExpr symbol : getInputSymbols(function))
    if (!isLeading(function, symbol))
      lengths.push_back(symbol);
  return lengths;
}

/// Returns the number of guesses; with a single symbol there is nothing to vary.
static unsigned countGuesses(func::FuncOp function) {
  constexpr size_t kMaxLengths = 3; // policy: eight guesses
  size_t lengths = listLengths(function).size();
  return lengths < 2 ? 1 : 1u << std::min(lengths, kMaxLengths);
}

/// Chooses values for the symbols of inputs: `batch` for a batch without a preferred size, and for others 64, halved
/// `halvings` times, plus one for the bits of `guess`.
static Sizes chooseSizes(func::FuncOp function, ArrayRef<NamedRange> preferred, int64_t batch, unsigned halvings,
                         unsigned guess) {
  MLIRContext *context = function.getContext();
  Facts facts = collectFacts(function);
  SmallVector<AffineExpr> lengths = listLengths(function);
  Sizes sizes;
  // A session begins with states of no live rows.
  for (auto [symbol, range] : getStateSymbols(function))
    sizes[symbol] = getDimConstant(context, 0);
  for (AffineExpr symbol : getInputSymbols(function)) {
    Interval range = facts.getRange(symbol);
    int64_t value = batch;
    if (const auto *length = llvm::find(lengths, symbol); length != lengths.end())
      value = std::max<int64_t>(kUsual >> halvings, 1) + (guess >> (length - lengths.begin()) & 1);
    auto known = llvm::find_if(preferred, [&](const NamedRange &one) {
      return getDimSymbol(context, one.symbol) == symbol && one.range.min >= range.min && one.range.max <= range.max;
    });
    if (known != preferred.end())
      value = known->range.min;
    sizes[symbol] = getDimConstant(context, std::clamp(value, range.min, range.max));
  }
  return sizes;
}

static std::optional<int64_t> evaluate(AffineExpr dim, const Sizes &sizes) {
  return getConstant(simplifyDim(dim.replace(sizes)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
/// The range of integers that an input may hold. `extent` is null if the graph does not determine it.
struct Use {
  bool isLength = false; ///< 1 to extent, and not 0 to extent - 1
  AffineExpr extent;
};
} // namespace

/// If a value consists of positions along a dimension, returns the extent of that dimension.
static AffineExpr getCounted(Value value) {
  Operation *op = value.getDefiningOp();
  auto keepsPositions = [](Operation *op) {
    auto map = dyn_cast<IndexMapOpInterface>(op);
    return isa<CastOp>(op) || (map && map.keepsAllElements());
  };
  while (op && keepsPositions(op))
    op = op->getOperand(0).getDefiningOp();
  auto iota = dyn_cast_or_null<IotaOp>(op);
  return iota ? getDim(iota, iota.getAxis()) : AffineExpr();
}

/// Returns the smallest static one of `count` dimensions from `first` on, as a common bound for all coordinates; the
/// first one if all are dynamic.
static AffineExpr getSmallest(ArrayRef<AffineExpr> dims, int64_t first, AffineExpr count) {
  AffineExpr smallest;
  dims = dims.slice(first, getConstant(count).value_or(0));
  for (AffineExpr dim : dims)
    if (getConstant(dim) && (!smallest || *getConstant(dim) < *getConstant(smallest)))
      smallest = dim;
  return smallest || dims.empty() ? smallest : dims.front();
}

/// Returns the dimension whose positions an operand contains; null if there is none.
static AffineExpr getIndexed(OpOperand &use) {
  Operation *op = use.getOwner();
  if (use.getOperandNumber() != 1)
    return {};
  if (auto gather = dyn_cast<GatherOp>(op))
    return getDim(gather.getInput(), gather.getAxis());
  if (auto gather = dyn_cast<GatherElementsOp>(op))
    return getDim(gather.getInput(), gather.getAxis());
  if (auto scatter = dyn_cast<ScatterElementsOp>(op))
    return getDim(scatter.getInput(), scatter.getAxis());
  if (auto gather = dyn_cast<GatherNDOp>(op))
    return getSmallest(getDims(gather.getInput()), gather.getBatchDims(), getDims(gather.getIndices()).back());
  if (auto scatter = dyn_cast<ScatterNDOp>(op))
    return getSmallest(getDims(scatter.getInput()), 0, getDims(scatter.getIndices()).back());
  return {};
}

/// Follows a value through operations that move elements to the operation that determines their range.
static Use findUse(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (AffineExpr indexed = getIndexed(use))
      return {false, indexed};
    if (isa<CompareOp>(op))
      if (AffineExpr counted = getCounted(op->getOperand(1 - use.getOperandNumber())))
        return {true, counted};
    bool isMoved =
        isa<CastOp>(op) || (op->hasTrait<DataMovement>() && (use.getOperandNumber() == 0 || isa<ConcatOp>(op)));
    if (!isMoved || isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) || !seen.insert(op).second)
      continue;
    if (Use found = findUse(op->getResult(0), seen); found.extent)
      return found;
  }
  return {};
}

namespace {
/// Reproducible uniform and normally distributed numbers: splitmix64, and the sum of twelve.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  double nextNormal() {
    double sum = -6;
    for (int i = 0; i < 12; i += 2) {
      uint64_t bits = next();
      sum += static_cast<double>(bits & UINT32_MAX) * 0x1p-32 + static_cast<double>(bits >> 32) * 0x1p-32;
    }
    return sum;
  }

private:
  uint64_t state;
};
} // namespace

static void store(double value, FloatType type, char *place) {
  APFloat number(value);
  bool losesInfo;
  number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(place, &bits, type.getWidth() / 8);
}

/// `ends` is the smallest and the largest value of integers. Those of 0 and 1 may be a mask of padding: each row begins
/// with 1, because a token that attends to nothing has weights of equal scores in f32, in which a large negative mask
/// absorbs them, and of its scores in f64.
static void fill(Type element, std::pair<int64_t, int64_t> ends, Random &random, InputTensor &tensor) {
  size_t size = (element.getIntOrFloatBitWidth() + 7) / 8;
  uint64_t count = std::max<int64_t>(ends.second - ends.first + 1, 1);
  bool mayBeMask = ends == std::pair<int64_t, int64_t>(0, 1) && !tensor.dims.empty();
  for (size_t i = 0; i < tensor.bytes.size() / size; ++i) {
    char *place = tensor.bytes.data() + i * size;
    if (auto type = dyn_cast<FloatType>(element)) {
      store(random.nextNormal(), type, place);
      continue;
    }
    int64_t value = ends.first + static_cast<int64_t>(random.next() % count);
    if (mayBeMask && i % tensor.dims.back() == 0)
      value = 1;
    std::memcpy(place, &value, size);
  }
}

static std::pair<int64_t, int64_t> getEnds(BlockArgument argument, const Sizes &sizes) {
  Type element = getElementTypeOrSelf(argument);
  llvm::SmallPtrSet<Operation *, 8> seen;
  Use use = findUse(argument, seen);
  std::optional<int64_t> extent = use.extent ? evaluate(use.extent, sizes) : std::nullopt;
  if (extent && !element.isInteger(1))
    return {use.isLength, *extent - !use.isLength};
  if (element.isUnsignedInteger(8))
    return {0, UINT8_MAX};
  if (element.isSignlessInteger(8))
    return {INT8_MIN, INT8_MAX};
  return {0, 1};
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

static std::string getInputName(func::FuncOp function, unsigned i) {
  auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
  return name ? name.str() : std::to_string(i);
}

/// Tensors without elements.
static llvm::Expected<InputSet> makeShapes(func::FuncOp function, const Sizes &sizes) {
  InputSet set;
  set.sequences = getNumSequences(function);
  for (BlockArgument argument : function.getArguments()) {
    std::string name = getInputName(function, argument.getArgNumber());
    auto role = function.getArgAttrOfType<RoleAttr>(argument.getArgNumber(), kRoleAttr);
    Type element = getElementTypeOrSelf(argument);
    std::optional<fmt::DType> dtype = getDType(element);
    unsigned bits = element.getIntOrFloatBitWidth();
    bool isSmall = isa<FloatType>(element) ? bits < 16 : bits < 8 && bits != 1;
    if ((role && role.getValue() != Role::value) || !dtype || isSmall)
      return makeError(CompileStatus::unsupported,
                       "values of input '" + name + "' cannot be generated; pass them by --error-inputs");
    InputTensor tensor{static_cast<tenon_dtype>(*dtype), {}, {}};
    for (AffineExpr dim : getDims(argument)) {
      std::optional<int64_t> extent = evaluate(dim, sizes);
      if (!extent || *extent < 0)
        return makeError(CompileStatus::unsupported,
                         "sizes of input '" + name + "' cannot be generated; pass them by --error-inputs");
      tensor.dims.push_back(*extent);
    }
    set.push_back(std::move(tensor));
  }
  return set;
}

llvm::Expected<InputSet> tenon::generateInputs(func::FuncOp function, ArrayRef<NamedRange> preferred, MemoryMeter meter,
                                               unsigned guess, unsigned leastHalvings) {
  constexpr uint64_t kMaxBytes = uint64_t(1) << 30;
  constexpr unsigned kMaxHalvings = 4;
  InputSet set;
  Sizes sizes;
  // A model may not support a batch of 1, for instance if it selects the two largest elements of the batch.
  for (int64_t batch : {int64_t(1), kUsual}) {
    std::optional<uint64_t> bytes;
    for (unsigned halvings = leastHalvings; halvings <= kMaxHalvings; ++halvings) {
      sizes = chooseSizes(function, preferred, batch, halvings, guess);
      llvm::Expected<InputSet> shapes = makeShapes(function, sizes);
      if (!shapes)
        return shapes.takeError();
      set = std::move(*shapes);
      // None if the model does not support these sizes; it may have fewer positions. The last reason is reported when
      // the inputs are bound.
      bytes = meter(set);
      if (bytes && *bytes <= kMaxBytes)
        break;
    }
    if (bytes)
      break;
  }
  Random random(1);
  for (auto [argument, tensor] : llvm::zip(function.getArguments(), set)) {
    uint64_t bytes = tenon_tensor_bytes(tensor.dtype, tensor.dims.size(), tensor.dims.data());
    if (bytes > kMaxBytes)
      return makeError(CompileStatus::unsupported,
                       "input '" + getInputName(function, argument.getArgNumber()) + "' has more than a gigabyte");
    tensor.bytes.resize(bytes);
    fill(getElementTypeOrSelf(argument), getEnds(argument, sizes), random, tensor);
  }
  return set;
}

SmallVector<func::FuncOp> tenon::getProgramFunctions(ModuleOp simplified) {
  SmallVector<func::FuncOp> functions;
  for (auto function : simplified.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    functions.push_back(function);
    if (!function->hasAttr(kProgramAttr))
      break;
  }
  return functions;
}

/// The values that programs are for.
static std::vector<NamedRange> getPreferred(ArrayRef<std::string> programs) {
  std::vector<NamedRange> preferred;
  for (const std::string &program : programs)
    for (const NamedRange &range : llvm::expectedToOptional(parseRanges(program)).value_or(std::vector<NamedRange>()))
      if (range.range.isSingleton())
        preferred.push_back(range);
  return preferred;
}

llvm::Expected<std::vector<InputSet>> tenon::generateInputSets(ModuleOp simplified, ArrayRef<std::string> programs,
                                                               MemoryMeter meter, InputTest works) {
  std::vector<NamedRange> preferred = getPreferred(programs);
  std::vector<InputSet> sets;
  for (func::FuncOp function : getProgramFunctions(simplified)) {
    llvm::Expected<InputSet> set = generateInputs(function, preferred, meter);
    if (!set)
      return set.takeError();
    unsigned count = countGuesses(function);
    bool isDone = count == 1 || works(*set);
    for (unsigned guess = 1; guess < count && !isDone; ++guess) {
      llvm::Expected<InputSet> other = generateInputs(function, preferred, meter, guess);
      if (!other)
        return other.takeError();
      isDone = works(*other);
      if (isDone)
        *set = std::move(*other);
    }
    sets.push_back(std::move(*set));
  }
  func::FuncOp general = getProgramFunctions(simplified).back();
  if (general.walk([](StateReadOp) { return WalkResult::interrupt(); }) == WalkResult::advance())
    return sets;
  // A quarter of the usual size leaves room for a run of that size, and is cheap.
  constexpr unsigned kHalvings = 2;
  llvm::Expected<InputSet> before = generateInputs(general, {}, meter, /*guess=*/0, kHalvings);
  if (!before) {
    llvm::consumeError(before.takeError());
    return sets;
  }
  auto shared = std::make_shared<InputSet>(std::move(*before));
  for (InputSet &set : sets)
    set.before = shared;
  return sets;
}
