//===- Int8Rounded.cpp - products of floats rounded to int8 ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dynamic quantization (Jacob et al., "Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference", 2018, section 2, with scales that are
// computed in each run): the filters of a convolution become signed bytes with a scale
// each at compile time, an image becomes unsigned bytes with one scale at run time, and
// vpdpbusd multiplies them. A matmul has a scale for each row. What never is negative, as
// after a ReLU, uses all 8 bits and has the zero point 0. What never is far below 0, as
// after a SiLU, has a zero point that follows from the largest element; all else has 128.
//
// Unlike in int8_groups_rounded a sum has one scale, so any number of channels will do,
// and nothing but the result is scaled; the price is a larger error.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/IR/AsmState.h"
#include "passes/Kernel.h"
#include "passes/cost/PackedDims.h"
#include "passes/cost/ProductShape.h"
#include "passes/paths/FloatWeight.h"
#include "passes/paths/IntegerGroups.h"
#include "passes/paths/LargestMagnitude.h"
#include "passes/paths/LowerBound.h"
#include "passes/paths/Path.h"
#include "passes/precision/ConstantMatrices.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

namespace {
/// A convolution of images, or a matmul of rows, with a constant matrix of floats.
struct RoundedProduct {
  OpOperand *rows, *matrix;
  WeightOp weight;     ///< the matrix as it is stored, in floats of any width
  int64_t columnAxis;  ///< of the matrix: its filters; other dimensions are summed
  int64_t firstSummed; ///< the dimension of the rows from which on elements share a scale
  double lowerBound;   ///< of elements of the rows

  /// How the rows become bytes: 0 is 0, 128, or what leaves room for numbers down to the lower bound.
  enum class Zero { none, middle, computed };
  Zero getZero() const {
    constexpr double kFarBelow = -0.5; // math: of most functions in the same units as their largest results
    return lowerBound >= 0 ? Zero::none : lowerBound >= kFarBelow ? Zero::computed : Zero::middle;
  }
  int64_t getColumns() const { return getType().getDimSize(columnAxis); }
  int64_t getDepth() const { return getType().getNumElements() / getColumns(); }
  RankedTensorType getType() const { return WeightOp(weight).getType(); }
};

struct Int8Rounded : public Path {
  explicit Int8Rounded(const PathPolicy &policy) : policy(policy) {}
  llvm::StringRef getName() const override { return "int8_rounded"; }
  std::optional<double> estimateCycles(Operation *op, const Machine &machine) const override;
  double measureError(Operation *op) const override;
  double getLeastError(Operation *op) const override;
  Operation *take(Operation *op, const Machine &, RewriterBase &rewriter) const override;

private:
  PathPolicy policy;
};

/// A matrix of floats as integers of 8 bits with a scale for each column.
struct QuantizedColumns {
  AsmResourceBlob numbers;
  std::vector<float> scales;
  QuantizationError error;
};
} // namespace

static constexpr double kBytes = 255;   // math: steps from the least unsigned byte to the largest
static constexpr double kLargest = 127; // math: the largest signed byte
static constexpr double kMiddle = 128;  // format: what is added to make a signed byte unsigned
static constexpr double kOfSilu = 1.7;  // math: one by the root mean square of SiLUs of normal numbers

/// True if sums of this many products of u8 with numbers from -127 to 127 fit i32.
static bool fitsI32(int64_t depth) { return depth <= std::numeric_limits<int32_t>::max() / (255 * 127); }

static std::optional<RoundedProduct> matchMatrix(OpOperand &matrix) {
  Operation *op = matrix.getOwner();
  WeightOp weight = findFloatWeight(matrix, [](Operation *user) { return isa<ContractOp, ConvolveOp>(user); });
  std::optional<MatrixAxes> axes = weight ? getMatrixAxes(matrix) : std::nullopt;
  RankedTensorType type = axes ? weight.getType() : RankedTensorType();
  if (!type || type.getNumElements() == 0 || type.getDimSize(axes->columns) < kFewColumns)
    return std::nullopt;
  // The columns are outermost or innermost, so that one stride leads from an element of a column to the next.
  bool isOuter = axes->columns == 0, isInner = axes->columns + 1 == type.getRank();
  OpOperand &rows = op->getOpOperand(1 - matrix.getOperandNumber());
  auto contract = dyn_cast<ContractOp>(op);
  if ((!isOuter && !isInner) || (contract && (type.getRank() != 2 || !keepsRows(contract, rows))))
    return std::nullopt;
  RoundedProduct product{&rows, &matrix, weight, axes->columns, 0, findLowerBound(rows.get())};
  product.firstSummed = contract ? cast<RankedTensorType>(rows.get().getType()).getRank() - 1 : 1;
  return fitsI32(product.getDepth()) ? std::optional(product) : std::nullopt;
}

