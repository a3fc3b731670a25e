//===- Signal.cpp - Fourier transforms, and what goes with them ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// Transforms of one dimension
//===----------------------------------------------------------------------===//

/// Up to this length, one matmul with the DFT matrix is fastest; a longer transform is factored.
constexpr int64_t kWholeLength = 64;
/// Longer transforms would have tables out of proportion to the model.
constexpr int64_t kLongestLength = 1 << 20;

/// Tables of exp(sign * 2 pi i * angle), where `angle` is an exact number of turns.
struct Turn {
  double re, im;
};
Turn makeTurn(int64_t numerator, int64_t denominator, int64_t sign) {
  double angle = 2 * std::numbers::pi * static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return {std::cos(angle), static_cast<double>(sign) * std::sin(angle)};
}

/// Discrete Fourier transforms along dimension 1 of [batch, n, 1 or 2], of real numbers or of pairs of real and
/// imaginary part. `sign` is -1, or 1 for the inverse, which is not divided by n here.
class Transform {
public:
  Transform(Node &n, Type type, int64_t sign) : n(n), type(type), sign(sign) {}

  /// [batch, n, 2]
  Value run(Value x) {
    std::optional<int64_t> length = getConstant(n.dim(x, 1));
    if (!length)
      return multiply(x, makeMatrix(n.dim(x, 1), getParts(x)));
    if (*length <= kWholeLength)
      return multiply(x, makeMatrix(*length, getParts(x)));
    int64_t factor = kWholeLength;
    while (*length % factor)
      --factor;
    return factor == 1 ? runChirp(x, *length) : runFactors(x, factor, *length / factor);
  }

private:
  int64_t getParts(Value x) { return getConstant(n.dim(x, 2)).value_or(1); }

  /// Sums over element j and part c: [batch, j, c] x [j, c, k, part] -> [batch, k, part].
  Value multiply(Value x, Value matrix) { return n.contract(x, matrix, {0, 1, 2}, {1, 2, 3, 4}, {0, 3, 4}); }

