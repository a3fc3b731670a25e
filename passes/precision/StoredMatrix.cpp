//===- StoredMatrix.cpp - a constant matrix in another format -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/StoredMatrix.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "passes/precision/CalibratedQuantizer.h"

using namespace mlir;
using namespace tenon;
using Kind = WeightFormat::Kind;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// The bytes that take the place of a weight.
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

static Stored quantize(const ConstantMatrix &matrix, const WeightFormat &wanted, bool hasF16Scales,
                       const CalibratedQuantizer *calibrated) {
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
  int64_t part = calibrated ? CalibratedQuantizer::kRowsOfBlock : kRowsOfBlock;
  stored.error = addInParallel(type.getContext(), rows, part, [&](int64_t begin, int64_t end) {
    return quantizeRows(source, begin, end, format, storage, calibrated);
  });
  return stored;
}

/// The elements in a type of floats.
static Stored convert(const ConstantMatrix &matrix, Kind kind) {
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

static std::string getShortName(const WeightFormat &format) {
  return StringRef(format.describe()).split(' ').first.str();
}

static Type getStoredType(const WeightFormat &format, MLIRContext *context) {
  Builder b(context);
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

/// The stored bytes as attributes, which the context keeps.
static StoredMatrix makeElements(const ConstantMatrix &matrix, const WeightFormat &format, Stored stored) {
  RankedTensorType type = WeightOp(matrix.weight).getType();
  Builder b(type.getContext());
  Type element = getStoredType(format, type.getContext());
  StoredMatrix made;
  made.error = stored.error;
  made.bytes = llvm::divideCeil(type.getNumElements() * format.getBits(), 8) + stored.scales.getData().size() +
               llvm::divideCeil(stored.zeros.getData().size() * format.getBits(), 8);
  made.numbers = createElements(type.clone(element), getShortName(format), std::move(stored.numbers));
  if (!format.isInteger())
    return made;
  SmallVector<int64_t> shape(type.getShape());
  int64_t &depth = shape[*matrix.uses.depthAxis];
  depth = getGroups(depth, getGroupSize(format, depth));
  Type scale = stored.hasF16Scales ? Type(b.getF16Type()) : Type(b.getF32Type());
  made.scales = createElements(RankedTensorType::get(shape, scale), "scales", std::move(stored.scales));
  if (format.isAsymmetric)
    made.zeros = createElements(RankedTensorType::get(shape, element), "zeros", std::move(stored.zeros));
  return made;
}

llvm::Expected<StoredMatrix> tenon::storeMatrix(const ConstantMatrix &matrix, const WeightFormat &format,
                                                const CalibratedQuantizer *calibrated) {
  // The scale of a whole row takes little room.
  bool hasF16Scales = format.group != 0;
  Stored stored =
      format.isInteger() ? quantize(matrix, format, hasF16Scales, calibrated) : convert(matrix, format.kind);
  if (hasF16Scales && !stored.error.fitsF16)
    stored = quantize(matrix, format, /*hasF16Scales=*/false, calibrated);
  if (!stored.error.isFinite) {
    std::string name = matrix.getName();
    StringRef why = format.isInteger() ? "has elements that are not finite or above 1e37" : "has elements out of range";
    return llvm::createStringError("--weights: the matrix '" + name + "' " + why + ", which " + format.describe() +
                                   " does not have; leave it as it is by --weights '" + name + "=f32'");
  }
  StoredMatrix made = makeElements(matrix, format, std::move(stored));
  made.isCalibrated = format.isInteger() && calibrated;
  return made;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

namespace {
/// Puts what is stored in the place of a weight.
class Replacer {
public:
  Replacer(ConstantMatrix &matrix, const WeightFormat &format, const StoredMatrix &stored)
      : weight(matrix.weight), uses(matrix.uses), format(format), stored(stored), b(weight) {}

  void run();

private:
  Value makeWeight(ElementsAttr elements, StringRef how);
  DenseElementsAttr makeMiddle();
  void makeOperands();
  Value getValue(Type elementType);
  void replaceLookups();

  WeightOp weight;
  const MatrixUses &uses;
  const WeightFormat &format;
  const StoredMatrix &stored;
  OpBuilder b;
  Value numbers, scales, zeros;
  llvm::SmallDenseMap<Type, Value, 2> values; ///< by their element type
};
} // namespace

Value Replacer::makeWeight(ElementsAttr elements, StringRef how) {
  auto made = WeightOp::create(b, weight.getLoc(), elements);
  made.setNameAttr(deriveName(weight.getNameAttr(), how));
  return made;
}

/// The zero point of all groups whose numbers from 0 to 15 stand for numbers with signs.
DenseElementsAttr Replacer::makeMiddle() {
  auto type = RankedTensorType::get({1, 1}, b.getIntegerType(8, /*isSigned=*/false));
  return DenseElementsAttr::get(type, llvm::APInt(8, 8));
}

void Replacer::makeOperands() {
  numbers = makeWeight(stored.numbers, getShortName(format));
  if (!format.isInteger())
    return;
  scales = makeWeight(stored.scales, "scales");
  if (format.isAsymmetric)
    zeros = makeWeight(stored.zeros, "zeros");
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

void Replacer::run() {
  makeOperands();
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

void tenon::replaceMatrix(ConstantMatrix &matrix, const WeightFormat &format, const StoredMatrix &stored) {
  Replacer(matrix, format, stored).run();
}

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

llvm::Expected<std::vector<std::optional<WeightFormat>>> tenon::chooseFormats(ArrayRef<ConstantMatrix> matrices,
                                                                              ArrayRef<std::string> rules) {
  std::vector<WeightRule> parsed;
  for (const std::string &text : rules) {
    llvm::Expected<WeightRule> rule = WeightRule::parse(text);
    if (!rule)
      return llvm::createStringError("--weights " + text + ": " + llvm::toString(rule.takeError()));
    parsed.push_back(std::move(*rule));
  }
  constexpr int64_t kLarge = 4096; // limit: elements of a matrix whose bytes are worth an error
  std::vector<std::string> names;
  SmallVector<bool> areLarge;
  for (const ConstantMatrix &matrix : matrices) {
    names.push_back(matrix.getName());
    areLarge.push_back(WeightOp(matrix.weight).getType().getNumElements() >= kLarge);
  }
  return WeightRules(std::move(parsed)).choose(names, areLarge);
}

bool tenon::isStoredSo(const ConstantMatrix &matrix, const WeightFormat &format) {
  Type type = WeightOp(matrix.weight).getType().getElementType();
  return (format.kind == Kind::f32 && type.isF32()) || (format.kind == Kind::bf16 && type.isBF16()) ||
         (format.kind == Kind::f16 && type.isF16());
}