static std::optional<RoundedProduct> findProduct(Operation *op) {
  if (!isa<ContractOp, ConvolveOp>(op) || !getElementTypeOrSelf(op->getResult(0)).isF32() || !isProductOfFloats(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands())
    if (std::optional<RoundedProduct> product = matchMatrix(operand))
      return product;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

std::optional<double> Int8Rounded::estimateCycles(Operation *op, const Machine &machine) const {
  std::optional<RoundedProduct> product = machine.int8Dot == Int8Dot::vnni ? findProduct(op) : std::nullopt;
  if (!product)
    return std::nullopt;
  ProductShape shape = *getProductShape(op);
  double perCycle = machine.getMultiplyAdds(sizeof(int32_t)) * static_cast<int64_t>(Int8Dot::vnni);
  double depth = std::ceil(shape.depth / kK4Group) * kK4Group,
         cycles = std::max(shape.rows * shape.columns * depth * shape.repetitions / perCycle / policy.int8Share,
                           machine.getReadCycles(shape.getWeights()));
  // Two or three kernels find the scales and round.
  double launches = isa<ConvolveOp>(op) ? 3 : 2;
  return cycles + launches * machine.launchCycles +
         estimateElements(*product->rows, 0) * getRoundingCycles(op, policy.int8RoundedElementCycles, policy);
}

/// An element is off by an equally distributed part of a step, which is the largest magnitude by 127, or by 255 of
/// what never is far below 0. Of n normal numbers the largest is about sqrt(2 ln(n)) times their root mean square; a
/// ReLU divides that by the root of 2, a SiLU by 1.7. Sums of products keep this ratio.
static double getRowError(const RoundedProduct &product) {
  double count = std::max(estimateElements(*product.rows, product.firstSummed), 2.0),
         most = std::sqrt(2 * std::log(count));
  switch (product.getZero()) {
  case RoundedProduct::Zero::none:
    return most * std::sqrt(2.0) / kBytes / std::sqrt(12.0);
  case RoundedProduct::Zero::computed:
    return (most - product.lowerBound) * kOfSilu / kBytes / std::sqrt(12.0);
  case RoundedProduct::Zero::middle:
    return most / kLargest / std::sqrt(12.0);
  }
  llvm_unreachable("all kinds of zero points are handled");
}

static QuantizedColumns quantize(const RoundedProduct &product) {
  constexpr size_t kAlignment = 64; // format: of weights
  WeightOp weight = product.weight;
  RankedTensorType type = weight.getType();
  int64_t columns = product.getColumns(), depth = product.getDepth();
  bool isOuter = product.columnAxis == 0;
  QuantizedColumns made{HeapAsmResourceBlob::allocate(type.getNumElements(), kAlignment, /*dataIsMutable=*/true),
                        std::vector<float>(columns),
                        {}};
  FloatMatrix source{getBytes(weight.getValue())->data(),
                     *getFloatKind(type.getElementType()),
                     columns,
                     depth,
                     isOuter ? depth : 1,
                     isOuter ? 1 : columns};
  QuantizedStorage storage{made.numbers.getMutableData().data(), reinterpret_cast<char *>(made.scales.data()),
                           /*zeros=*/nullptr, /*groupRowStride=*/1, /*groupStride=*/1};
  made.error = quantizeRows(source, 0, columns, {/*bits=*/8, /*group=*/depth}, storage);
  return made;
}

double Int8Rounded::measureError(Operation *op) const {
  RoundedProduct product = *findProduct(op);
  return getRoundingError(getRowError(product), quantize(product).error);
}

double Int8Rounded::getLeastError(Operation *op) const { return kSumError + getRowError(*findProduct(op)); }

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

namespace {
/// Rows as unsigned bytes, (bytes - zero) * scale, where `scale` and `zero` broadcast against them.
struct RoundedRows {
  Value bytes, scale;
  Value zero; ///< of 32 bits; null if it is a constant
};

/// Builds the operations that take the place of a product.
class IntegerRewrite {
public:
  IntegerRewrite(Operation *op, const RoundedProduct &product, RewriterBase &rewriter)
      : op(op), product(product), rewriter(rewriter) {}

  Operation *rewrite();

private:
  RoundedRows roundRows(Location loc);
  Value padRows(Value rows);
  Operation *multiply(Value bytes, Value numbers);
  Value makeColumns(Type type, ArrayRef<char> bytes, StringRef how);

  Operation *op;
  RoundedProduct product;
  RewriterBase &rewriter;
};
} // namespace

/// Returns rows with the zeros around them in memory, where these are not the byte 0.
Value IntegerRewrite::padRows(Value rows) {
  auto convolve = dyn_cast<ConvolveOp>(op);
  if (!convolve || !hasPadding(convolve) || product.getZero() == RoundedProduct::Zero::none)
    return rows;
  return padInput(rewriter, convolve, rows, TenonBuilder(rewriter, op->getLoc()).scalar(rewriter.getF32Type(), 0));
}

/// Products with the same rows have the same operations, which CSE merges. One NaN makes NaN of all that has its scale,
/// an infinity makes infinities or NaN of it.
RoundedRows IntegerRewrite::roundRows(Location loc) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value x = product.rows->get();
  rewriter.setInsertionPointAfterValue(x);
  TenonBuilder build(rewriter, loc);
  auto number = [&](double value) { return build.scalar(rewriter.getF32Type(), value); };
  auto max = [&](Value a, Value b) { return MaxOp::create(rewriter, loc, a, b).getResult(); };
  RoundedProduct::Zero kind = product.getZero();
  bool isMiddle = kind == RoundedProduct::Zero::middle;
  constexpr double kTiny = 1e-30; // limit: of magnitudes, so that no scale is zero or denormal
  Dims ofScale = getDims(x);
  int64_t first = product.firstSummed;
  std::fill(ofScale.begin() + first, ofScale.end(), getDimConstant(rewriter.getContext(), 1));
  Value most = emitLargestMagnitude(rewriter, loc, isa<ConvolveOp>(op) ? skipTransposes(x) : x, first);
  // A view: what follows is computed where it is read, or once if that is cheaper.
  Value magnitude = build.reshape(max(most, number(kTiny)), ofScale), range = magnitude, below;
  if (kind == RoundedProduct::Zero::computed) {
    below = MinOp::create(rewriter, loc, magnitude, number(-product.lowerBound));
    range = AddOp::create(rewriter, loc, magnitude, below);
  }
  double steps = isMiddle ? kLargest : kBytes;
  // The reciprocal of infinity would be 0: times a tiny number infinities keep their sign.
  Value reciprocal =
      max(DivOp::create(rewriter, loc, number(steps), range), number(steps / std::numeric_limits<float>::max()));
  auto round = [&](Value of) {
    Value scaled = MulOp::create(rewriter, loc, of, reciprocal);
    return RoundOp::create(rewriter, loc, scaled.getType(), scaled).getResult();
  };
  Value numbers = round(padRows(x)), zero = isMiddle ? number(kMiddle) : below ? round(below) : Value();
  if (zero)
    numbers = AddOp::create(rewriter, loc, numbers, zero);
  Value limited = MinOp::create(rewriter, loc, max(numbers, number(isMiddle ? kMiddle - kLargest : 0)), number(kBytes));
  return {build.cast(limited, rewriter.getIntegerType(8, /*isSigned=*/false)),
          MulOp::create(rewriter, loc, range, number(1 / steps)),
          below ? build.cast(zero, rewriter.getI32Type()) : Value()};
}

/// The product of integers, with sums of 32 bits.
Operation *IntegerRewrite::multiply(Value bytes, Value numbers) {
  auto i32 = TypeAttr::get(rewriter.getI32Type());
  if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    SmallVector<int64_t> none(convolve.getLow().size(), 0);
    bool isPadded = product.getZero() != RoundedProduct::Zero::none;
    return ConvolveOp::create(rewriter, op->getLoc(), bytes, numbers, convolve.getStrides(), convolve.getDilations(),
                              isPadded ? ArrayRef(none) : convolve.getLow(),
                              isPadded ? ArrayRef(none) : convolve.getHigh(), convolve.getGroups(), i32,
                              /*channels_last=*/true);
  }
  auto contract = cast<ContractOp>(op);
  bool areRowsLeft = product.rows->getOperandNumber() == 0;
  return ContractOp::create(rewriter, op->getLoc(), areRowsLeft ? bytes : numbers, areRowsLeft ? numbers : bytes,
                            contract.getLhsDims(), contract.getRhsDims(), contract.getResultDims(), i32);
}