  /// Returns the matrix for real numbers, or for complex ones as two by two reals.
  Value makeMatrix(int64_t length, int64_t parts) {
    SmallVector<double> numbers;
    for (int64_t j = 0; j < length; ++j)
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t k = 0; k < length; ++k) {
          Turn turn = makeTurn(j * k, length, sign);
          numbers.append(part == 0 ? std::initializer_list<double>{turn.re, turn.im}
                                   : std::initializer_list<double>{-turn.im, turn.re});
        }
    return n.constantFloats(numbers, {length, parts, length, 2}, type);
  }

  /// The same for a length that is only known at run time. Whole turns are removed while the numbers are integers, and
  /// angles are f64, because terms that should cancel only do so as far as they are exact.
  Value makeMatrix(AffineExpr length, int64_t parts) {
    Dims square{length, length};
    Value size = n.size(length, n.i64());
    Value product = n.rem(n.mul(n.iota(square, 0, n.i64()), n.iota(square, 1, n.i64())), size);
    Value angle =
        n.div(n.mul(n.cast(product, n.f64()), n.scalar(2 * std::numbers::pi, n.f64())), n.cast(size, n.f64()));
    Value re = n.cast(n.cos(angle), type), im = n.mul(n.cast(n.sin(angle), type), n.scalar(sign, type));
    auto pair = [&](Value a, Value b) { return n.unsqueeze(n.concat({n.unsqueeze(a, 2), n.unsqueeze(b, 2)}, 2), 1); };
    return parts == 1 ? pair(re, im) : n.concat({pair(re, im), pair(n.neg(im), re)}, 1);
  }

  Value takePart(Value x, int64_t part) { return n.sliceAxis(x, n.rank(x) - 1, n.constantDim(part), n.constantDim(1)); }

  /// Multiplies complex numbers by twiddle factors. A factor without an imaginary part is real.
  Value multiplyComplex(Value x, ArrayRef<Turn> turns, IntsRef shape) {
    SmallVector<double> re, im;
    for (Turn turn : turns) {
      re.push_back(turn.re);
      im.push_back(turn.im);
    }
    Ints padded(shape);
    padded.push_back(1);
    Value c = n.constantFloats(re, padded, type), d = n.constantFloats(im, padded, type), a = takePart(x, 0);
    int64_t last = n.rank(x) - 1;
    if (getConstant(n.dim(x, last)) == 1)
      return n.concat({n.mul(a, c), n.mul(a, d)}, last);
    Value b = takePart(x, 1);
    return n.concat({n.sub(n.mul(a, c), n.mul(b, d)), n.add(n.mul(a, d), n.mul(b, c))}, last);
  }

  /// Cooley-Tukey: for n = p * q, transforms of length p over elements q apart, a multiplication by twiddle factors,
  /// then transforms of length q.
  Value runFactors(Value x, int64_t p, int64_t q) {
    AffineExpr batch = n.dim(x, 0), two = n.constantDim(2), rows = n.constantDim(p), columns = n.constantDim(q);
    Value parts = n.reshape(x, {batch, rows, columns, n.dim(x, 2)});
    // [batch, j, column, c] x [j, c, k, part] -> [batch, k, column, part]
    parts = n.contract(parts, makeMatrix(p, getParts(x)), {0, 1, 2, 3}, {1, 3, 4, 5}, {0, 4, 2, 5});
    SmallVector<Turn> turns;
    for (int64_t k = 0; k < p; ++k)
      for (int64_t column = 0; column < q; ++column)
        turns.push_back(makeTurn(k * column, p * q, sign));
    parts = multiplyComplex(parts, turns, {p, q});
    parts = run(n.reshape(parts, {mulDims(batch, rows), columns, two}));
    parts = n.transpose(n.reshape(parts, {batch, rows, columns, two}), {0, 2, 1, 3});
    return n.reshape(parts, {batch, n.constantDim(p * q), two});
  }

  /// Bluestein: j * k = (j^2 + k^2 - (k - j)^2) / 2 turns a transform of prime length into a convolution, which is
  /// computed by two transforms of power-of-two length.
  Value runChirp(Value x, int64_t length) {
    int64_t wide = llvm::PowerOf2Ceil(2 * length - 1);
    SmallVector<Turn> chirp;
    SmallVector<double> filter(2 * wide, 0);
    for (int64_t j = 0; j < length; ++j) {
      chirp.push_back(makeTurn(j * j % (2 * length), 2 * length, sign));
      for (int64_t place : {j, (wide - j) % wide}) {
        filter[2 * place] = chirp.back().re;
        filter[2 * place + 1] = -chirp.back().im;
      }
    }
    Value turned = multiplyComplex(x, chirp, length);
    AffineExpr zero = n.constantDim(0);
    turned = n.pad("constant", turned, n.scalar(0, type), {zero, zero, zero}, {0, 0, 0},
                   {n.dim(x, 0), n.constantDim(wide), n.constantDim(2)});
    Value spectrum = multiplyComplex(Transform(n, type, -1).run(turned), transformTable(filter), wide);
    Value result = n.sliceAxis(Transform(n, type, 1).run(spectrum), 1, zero, n.constantDim(length));
    for (Turn &turn : chirp)
      turn = {turn.re / static_cast<double>(wide), turn.im / static_cast<double>(wide)};
    return multiplyComplex(result, chirp, length);
  }

  /// Computes the transform of a table with a power of two of elements.
  static SmallVector<Turn> transformTable(ArrayRef<double> pairs) {
    size_t size = pairs.size() / 2;
    SmallVector<Turn> result(size);
    for (size_t i = 0; i < size; ++i) {
      size_t mirrored = 0;
      for (size_t bit = 1; bit < size; bit *= 2)
        mirrored = mirrored * 2 + (i & bit ? 1 : 0);
      result[mirrored] = {pairs[2 * i], pairs[2 * i + 1]};
    }
    for (size_t half = 1; half < size; half *= 2)
      for (size_t start = 0; start < size; start += 2 * half)
        for (size_t i = 0; i < half; ++i) {
          Turn turn = makeTurn(static_cast<int64_t>(i), static_cast<int64_t>(2 * half), -1);
          Turn &a = result[start + i], &b = result[start + i + half];
          Turn t{b.re * turn.re - b.im * turn.im, b.re * turn.im + b.im * turn.re};
          b = {a.re - t.re, a.im - t.im};
          a = {a.re + t.re, a.im + t.im};
        }
    return result;
  }

  Node &n;
  Type type;
  int64_t sign;
};

