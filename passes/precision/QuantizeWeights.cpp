//===- QuantizeWeights.cpp - constant matrices in the bits that a user wants ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "passes/precision/GroupQuantizer.h"
#include "passes/precision/WeightFormat.h"
#include "passes/precision/WeightPrecision.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-quantize-weights"

namespace tenon {
#define GEN_PASS_DEF_QUANTIZEWEIGHTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using Kind = WeightFormat::Kind;

//===----------------------------------------------------------------------===//
// Which weights
//===----------------------------------------------------------------------===//

namespace {
/// How everything that reads a weight of two dimensions does.
struct MatrixUses {
  /// The dimension that products sum over, or whose elements a lookup takes together; nothing where two uses differ.
  std::optional<int64_t> depthAxis;
  SmallVector<GatherOp> lookups; ///< of rows
  bool isFactor = false;
};

struct Matrix {
  WeightOp weight;
  MatrixUses uses;
};
} // namespace

static std::optional<FloatKind> getFloatKind(Type type) {
  if (type.isF16())
    return FloatKind::f16;
  if (type.isBF16())
    return FloatKind::bf16;
  if (type.isF32())
    return FloatKind::f32;
  return type.isF64() ? std::optional(FloatKind::f64) : std::nullopt;
}

/// The dimension of a product's matrix that is summed over, where the other one runs along the result alone.
static std::optional<int64_t> getSummedDim(ContractOp op, unsigned operand) {
  ArrayRef<int64_t> own = operand == 0 ? op.getLhsDims() : op.getRhsDims(),
                    other = operand == 0 ? op.getRhsDims() : op.getLhsDims();
  if (own.size() != 2 || own[0] == own[1])
    return std::nullopt;
  for (int64_t dim = 0; dim < 2; ++dim) {
    bool isSummed = !llvm::is_contained(op.getResultDims(), own[dim]) && llvm::is_contained(other, own[dim]);
    bool isOwn = llvm::is_contained(op.getResultDims(), own[1 - dim]) && !llvm::is_contained(other, own[1 - dim]);
    if (isSummed && isOwn)
      return dim;
  }
  return std::nullopt;
}

/// Adds what reads `value`, the weight in another type or with its dimensions exchanged. Returns whether all of that
/// can read a matrix of other elements.
static bool collectUses(Value value, bool isTransposed, MatrixUses &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    std::optional<int64_t> axis;
    if (auto cast = dyn_cast<CastOp>(op)) {
      if (!getFloatKind(cast.getType().getElementType()) || !collectUses(cast, isTransposed, uses))
        return false;
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      bool isSwap = transpose.getPermutation()[0] == 1;
      if (!collectUses(transpose, isTransposed != isSwap, uses))
        return false;
      continue;
    }
    if (auto gather = dyn_cast<GatherOp>(op)) {
      if (use.getOperandNumber() != 0 || gather.getAxis() != 0 || isTransposed)
        return false;
      uses.lookups.push_back(gather);
      axis = 1;
    } else if (auto contract = dyn_cast<ContractOp>(op)) {
      // A product of two constants is folded.
      bool isOfOne = contract.getLhs() == contract.getRhs() ||
                     contract->getOperand(1 - use.getOperandNumber()).getDefiningOp<WeightOp>();
      axis = isOfOne ? std::nullopt : getSummedDim(contract, use.getOperandNumber());
      if (!axis)
        return false;
      axis = isTransposed ? 1 - *axis : *axis;
      uses.isFactor = true;
    } else {
      return false;
    }
    if (uses.depthAxis && uses.depthAxis != axis)
      return false;
    uses.depthAxis = axis;
  }
  return true;
}

/// The constant matrices of floats that products and lookups alone read.
static SmallVector<Matrix> listMatrices(ModuleOp module) {
  SmallVector<Matrix> matrices;
  module.walk([&](WeightOp weight) {
    RankedTensorType type = weight.getType();
    Matrix matrix{weight, {}};
    bool isMatrix = type.getRank() == 2 && getFloatKind(type.getElementType()) && type.getNumElements() > 0 &&
                    getBytes(weight.getValue()) && collectUses(weight, false, matrix.uses) && matrix.uses.depthAxis;
    LDBG() << (isMatrix ? "may store" : "leaves") << " the weight at " << weight.getLoc();
    if (isMatrix)
      matrices.push_back(std::move(matrix));
  });
  return matrices;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// What takes the place of a weight.
struct Stored {
  AsmResourceBlob numbers, scales = {}, zeros = {}; ///< floats are `numbers`
  bool hasF16Scales = false;
  QuantizationError error = {};
};
} // namespace