/// A constant with an element of 32 bits for each column.
Value IntegerRewrite::makeColumns(Type type, ArrayRef<char> bytes, StringRef how) {
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64, /*dataIsMutable=*/true);
  auto columns = RankedTensorType::get({product.getColumns()}, type);
  auto weight = WeightOp::create(rewriter, product.weight.getLoc(), createElements(columns, how, std::move(blob)));
  weight.setNameAttr(deriveName(product.weight.getNameAttr(), how));
  return weight;
}

/// product(x, w) -> (product(u8(x / s + zero), i8(w / t)) - zero * sums(i8(w / t))) * (s * t)
Operation *IntegerRewrite::rewrite() {
  RoundedRows rows = roundRows(product.rows->get().getLoc());
  rewriter.setInsertionPoint(op);
  QuantizedColumns made = quantize(product);
  std::vector<int32_t> shifts(product.getColumns());
  ArrayRef<char> numbers = made.numbers.getData();
  int64_t columns = product.getColumns(), stride = product.columnAxis == 0 ? product.getDepth() : 1;
  int32_t zero = rows.zero ? 1 : static_cast<int32_t>(kMiddle);
  for (auto [i, element] : llvm::enumerate(numbers))
    shifts[static_cast<int64_t>(i) / stride % columns] += static_cast<int8_t>(element) * zero;
  auto type = product.weight.getType().clone(rewriter.getI8Type());
  auto matrix =
      WeightOp::create(rewriter, product.weight.getLoc(), createElements(type, "int8", std::move(made.numbers)));
  matrix.setNameAttr(deriveName(product.weight.getNameAttr(), "int8"));
  Location loc = op->getLoc();
  Operation *integers = multiply(rows.bytes, matrix);
  Value sum = integers->getResult(0);
  auto getBytesOf = [](const auto &elements) {
    return ArrayRef(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(elements[0]));
  };
  if (product.getZero() != RoundedProduct::Zero::none) {
    Value shift = makeColumns(rewriter.getI32Type(), getBytesOf(shifts), "sums");
    if (rows.zero)
      shift = MulOp::create(rewriter, loc, rows.zero, shift);
    sum = SubOp::create(rewriter, loc, sum, shift);
  }
  Value scales = makeColumns(rewriter.getF32Type(), getBytesOf(made.scales), "scales"),
        number = TenonBuilder(rewriter, loc).cast(sum, rewriter.getF32Type());
  rewriter.replaceOp(
      op, MulOp::create(rewriter, loc, number, MulOp::create(rewriter, loc, rows.scale, scales).getResult()));
  return integers;
}

Operation *Int8Rounded::take(Operation *op, const Machine &, RewriterBase &rewriter) const {
  RoundedProduct product = *findProduct(op);
  Operation *floats = product.matrix->get().getDefiningOp();
  Operation *integers = IntegerRewrite(op, product, rewriter).rewrite();
  assert(findK4Panels(integers) && "kernels of int8 products read the matrix in panels");
  eraseUnread(rewriter, floats);
  return integers;
}

std::unique_ptr<Path> tenon::createInt8Rounded(const PathPolicy &policy) {
  return std::make_unique<Int8Rounded>(policy);
}
