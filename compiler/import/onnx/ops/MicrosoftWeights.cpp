//===- MicrosoftWeights.cpp - weights of few bits in domain com.microsoft --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/WeightBytes.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// The handlers follow the descriptions in ONNX Runtime (docs/ContribOperators.md).

namespace {

int64_t getProduct(IntsRef values) {
  int64_t product = 1;
  for (int64_t value : values)
    product *= value;
  return product;
}

Type getNumberType(Node &n, int64_t bits) { return IntegerType::get(n.getContext(), bits, IntegerType::Unsigned); }

/// Unpacks numbers of `bits` bits, lowest bits of each byte first: the last dimension becomes 8 / bits times as long.
Value unpack(Node &n, Value bytes, int64_t bits) {
  if (bits == 8)
    return bytes;
  Type type = n.elementType(bytes);
  int64_t parts = 8 / bits, last = n.rank(bytes);
  Ints shifts;
  for (int64_t i = 0; i < parts; ++i)
    shifts.push_back(i * bits);
  Value shifted = n.shiftRight(n.unsqueeze(bytes, last), n.constantInts(shifts, parts, type));
  Dims shape = n.dims(bytes);
  shape.back() = mulDims(shape.back(), n.constantDim(parts));
  return n.reshape(n.bitAnd(shifted, n.constantInts((1 << bits) - 1, {}, type)), shape);
}

/// Returns the bytes of a constant with one-byte elements, in any shape; none for a splat.
std::optional<ArrayRef<char>> getConstantBytes(Value value) {
  while (auto reshape = value ? value.getDefiningOp<ReshapeOp>() : ReshapeOp())
    value = reshape.getInput();
  auto weight = value ? value.getDefiningOp<WeightOp>() : WeightOp();
  return weight && weight.getType().getElementTypeBitWidth() == 8 ? getBytes(weight.getValue()) : std::nullopt;
}

/// Reads input i, bytes with 8 / bits numbers each, as [rows, columns]; each row begins with a new byte. Constants stay
/// packed.
Value readNumbers(Node &n, size_t i, int64_t rows, int64_t columns, int64_t bits) {
  int64_t rowBytes = llvm::divideCeil(columns * bits, 8), padded = rowBytes * 8 / bits;
  Value numbers;
  std::optional<ArrayRef<char>> bytes = getConstantBytes(n.input(i));
  if (bits != 8 && bytes && static_cast<int64_t>(bytes->size()) == rows * rowBytes) {
    auto type = RankedTensorType::get({rows, padded}, getNumberType(n, bits));
    numbers = n.weight(makeElements(type, *bytes, nullptr, n.inputName(i)), n.inputName(i));
  } else {
    numbers = n.cast(unpack(n, n.reshape(n.input(i), {rows, rowBytes}), bits), getNumberType(n, bits));
  }
  return padded == columns ? numbers : n.sliceAxis(numbers, 1, n.constantDim(0), n.constantDim(columns));
}

/// Checks that input i, if present with a known shape, has `count` elements.
LogicalResult checkCount(Node &n, size_t i, int64_t count) {
  if (!n.hasInput(i))
    return success();
  std::optional<int64_t> own = getConstant(getElementCount(n.getContext(), n.dims(n.input(i))));
  if (!own || *own == count)
    return success();
  return n.invalid("input '" + n.inputName(i) + "' has " + llvm::Twine(*own) +
                   " elements where sizes, 'bits' and 'block_size' ask for " + llvm::Twine(count));
}

/// A weight [N, K] of a MatMulNBits.
struct NarrowWeight {
  int64_t rows, columns, block, bits;
  int64_t getBlocks() const { return llvm::divideCeil(columns, block); }
};

/// Handles weights whose columns index the scales of blocks, or whose zero points are not integers, by separate
/// operations.
Value importScattered(Node &n, const NarrowWeight &w, Value numbers, Type compute) {
  Value scale = n.cast(n.reshape(n.input(2), {w.rows, w.getBlocks()}), compute), zero;
  if (!n.hasInput(3))
    zero = n.scalar(1 << (w.bits - 1), compute);
  else if (n.isInteger(n.input(3)))
    zero = n.cast(readNumbers(n, 3, w.rows, w.getBlocks(), w.bits), compute);
  else
    zero = n.cast(n.reshape(n.input(3), {w.rows, w.getBlocks()}), compute);
  Ints blocks;
  for (int64_t column = 0; column < w.columns; ++column)
    blocks.push_back(column / w.block);
  Value indices = n.hasInput(4) ? n.input(4) : n.constantInts(blocks);
  auto choose = [&](Value v) { return n.rank(v) == 0 ? v : n.gather(v, indices, 1); };
  return n.mul(n.sub(n.cast(numbers, compute), choose(zero)), choose(scale));
}

/// A matmul with a weight [N, K] of low-bit numbers that have a scale for each block along K.
LogicalResult importMatMulNBits(Node &n) {
  Value x = n.input(0);
  NarrowWeight w{n.getInt("N", 0), n.getInt("K", 0), n.getInt("block_size", 0), n.getInt("bits", 4)};
  if (w.rows < 1 || w.columns < 1 || w.block < 8 || (w.bits != 2 && w.bits != 4 && w.bits != 8) || n.rank(x) < 1)
    return n.unsupported("needs positive 'N' and 'K', a 'block_size' of at least 8, and 'bits' of 2, 4 or 8");
  if (n.getInt("weight_prepacked", 0) != 0)
    return n.unsupported("its weight is packed for one kind of GPU ('weight_prepacked')");
  int64_t scales = w.rows * w.getBlocks(), zeroBytes = w.rows * llvm::divideCeil(w.getBlocks() * w.bits, 8);
  bool hasPackedZeros = n.hasInput(3) && n.isInteger(n.input(3));
  if (failed(checkCount(n, 1, w.rows * llvm::divideCeil(w.getBlocks() * w.block * w.bits, 8))) ||
      failed(checkCount(n, 2, scales)) || failed(checkCount(n, 3, hasPackedZeros ? zeroBytes : scales)))
    return failure();
  Type type = n.elementType(x), compute = type.isF64() ? type : n.f32();
  Value numbers = readNumbers(n, 1, w.rows, w.getBlocks() * w.block, w.bits), weight;
  if (w.getBlocks() * w.block != w.columns)
    numbers = n.sliceAxis(numbers, 1, n.constantDim(0), n.constantDim(w.columns));
  if (n.hasInput(4) || (n.hasInput(3) && !n.isInteger(n.input(3)))) {
    weight = importScattered(n, w, numbers, compute);
  } else {
    Value zero = n.hasInput(3) ? readNumbers(n, 3, w.rows, w.getBlocks(), w.bits)
                               : n.constantInts(int64_t(1) << (w.bits - 1), {1, 1}, getNumberType(n, w.bits));
    Value scale = n.reshape(n.input(2), {w.rows, w.getBlocks()});
    weight = n.dequantize(numbers, scale, zero, 1, w.block, compute);
  }
  Value y = n.cast(n.matmul(n.cast(x, compute), n.transpose(weight, {1, 0})), type);
  return n.setResult(n.hasInput(5) ? n.add(y, n.input(5)) : y);
}

/// Looks up rows of a low-bit embedding that has a scale for each block along another axis.
LogicalResult importGatherBlockQuantized(Node &n) {
  Value numbers = n.input(0), indices = n.input(1), scale = n.input(2);
  int64_t rank = n.rank(numbers), bits = n.getInt("bits", 4), block = n.getInt("block_size", 128);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("gather_axis", 0), rank),
                         blockAxis = n.normalizeAxis(n.getInt("quantize_axis", 1), rank);
  if (!axis || !blockAxis)
    return failure();
  bool isPacked = n.elementType(numbers).isUnsignedInteger(8);
  if (*axis == *blockAxis || block < 1 || (bits != 4 && bits != 8) || (isPacked && *blockAxis + 1 != rank))
    return n.unsupported(
        "needs 'bits' of 4 or 8, and blocks along another axis than that of the indices, the last one of bytes");
  Value zero;
  if (isPacked) {
    std::optional<Ints> shape = getConstants(n.dims(numbers)), blocks = getConstants(n.dims(scale));
    if (!shape || !blocks)
      return n.unsupported("needs weights whose shape is constant");
    auto read = [&](size_t i, Ints shape) {
      int64_t columns = shape.back(), rows = getProduct(IntsRef(shape).drop_back());
      return n.reshape(readNumbers(n, i, rows, columns, bits), shape);
    };
    int64_t zeroRows = getProduct(IntsRef(*blocks).drop_back());
    if (failed(checkCount(n, 3, zeroRows * llvm::divideCeil(blocks->back() * bits, 8))))
      return failure();
    shape->back() *= 8 / bits;
    numbers = read(0, *shape);
    zero = n.hasInput(3) ? read(3, *blocks)
                         : n.constantInts(int64_t(1) << (bits - 1), Ints(rank, 1), getNumberType(n, bits));
  } else {
    zero = n.optionalInput(3);
  }
  return n.setResult(n.gather(n.dequantize(numbers, scale, zero, *blockAxis, block), indices, *axis));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMicrosoftWeightOps() {
  static const OpEntry ops[] = {
      {"GatherBlockQuantized", importGatherBlockQuantized},
      {"MatMulNBits", importMatMulNBits},
  };
  return ops;
}