/// Truncates dimension 1 to `extent`, or pads it with zeros.
Value resizeSignal(Node &n, Value x, AffineExpr extent) {
  Dims shape = n.dims(x);
  if (shape[1] == extent)
    return x;
  shape[1] = extent;
  AffineExpr zero = n.constantDim(0);
  return n.pad("constant", x, n.scalarLike(0, x), {zero, zero, zero}, {0, 0, 0}, shape);
}

/// Completes the half spectrum of a real signal: [batch, n / 2 + 1, 2] to [batch, n, 2]. The numbers that are their own
/// mirror image are taken to be real.
Value completeSpectrum(Node &n, Value x, AffineExpr length) {
  AffineExpr half = addDims(divDims(length, n.constantDim(2)), n.constantDim(1));
  Dims whole{n.dim(x, 0), length, n.constantDim(2)};
  x = resizeSignal(n, x, half);
  Value place = n.iota(length, 0, n.i64()), size = n.size(length, n.i64()), zero = n.scalar(0, n.i64());
  Value mirrored = n.sub(size, place), isFirst = n.less(place, n.size(half, n.i64()));
  Value spectrum = n.gather(x, n.select(isFirst, place, mirrored), 1);
  Value isOwn = n.bitOr(n.equal(place, zero), n.equal(place, mirrored));
  Type type = n.elementType(x);
  Value factor = n.select(isOwn, n.scalar(0, type), n.select(isFirst, n.scalar(1, type), n.scalar(-1, type)));
  Value isImaginary = n.equal(n.iota(n.constantDim(2), 0, n.i64()), n.scalar(1, n.i64()));
  factor = n.select(isImaginary, n.unsqueeze(factor, 1), n.scalar(1, type));
  return n.broadcast(n.mul(spectrum, factor), whole);
}

struct TransformKind {
  bool isInverse, isOneSided;
};

