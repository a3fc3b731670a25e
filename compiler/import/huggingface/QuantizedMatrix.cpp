//===- QuantizedMatrix.cpp - the matrices of quantized checkpoints --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "compiler/import/huggingface/ModelContext.h"
#include "compiler/import/huggingface/PackedWords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

/// A matrix [out, in] of a checkpoint, under the current prefix.
struct MatrixReader {
  ModelContext &model;
  Quantization quantization;
  int64_t in, out;

  int64_t groupSize() const { return quantization.group == 0 ? in : quantization.group; }
  int64_t groups() const { return llvm::divideCeil(in, groupSize()); }
  int64_t perWord() const { return 32 / quantization.bits; }

  Tensor makeNumbers(StringRef name, ArrayRef<int64_t> shape, SmallVector<char> numbers, bool isSigned = false);
  /// Returns the zero point of symmetric numbers, which are stored with an offset of half the range, as [1, 1].
  Tensor makeMiddle() { return reshape(model.graph.vector(double(1 << (quantization.bits - 1)), DType::u8), {1, 1}); }
  Tensor dequantize(const Tensor &numbers, const Tensor &scale, const Tensor &zero);

  QuantizedMatrix readGptq();
  Tensor readAwq();
  Tensor readPacked();
  Tensor readInt8();
  Tensor readInt8Largest();

private:
  bool dividesWords();
  std::optional<SmallVector<int64_t>> readOrder();
};

} // namespace

/// A weight of numbers of `bits`, a byte each.
Tensor MatrixReader::makeNumbers(StringRef name, ArrayRef<int64_t> shape, SmallVector<char> numbers, bool isSigned) {
  MLIRContext *context = model.graph.getContext();
  Type type = IntegerType::get(context, quantization.bits, isSigned ? IntegerType::Signless : IntegerType::Unsigned);
  return model.weightOf(name.str(), makeUnpackedElements(RankedTensorType::get(shape, type), std::move(numbers), name));
}

/// The scale is [out, groups]; the zero point is, too, unless it is a scalar or absent.
Tensor MatrixReader::dequantize(const Tensor &numbers, const Tensor &scale, const Tensor &zero) {
  return graph::dequantize(numbers, scale, zero, 1, groupSize());
}

/// Reports an error if a word would contain numbers of two rows.
bool MatrixReader::dividesWords() {
  if (in % perWord() == 0 && out % perWord() == 0)
    return true;
  model.refuseMatrix("a matrix of " + Twine(out) + " x " + Twine(in) + " numbers does not divide into words of " +
                     Twine(perWord()));
  return false;
}

//===----------------------------------------------------------------------===//
// GPTQ
//===----------------------------------------------------------------------===//

/// Returns the order of `in` in which groups are contiguous; empty if the stored order is. None, after an error, if
/// `g_idx` does not name groups of equal size.
std::optional<SmallVector<int64_t>> MatrixReader::readOrder() {
  if (!model.hasWeight("g_idx"))
    return SmallVector<int64_t>();
  std::optional<ArrayRef<char>> bytes = model.storedBytes("g_idx", {in}, "I32");
  if (!bytes)
    return std::nullopt;
  auto groupOf = [&](int64_t i) {
    return static_cast<int32_t>(llvm::support::endian::read32le(bytes->data() + 4 * i));
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(in));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return groupOf(a) < groupOf(b); });
  for (int64_t i = 0; i < in; ++i)
    if (groupOf(order[i]) != i / groupSize()) {
      model.refuseMatrix("'g_idx' does not name groups of " + Twine(groupSize()));
      return std::nullopt;
    }
  return llvm::is_sorted(order) ? SmallVector<int64_t>() : order;
}