static AsmResourceBlob allocate(int64_t size) {
  constexpr size_t kAlignment = 64; // format: of weights
  return HeapAsmResourceBlob::allocate(static_cast<size_t>(size), kAlignment, /*dataIsMutable=*/true);
}

/// Runs `work` on parts of [0, count) in parallel, and adds up what they are off by in the order of the parts.
static QuantizationError addInParallel(MLIRContext *context, int64_t count, int64_t part,
                                       llvm::function_ref<QuantizationError(int64_t begin, int64_t end)> work) {
  std::vector<QuantizationError> errors(llvm::divideCeil(count, part));
  parallelFor(context, 0, errors.size(), [&](size_t i) {
    int64_t begin = static_cast<int64_t>(i) * part;
    errors[i] = work(begin, std::min(begin + part, count));
  });
  QuantizationError sum;
  for (const QuantizationError &error : errors)
    sum.add(error);
  return sum;
}

static int64_t getGroups(int64_t depth, int64_t group) { return static_cast<int64_t>(llvm::divideCeil(depth, group)); }

/// Groups that are longer than a row are a row.
static int64_t getGroupSize(const WeightFormat &format, int64_t depth) {
  return format.group == 0 ? depth : std::min(format.group, depth);
}

static Stored quantize(const Matrix &matrix, const WeightFormat &wanted, bool hasF16Scales) {
  WeightOp weight = matrix.weight;
  RankedTensorType type = weight.getType();
  int64_t axis = *matrix.uses.depthAxis, depth = type.getDimSize(axis), rows = type.getDimSize(1 - axis);
  FloatMatrix source{getBytes(weight.getValue())->data(),
                     *getFloatKind(type.getElementType()),
                     rows,
                     depth,
                     axis == 1 ? depth : 1,
                     axis == 1 ? 1 : rows};
  GroupFormat format{wanted.getBits(), getGroupSize(wanted, depth), wanted.isAsymmetric, hasF16Scales};
  int64_t groups = getGroups(depth, format.group);
  Stored stored{allocate(rows * depth), allocate(rows * groups * (hasF16Scales ? 2 : 4)),
                wanted.isAsymmetric ? allocate(rows * groups) : AsmResourceBlob(), hasF16Scales};
  QuantizedStorage storage{stored.numbers.getMutableData().data(), stored.scales.getMutableData().data(),
                           wanted.isAsymmetric ? stored.zeros.getMutableData().data() : nullptr, axis == 1 ? groups : 1,
                           axis == 1 ? 1 : rows};
  stored.error = addInParallel(type.getContext(), rows, kRowsOfBlock, [&](int64_t begin, int64_t end) {
    return quantizeRows(source, begin, end, format, storage);
  });
  return stored;
}