/// Transforms along dimension 1 of [batch, signal, 1 or 2].
Value transformSignal(Node &n, Value x, AffineExpr length, TransformKind kind) {
  Type given = n.elementType(x), type = given.isF64() ? n.f64() : n.f32();
  x = n.cast(x, type);
  bool isRealResult = kind.isInverse && kind.isOneSided;
  if (isRealResult && getConstant(n.dim(x, 2)) == 1)
    x = n.concat({x, n.mul(x, n.scalar(0, type))}, 2);
  x = isRealResult ? completeSpectrum(n, x, length) : resizeSignal(n, x, length);
  Value y = Transform(n, type, kind.isInverse ? 1 : -1).run(x);
  if (kind.isInverse)
    y = n.div(y, n.size(length, type));
  if (isRealResult)
    y = n.sliceAxis(y, 2, n.constantDim(0), n.constantDim(1));
  else if (kind.isOneSided)
    y = n.sliceAxis(y, 1, n.constantDim(0), addDims(divDims(length, n.constantDim(2)), n.constantDim(1)));
  return n.cast(y, given);
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

/// Returns a single number that is known at compile time, as an expression over symbols.
std::optional<AffineExpr> readSize(Node &n, size_t input, StringRef what) {
  std::optional<Dims> sizes = n.sizesOperand(input, what);
  if (sizes && sizes->size() == 1)
    return sizes->front();
  if (sizes)
    (void)n.invalid("'" + what + "' has " + Twine(sizes->size()) + " elements, but has to have one");
  return std::nullopt;
}

bool hasParts(Node &n, Value x) {
  std::optional<int64_t> parts = n.rank(x) ? getConstant(n.dims(x).back()) : std::nullopt;
  return parts == 1 || parts == 2;
}

/// Transforms along dimension 1 of [before, n, after, 1 or 2].
Value transformMiddle(Node &n, Value x) {
  TransformKind kind{n.getBool("inverse", false), n.getBool("onesided", false)};
  Dims d = n.dims(x);
  std::optional<AffineExpr> length = n.dim(x, 1);
  if (kind.isInverse && kind.isOneSided)
    length = mulDims(subDims(*length, n.constantDim(1)), n.constantDim(2));
  if (n.hasInput(1))
    length = readSize(n, 1, "dft_length");
  if (!length || d.size() != 4)
    return {};
  if (getConstant(*length).value_or(1) < 1) {
    (void)n.invalid("the length of the transform is " + dimsToString(*length) + ", which has to be at least 1");
    return {};
  }
  if (getConstant(*length).value_or(1) > kLongestLength) {
    (void)n.unsupported("the length of the transform is " + dimsToString(*length) + "; up to " + Twine(kLongestLength) +
                        " is supported");
    return {};
  }
  Value signals = n.reshape(n.transpose(x, {0, 2, 1, 3}), {mulDims(d[0], d[2]), d[1], d[3]});
  Value y = transformSignal(n, signals, *length, kind);
  return n.transpose(n.reshape(y, {d[0], d[2], n.dim(y, 1), n.dim(y, 2)}), {0, 2, 1, 3});
}

/// The same along an axis that comes as an input.
LogicalResult importRuntimeDft(Node &n, Value x) {
  int64_t rank = n.rank(x), last = rank - 1;
  Value axis = n.vectorOperand(2), zero = n.scalar(0, n.i64());
  axis = n.select(n.less(axis, zero), n.add(axis, n.scalar(rank, n.i64())), axis);
  Value around = aroundAxis(n, x, axis);
  AffineExpr parts = n.dim(x, last);
  Value y = transformMiddle(
      n, n.reshape(around, {n.dim(around, 0), n.dim(around, 1), divDims(n.dim(around, 2), parts), parts}));
  if (!y)
    return failure();
  // The shape is that of the input, except for the axis and the parts.
  Value isAxis = n.equal(n.iota(n.constantDims(last), 0, n.i64()), axis);
  Value extents = n.sliceAxis(extentsOf(n, x), 0, n.constantDim(0), n.constantDim(last));
  Dims shape = n.bindSizes(n.select(isAxis, n.size(n.dim(y, 1), n.i64()), extents));
  shape.push_back(n.dim(y, 3));
  return n.setResult(n.reshape(y, shape));
}

LogicalResult importDft(Node &n) {
  Value x = n.input(0);
  int64_t rank = n.rank(x);
  if (rank < 2 || !hasParts(n, x))
    return n.invalid("needs an input whose last dimension is 1, real, or 2, complex, found " + dimsToString(n.dims(x)));
  if (n.hasInput(2) && !n.isConstantOperand(2))
    return importRuntimeDft(n, x);
  std::optional<int64_t> given = n.hasInput(2) ? n.intOperand(2, "axis") : n.getInt("axis", n.getOpset() < 20 ? 1 : -2);
  std::optional<int64_t> axis = given ? n.normalizeAxis(*given, rank) : std::nullopt;
  if (!axis)
    return failure();
  if (*axis == rank - 1)
    return n.invalid("'axis' is the dimension that holds real and imaginary parts");
  Dims dims = n.dims(x), before(dims.begin(), dims.begin() + *axis), after(dims.begin() + *axis + 1, dims.end() - 1);
  auto count = [&](const Dims &extents) { return getElementCount(n.getContext(), extents); };
  Value y = transformMiddle(n, n.reshape(x, {count(before), dims[*axis], count(after), dims.back()}));
  dims[*axis] = n.dim(y, 1);
  dims.back() = n.dim(y, 3);
  return y ? n.setResult(n.reshape(y, dims)) : failure();
}

LogicalResult importStft(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) == 2)
    x = n.unsqueeze(x, 2);
  if (n.rank(x) != 3 || !hasParts(n, x))
    return n.invalid("needs a signal [batch, length, 1 or 2], found " + dimsToString(n.dims(x)));
  std::optional<AffineExpr> step = readSize(n, 1, "frame_step"), length = n.dim(x, 1);
  if (n.hasInput(3))
    length = readSize(n, 3, "frame_length");
  else if (n.hasInput(2))
    length = n.dim(n.input(2), 0);
  if (!step || !length)
    return failure();
  if (getConstant(*step).value_or(1) < 1 || getConstant(*length).value_or(1) < 1)
    return n.invalid("'frame_step' and 'frame_length' have to be at least 1");
  if (n.getBool("onesided", true) && getConstant(n.dim(x, 2)) == 2)
    return n.invalid("'onesided' needs a real signal, found " + dimsToString(n.dims(x)));
  n.require(subDims(n.dim(x, 1), *length), "a frame is longer than the signal");
  AffineExpr frames = addDims(divDims(subDims(n.dim(x, 1), *length), *step), n.constantDim(1));
  Dims places{frames, *length};
  Value start = n.mul(n.iota(places, 0, n.i64()), n.size(*step, n.i64()));
  Value y = n.gather(x, n.add(start, n.iota(places, 1, n.i64())), 1);
  if (n.hasInput(2))
    y = n.mul(y, n.alongAxis(n.cast(n.input(2), n.elementType(x)), 2, 4));
  AffineExpr batch = n.dim(x, 0);
  y = n.reshape(y, {mulDims(batch, frames), *length, n.dim(x, 2)});
  // There are no frames if a frame is longer than the signal.
  if (!y)
    return failure();
  y = transformSignal(n, y, *length, {false, n.getBool("onesided", true)});
  if (!y)
    return failure();
  return n.setResult(n.reshape(y, {batch, frames, n.dim(y, 1), n.dim(y, 2)}));
}

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