QuantizedMatrix MatrixReader::readGptq() {
  if (!dividesWords())
    return {model.graph.missing()};
  auto words = model.storedBytes("qweight", {in / perWord(), out}, "I32");
  auto zeroWords = model.storedBytes("qzeros", {groups(), out / perWord()}, "I32");
  Tensor scale = model.storedWeight("scales", {groups(), out});
  std::optional<SmallVector<int64_t>> order = readOrder();
  if (bool hasAll = words && zeroWords && scale && order; !hasAll)
    return {model.graph.missing()};
  SmallVector<char> numbers = unpackWords(*words, {in, out, quantization.bits, /*areRows=*/true}, true, *order);
  SmallVector<char> zeros = unpackWords(*zeroWords, {groups(), out, quantization.bits}, true);
  int mask = (1 << quantization.bits) - 1;
  if (quantization.countsFromOne)
    for (char &zero : zeros)
      zero = static_cast<char>((zero + 1) & mask);
  QuantizedMatrix result;
  result.matrix = dequantize(makeNumbers("qweight", {out, in}, std::move(numbers)), transpose(scale, {1, 0}),
                             makeNumbers("qzeros", {out, groups()}, std::move(zeros)));
  if (!order->empty())
    result.order = model.graph.vector(llvm::to_vector_of<double>(*order), DType::i64);
  return result;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Tensor MatrixReader::readAwq() {
  static constexpr uint8_t kPlaces[] = {0, 4, 1, 5, 2, 6, 3, 7};
  if (!dividesWords())
    return model.graph.missing();
  auto words = model.storedBytes("qweight", {in, out / perWord()}, "I32");
  Tensor scale = model.storedWeight("scales", {groups(), out});
  std::optional<ArrayRef<char>> zeroWords;
  if (!quantization.isSymmetric)
    zeroWords = model.storedBytes("qzeros", {groups(), out / perWord()}, "I32");
  if (bool hasAll = words && scale && (zeroWords || quantization.isSymmetric); !hasAll)
    return model.graph.missing();
  PackedWords layout{in, out, quantization.bits, false, kPlaces};
  Tensor numbers = makeNumbers("qweight", {out, in}, unpackWords(*words, layout, true)), zero = makeMiddle();
  layout.rows = groups();
  if (zeroWords)
    zero = makeNumbers("qzeros", {out, groups()}, unpackWords(*zeroWords, layout, true));
  return dequantize(numbers, transpose(scale, {1, 0}), zero);
}

Tensor MatrixReader::readPacked() {
  if (in % perWord() != 0 || (!quantization.isSymmetric && !dividesWords())) {
    model.refuseMatrix("rows of " + Twine(in) + " numbers do not divide into words of " + Twine(perWord()));
    return model.graph.missing();
  }
  auto words = model.storedBytes("weight_packed", {out, in / perWord()}, "I32");
  Tensor scale = model.storedWeight("weight_scale", {out, groups()});
  std::optional<ArrayRef<char>> zeroWords;
  if (!quantization.isSymmetric)
    zeroWords = model.storedBytes("weight_zero_point", {out / perWord(), groups()}, "I32");
  if (bool hasAll = words && scale && (zeroWords || quantization.isSymmetric); !hasAll)
    return model.graph.missing();
  // Signed numbers and zero points are stored with the same offset, so their difference is unchanged.
  PackedWords layout{out, in, quantization.bits};
  Tensor numbers = makeNumbers("weight_packed", {out, in}, unpackWords(*words, layout, false)), zero;
  if (zeroWords)
    zero = makeNumbers("weight_zero_point", {out, groups()},
                       unpackWords(*zeroWords, {out, groups(), quantization.bits, /*areRows=*/true}, false));
  return dequantize(numbers, scale, zeroWords ? zero : makeMiddle());
}

Tensor MatrixReader::readInt8() {
  auto bytes = model.storedBytes("weight", {out, in}, "I8");
  Tensor scale = model.storedWeight("weight_scale", {out, groups()}), zero;
  if (!quantization.isSymmetric) {
    auto zeros = model.storedBytes("weight_zero_point", {out, groups()}, "I8");
    if (!zeros)
      return model.graph.missing();
    zero = makeNumbers("weight_zero_point", {out, groups()}, llvm::to_vector(*zeros), /*isSigned=*/true);
  }
  if (bool hasAll = bytes && scale; !hasAll)
    return model.graph.missing();
  return dequantize(makeNumbers("weight", {out, in}, llvm::to_vector(*bytes), /*isSigned=*/true), scale, zero);
}

Tensor MatrixReader::readInt8Largest() {
  auto bytes = model.storedBytes("weight", {out, in}, "I8");
  Tensor largest = model.storedWeight("SCB", {out});
  if (bool hasAll = bytes && largest; !hasAll)
    return model.graph.missing();
  Tensor scale = reshape(largest / 127, {out, 1});
  return dequantize(makeNumbers("weight", {out, in}, llvm::to_vector(*bytes), /*isSigned=*/true), scale, {});
}

QuantizedMatrix ModelContext::matrix(int64_t in, int64_t out) {
  MatrixReader reader{*this, quantization, in, out};
  switch (quantization.method) {
  case QuantizationMethod::gptq:
    if (hasWeight("qweight"))
      return reader.readGptq();
    break;
  case QuantizationMethod::awq:
    if (hasWeight("qweight"))
      return {reader.readAwq()};
    break;
  case QuantizationMethod::packed:
    if (hasWeight("weight_packed"))
      return {reader.readPacked()};
    break;
  case QuantizationMethod::int8:
    if (hasWeight("weight_scale"))
      return {reader.readInt8()};
    break;
  case QuantizationMethod::int8Largest:
    if (hasWeight("SCB"))
      return {reader.readInt8Largest()};
    break;
  case QuantizationMethod::none:
    break;
  }
  return {weight("weight", {out, in})};
}