/// The elements in a type of floats.
static Stored convert(const Matrix &matrix, Kind kind) {
  constexpr int64_t kPart = 1 << 14; // limit: elements that a thread converts at a time
  WeightOp weight = matrix.weight;
  RankedTensorType type = weight.getType();
  FloatKind from = *getFloatKind(type.getElementType());
  const char *source = getBytes(weight.getValue())->data();
  int64_t bytes = type.getElementTypeBitWidth() / 8, width = kind == Kind::f32 ? 4 : 2;
  Stored stored{allocate(type.getNumElements() * width)};
  char *target = stored.numbers.getMutableData().data();
  stored.error = addInParallel(type.getContext(), type.getNumElements(), kPart, [&](int64_t begin, int64_t end) {
    QuantizationError error;
    for (int64_t i = begin; i < end; ++i) {
      float x = toFloat(from, source + i * bytes);
      uint16_t half = kind == Kind::bf16 ? toBf16Bits(x) : toF16Bits(x);
      float rounded = x;
      if (kind == Kind::f32) {
        std::memcpy(target + i * width, &x, sizeof x);
      } else {
        std::memcpy(target + i * width, &half, sizeof half);
        rounded = toFloat(kind == Kind::bf16 ? FloatKind::bf16 : FloatKind::f16, reinterpret_cast<const char *>(&half));
      }
      // What the model has that is not finite stays so.
      if (!std::isfinite(x))
        continue;
      error.isFinite &= std::isfinite(rounded);
      error.squaredError += (double(rounded) - x) * (double(rounded) - x);
      error.squares += double(x) * x;
    }
    return error;
  });
  return stored;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

namespace {
/// Puts what is stored in the place of a weight.
class Replacer {
public:
  Replacer(Matrix &matrix, const WeightFormat &format)
      : weight(matrix.weight), uses(matrix.uses), format(format), b(weight) {}

  void run(Stored stored);

private:
  Value makeWeight(RankedTensorType type, StringRef prefix, AsmResourceBlob blob);
  DenseElementsAttr makeMiddle();
  Type getStoredType();
  void makeOperands(Stored &stored);
  Value getValue(Type elementType);
  void replaceLookups();

  WeightOp weight;
  const MatrixUses &uses;
  const WeightFormat &format;
  OpBuilder b;
  Value numbers, scales, zeros;
  llvm::SmallDenseMap<Type, Value, 2> values; ///< by their element type
};
} // namespace

Value Replacer::makeWeight(RankedTensorType type, StringRef prefix, AsmResourceBlob blob) {
  auto made = WeightOp::create(b, weight.getLoc(), createElements(type, prefix, std::move(blob)));
  made.setNameAttr(deriveName(weight.getNameAttr(), prefix));
  return made;
}

/// The zero point of all groups whose numbers from 0 to 15 stand for numbers with signs.
DenseElementsAttr Replacer::makeMiddle() {
  auto type = RankedTensorType::get({1, 1}, b.getIntegerType(8, /*isSigned=*/false));
  return DenseElementsAttr::get(type, llvm::APInt(8, 8));
}

Type Replacer::getStoredType() {
  switch (format.kind) {
  case Kind::f32:
    return b.getF32Type();
  case Kind::bf16:
    return b.getBF16Type();
  case Kind::f16:
    return b.getF16Type();
  case Kind::int8:
    return format.isAsymmetric ? b.getIntegerType(8, /*isSigned=*/false) : b.getI8Type();
  case Kind::int4:
    return b.getIntegerType(4, /*isSigned=*/false);
  }
  llvm_unreachable("every kind has a type");
}

void Replacer::makeOperands(Stored &stored) {
  RankedTensorType type = weight.getType();
  Type element = getStoredType();
  std::string name = StringRef(format.describe()).split(' ').first.str();
  numbers = makeWeight(type.clone(element), name, std::move(stored.numbers));
  if (!format.isInteger())
    return;
  SmallVector<int64_t> shape(type.getShape());
  int64_t &depth = shape[*uses.depthAxis];
  depth = getGroups(depth, getGroupSize(format, depth));
  Type scale = stored.hasF16Scales ? Type(b.getF16Type()) : Type(b.getF32Type());
  scales = makeWeight(RankedTensorType::get(shape, scale), "scales", std::move(stored.scales));
  if (format.isAsymmetric)
    zeros = makeWeight(RankedTensorType::get(shape, element), "zeros", std::move(stored.zeros));
  else if (format.kind == Kind::int4)
    zeros = WeightOp::create(b, weight.getLoc(), makeMiddle());
}

/// The matrix in the type that its readers want.
Value Replacer::getValue(Type elementType) {
  Value &value = values[elementType];
  if (value)
    return value;
  RankedTensorType type = weight.getType();
  if (format.isInteger()) {
    int64_t depth = type.getDimSize(*uses.depthAxis);
    value = DequantizeOp::create(b, weight.getLoc(), numbers, scales, zeros, *uses.depthAxis,
                                 getGroupSize(format, depth), TypeAttr::get(elementType));
  } else {
    value = getElementTypeOrSelf(numbers) == elementType
                ? numbers
                : CastOp::create(b, weight.getLoc(), type.clone(elementType), numbers).getResult();
  }
  return value;
}

/// A lookup of cast elements is a cast of elements that are looked up: what is stored is read, and no copy of it.
void Replacer::replaceLookups() {
  for (GatherOp gather : uses.lookups) {
    Type wanted = gather.getType().getElementType(), element = getElementTypeOrSelf(numbers);
    if (format.isInteger() || wanted == element)
      continue;
    b.setInsertionPoint(gather);
    auto taken = cast<GatherOp>(b.clone(*gather));
    taken.getInputMutable().assign(numbers);
    taken.getResult().setType(cast<RankedTensorType>(gather.getType()).clone(element));
    gather.replaceAllUsesWith(CastOp::create(b, gather.getLoc(), gather.getType(), taken.getResult()).getResult());
    gather.erase();
  }
}

void Replacer::run(Stored stored) {
  makeOperands(stored);
  // A cast of the weight is made of what is stored, without rounding to the weight's own type in between.
  for (Operation *user : llvm::make_early_inc_range(weight->getUsers()))
    if (auto cast = dyn_cast<CastOp>(user)) {
      cast.replaceAllUsesWith(getValue(cast.getType().getElementType()));
      cast.erase();
    }
  if (!weight->use_empty())
    weight.replaceAllUsesWith(getValue(weight.getType().getElementType()));
  replaceLookups();
  for (auto [type, value] : values)
    if (value.use_empty() && value != numbers)
      value.getDefiningOp()->erase();
  weight.erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct QuantizeWeights : public tenon::impl::QuantizeWeightsBase<QuantizeWeights> {
  using QuantizeWeightsBase::QuantizeWeightsBase;
  QuantizeWeights(QuantizeWeightsOptions options, std::shared_ptr<WeightPrecision> report)
      : QuantizeWeightsBase(std::move(options)), report(std::move(report)) {}

  void runOnOperation() override {
    SmallVector<Matrix> matrices = listMatrices(getOperation());
    std::optional<std::vector<std::optional<WeightFormat>>> formats = chooseFormats(matrices);
    if (!formats)
      return signalPassFailure();
    if (report)
      report->numMatrices = matrices.size();
    for (auto [matrix, format] : llvm::zip(matrices, *formats))
      if (format && failed(store(matrix, *format)))
        return signalPassFailure();
  }

private:
  std::optional<std::vector<std::optional<WeightFormat>>> chooseFormats(ArrayRef<Matrix> matrices);
  LogicalResult store(Matrix &matrix, const WeightFormat &format);
  void tell(const Matrix &matrix, const WeightFormat &format, const Stored &stored);

  std::shared_ptr<WeightPrecision> report; ///< null if nobody asks
};
} // namespace

static std::string getWeightName(WeightOp weight) {
  StringAttr name = weight.getNameAttr();
  return name ? name.str() : "";
}

std::optional<std::vector<std::optional<WeightFormat>>> QuantizeWeights::chooseFormats(ArrayRef<Matrix> matrices) {
  std::vector<WeightRule> parsed;
  for (const std::string &text : rules) {
    llvm::Expected<WeightRule> rule = WeightRule::parse(text);
    if (!rule) {
      emitInvalid(getOperation().getLoc(), "--weights " + text + ": " + llvm::toString(rule.takeError()));
      return std::nullopt;
    }
    parsed.push_back(std::move(*rule));
  }
  constexpr int64_t kLarge = 4096; // limit: elements of a matrix whose bytes are worth an error
  std::vector<std::string> names;
  SmallVector<bool> areLarge;
  for (const Matrix &matrix : matrices) {
    WeightOp weight = matrix.weight;
    names.push_back(getWeightName(weight));
    areLarge.push_back(weight.getType().getNumElements() >= kLarge);
  }
  auto formats = WeightRules(std::move(parsed)).choose(names, areLarge);
  if (formats)
    return std::move(*formats);
  emitInvalid(getOperation().getLoc(), llvm::toString(formats.takeError()));
  return std::nullopt;
}

/// Whether a weight has the bits already that it should have.
static bool isStoredSo(WeightOp weight, Kind kind) {
  Type type = weight.getType().getElementType();
  return (kind == Kind::f32 && type.isF32()) || (kind == Kind::bf16 && type.isBF16()) ||
         (kind == Kind::f16 && type.isF16());
}

LogicalResult QuantizeWeights::store(Matrix &matrix, const WeightFormat &format) {
  WeightOp weight = matrix.weight;
  if (isStoredSo(weight, format.kind))
    return success();
  // The scale of a whole row takes little room.
  bool hasF16Scales = format.group != 0;
  Stored stored = format.isInteger() ? quantize(matrix, format, hasF16Scales) : convert(matrix, format.kind);
  if (hasF16Scales && !stored.error.fitsF16)
    stored = quantize(matrix, format, /*hasF16Scales=*/false);
  if (!stored.error.isFinite) {
    StringRef why = format.isInteger() ? "has elements that are not finite or above 1e37" : "has elements out of range";
    return emitInvalid(weight.getLoc(), "--weights: the matrix '" + getWeightName(weight) + "' " + why + ", which " +
                                            format.describe() + " does not have; leave it as it is by --weights '" +
                                            getWeightName(weight) + "=f32'");
  }
  tell(matrix, format, stored);
  Replacer(matrix, format).run(std::move(stored));
  ++numStored;
  return success();
}

void QuantizeWeights::tell(const Matrix &matrix, const WeightFormat &format, const Stored &stored) {
  if (!report)
    return;
  WeightOp weight = matrix.weight;
  RankedTensorType type = weight.getType();
  int64_t count = type.getNumElements();
  // Numbers of four bits share bytes where kernels read them.
  uint64_t bytes = llvm::divideCeil(count * format.getBits(), 8) + stored.scales.getData().size() +
                   llvm::divideCeil(stored.zeros.getData().size() * format.getBits(), 8);
  report->matrices.push_back({getWeightName(weight), format.describe(), type.getShape().vec(),
                              static_cast<uint64_t>(count) * type.getElementTypeBitWidth() / 8, bytes,
                              stored.error.getRelative()});
}

std::unique_ptr<Pass> tenon::createQuantizeWeights(QuantizeWeightsOptions options,
                                                   std::shared_ptr<WeightPrecision> report) {
  return std::make_unique<QuantizeWeights>(std::move(options), std::move(report));
}