/// Computes a triangular filter for each band, between three neighbouring band edges, which are evenly spaced on the
/// mel scale.
LogicalResult importMelWeightMatrix(Node &n) {
  std::optional<AffineExpr> bands = readSize(n, 0, "num_mel_bins"), length = readSize(n, 1, "dft_length");
  if (!bands || !length)
    return failure();
  Type type = n.f64(), result = n.getDataType("output_datatype", n.f32());
  auto number = [&](double value) { return n.scalar(value, type); };
  auto operand = [&](size_t i) { return n.reshape(n.cast(n.input(i), type), IntsRef()); };
  auto toMel = [&](Value hertz) {
    Value x = n.log(n.add(number(1), n.div(hertz, number(700))));
    return n.mul(x, number(2595 / std::log(10.0)));
  };
  AffineExpr borders = addDims(*bands, n.constantDim(2));
  Value low = toMel(operand(3)), step = n.div(n.sub(toMel(operand(4)), low), n.size(borders, type));
  Value mel = n.add(n.mul(n.iota(borders, 0, type), step), low);
  Value hertz = n.mul(number(700), n.sub(n.pow(number(10), n.div(mel, number(2595))), number(1)));
  Value bin = n.floor(n.div(n.mul(n.size(addDims(*length, n.constantDim(1)), type), hertz), operand(2)));
  auto border = [&](int64_t i) { return n.sliceAxis(bin, 0, n.constantDim(i), *bands); };
  Value first = border(0), center = border(1), last = border(2);
  AffineExpr bins = addDims(divDims(*length, n.constantDim(2)), n.constantDim(1));
  Value place = n.unsqueeze(n.iota(bins, 0, type), 1);
  Value isPoint = n.equal(first, center);
  Value rise = n.select(isPoint, number(1), n.div(n.sub(place, first), n.sub(center, first)));
  Value fall = n.div(n.sub(last, place), n.sub(last, center));
  Value rises = n.bitAnd(n.greaterOrEqual(place, first), n.lessOrEqual(place, center));
  Value falls = n.bitAnd(n.greaterOrEqual(place, center), n.less(place, last));
  Value weight = n.select(falls, fall, n.select(rises, rise, number(0)));
  return n.setResult(n.cast(weight, result));
}

/// With a negative size, the body of ONNX's function yields an empty window.
LogicalResult importWindow(Node &n) {
  std::optional<Dims> size = n.sizesOperand(0, "size");
  if (!size || size->size() != 1)
    return size ? n.invalid("needs one size, found " + Twine(size->size())) : failure();
  n.require(size->front(), "has a negative size");
  return n.importBody();
}

} // namespace

ArrayRef<OpEntry> onnx_import::getSignalOps() {
  static const OpEntry ops[] = {
      {"BlackmanWindow", importWindow},
      {"DFT", importDft},
      {"HammingWindow", importWindow},
      {"HannWindow", importWindow},
      {"MelWeightMatrix", importMelWeightMatrix},
      {"STFT", importStft},
  };
  return ops;
}
