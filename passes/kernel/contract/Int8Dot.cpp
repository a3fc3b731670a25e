//===- Int8Dot.cpp - sums of products of bytes --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/QuadProducts.h"
#include "passes/kernel/contract/ContractionEmitter.h"

using namespace mlir;
using namespace tenon;

/// Whole quads, then what is left.
SmallVector<Value> ContractionEmitter::emitQuads(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  int64_t depth = *nest.getStaticExtent(loops.front()), whole = depth / 4;
  SmallVector<Value> results(sums);
  if (whole > firstQuad) {
    // Few blocks see a part of a window. Of words there is enough to do in a step, and these would double the code.
    bool isRare = sumsWords && window && borderMode != BorderMode::Interior;
    int64_t steps = (whole - firstQuad) % 2 == 0 && !isRare ? 2 : 1;
    auto loop = scf::ForOp::create(b, loc, nest.constant(firstQuad), nest.constant(whole), nest.constant(steps), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    results.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Value first =
        affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * 4), loop.getInductionVar());
    for (int64_t step = 0; step < steps; ++step) {
      AffineMap place = AffineMap::get(1, 0, (b.getAffineDimExpr(0) + step) * 4);
      nest.moveTo(loops.front(), affine::AffineApplyOp::create(b, loc, place, loop.getInductionVar()));
      if (loops.size() == 1)
        prefetchPanel(loops.front(), {first, step, steps});
      results = emitReduction(loops.drop_front(), rows, results);
    }
    scf::YieldOp::create(b, loc, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (depth % 4 == 0)
    return results;
  nest.moveTo(loops.front(), nest.constant(4 * whole));
  quadBytes = depth % 4;
  results = emitReduction(loops.drop_front(), rows, results);
  quadBytes = 4;
  return results;
}

/// The quad of a row, with zeros for what there is not.
Value ContractionEmitter::loadQuad(int64_t row) {
  Value memory = pixels.empty() ? contraction.lhs.memory : pixels[row];
  SmallVector<Value> indices =
      pixels.empty() ? nest.getIndices(contraction.lhs, row, 0) : SmallVector<Value>{nest.at(window->loop + 1)};
  Value bytes = vector::LoadOp::create(b, loc, VectorType::get({quadBytes}, b.getI8Type()), memory, indices);
  auto quadType = VectorType::get({4}, b.getI8Type());
  if (quadBytes < 4) {
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(quadType));
    bytes = vector::InsertStridedSliceOp::create(b, loc, bytes, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }
  Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, type), bytes);
  return vector::ExtractOp::create(b, loc, word, ArrayRef<int64_t>{0});
}

/// Of a vector of columns. Panels hold zeros beyond the last column, and beyond what is summed.
Value ContractionEmitter::loadQuads(int64_t vector) {
  return vector::LoadOp::create(b, loc, VectorType::get({4 * lanes}, b.getI8Type()), contraction.rhs.memory,
                                nest.getIndices(contraction.rhs, 0, vector * lanes));
}

SmallVector<Value> ContractionEmitter::emitQuadStep(ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<SmallVector<Value>> columns;
  for (int64_t v = 0; v < size.vectors; ++v)
    columns.push_back(splitSigned(b, loc, int8Dot, loadQuads(v)));
  SmallVector<Value> results(sums);
  for (int64_t row : rows) {
    SmallVector<Value> element = splitUnsigned(b, loc, int8Dot, loadQuad(row), lanes);
    for (int64_t v = 0; v < size.vectors; ++v)
      for (auto [factor, column] : llvm::zip(element, columns[v])) {
        Value &sum = results[row * size.vectors + v];
        sum = addProducts(b, loc, int8Dot, sum, factor, column);
      }
  }
  return results;
}
