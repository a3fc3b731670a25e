//===- VnniGroups.cpp - dot products of int8 groups that have scales ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of 4 or 8 bits and rows that are rounded to 8 bits, both in groups with a
// scale each, as ggml multiplies them (Q8_0, Q4_0): vpdpbusd sums the products of a
// group, and the sum is scaled once. The bytes of the rows are unsigned, 128 more than
// their numbers: 128 times the sum of a group's weights is too much, which all rows
// share.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Kernel.h"
#include "passes/kernel/contract/IntegerGroupKernel.h"
#include "passes/kernel/contract/MicroKernels.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Besides those of rows, each vector of columns has a sum of 128 times its weights.
class VnniGroups : public IntegerGroupKernel {
public:
  using IntegerGroupKernel::IntegerGroupKernel;

protected:
  int64_t countOtherRegisters() const override {
    constexpr int64_t kWeights = 4; // limit: registers of weights, of a row, of the constant, and of sums of weights
    return kWeights;
  }
  int64_t countOtherSums(int64_t vectors) const override { return vectors; }
  int64_t getUnrolledWords() const override {
    constexpr int64_t kUnrolled = 8; // limit: of the code's size; groups of 32 bytes have no loop
    return kUnrolled;
  }
  void beginGroup(Value first, int64_t vectors) override;
  void addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) override;
  Value getSum(const GroupSums &sums, int64_t i, int64_t rows, int64_t v, int64_t vectors) override {
    return arith::SubIOp::create(b, loc, sums[i * vectors + v], sums[rows * vectors + v]);
  }

private:
  SmallVector<Value> loadWeights(int64_t vector);
  Value addProducts(Value sum, Value rows, Value weights);

  const VectorType bytes = VectorType::get({4 * lanes}, b.getI8Type());
  SmallVector<Value> zeros; ///< zero points of the current group, a vector of bytes for each vector of columns
};
} // namespace

Value VnniGroups::addProducts(Value sum, Value rows, Value weights) {
  StringAttr name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." + Twine(32 * lanes));
  return LLVM::CallIntrinsicOp::create(b, loc, integers, name, ValueRange{sum, rows, weights}).getResult(0);
}

/// Returns the operands of instructions that the i32 of the current step have: four integers with signs of each column.
SmallVector<Value> VnniGroups::loadWeights(int64_t vector) {
  Value words = loadWords(vector);
  if (groups.perWord == 4)
    return {vector::BitCastOp::create(b, loc, bytes, words)};
  constexpr int64_t kLowHalves = 0x0F0F0F0F; // format: of 4-bit integers
  SmallVector<Value> parts;
  for (int64_t half : {0, 1}) {
    Value part = half ? arith::ShRUIOp::create(b, loc, words, splatInteger(4)).getResult() : words;
    part = arith::AndIOp::create(b, loc, part, splatInteger(kLowHalves));
    part = vector::BitCastOp::create(b, loc, bytes, part);
    parts.push_back(zeros.empty() ? part : arith::SubIOp::create(b, loc, part, zeros[vector]).getResult());
  }
  return parts;
}

void VnniGroups::beginGroup(Value, int64_t vectors) {
  zeros.clear();
  Value zero = groups.getZero();
  if (!zero)
    return;
  constexpr int64_t kEachByte = 0x01010101; // format: of an i32
  for (int64_t v = 0; v < vectors; ++v) {
    Value number = arith::FPToSIOp::create(b, loc, integers, values.emitVector(zero, v));
    Value all = arith::MulIOp::create(b, loc, number, splatInteger(kEachByte));
    zeros.push_back(vector::BitCastOp::create(b, loc, bytes, all));
  }
}

void VnniGroups::addWord(Value step, int64_t vectors, ArrayRef<int64_t> rows, GroupSums &sums) {
  SmallVector<SmallVector<Value>> weights;
  for (int64_t v = 0; v < vectors; ++v)
    weights.push_back(loadWeights(v));
  Value excess = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, static_cast<int8_t>(kInt8GroupsZero)));
  for (int64_t part = 0; part < groups.perWord / 4; ++part) {
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = sums[rows.size() * vectors + v];
      sum = addProducts(sum, excess, weights[v][part]);
    }
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value factors = vector::BitCastOp::create(b, loc, bytes, loadRow(row, step, 4 * part));
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[i * vectors + v];
        sum = addProducts(sum, factors, weights[v][part]);
      }
    }
  }
}

static bool fits(const ContractionProblem &problem) {
  const std::optional<IntegerGroups> &groups = problem.contraction.integerGroups;
  return groups && groups->areBytes() && problem.int8Dot == Int8Dot::vnni;
}

static bool implements(StringRef path, const Contraction &contraction) {
  return path == kRoundedInt8GroupsPath && contraction.integerGroups && contraction.integerGroups->areBytes();
}

const MicroKernelEntry tenon::kVnniGroups = {
    .name = kernel::MicroKernel::vnni_groups,
    .fits = fits,
    .create = createMicroKernel<VnniGroups>,
    .implements = implements,
};
