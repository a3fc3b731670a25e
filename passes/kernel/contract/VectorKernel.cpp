//===- VectorKernel.cpp - micro-kernels that sum in vector registers ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/VectorKernel.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/contract/BlockLoops.h"

using namespace mlir;
using namespace tenon;

void VectorKernel::emit() { BlockLoops(parts, *this).emit(); }

SmallVector<Value> VectorKernel::emitLoops(Reduction &, ArrayRef<unsigned>, const SumBlock &, ArrayRef<int64_t>,
                                           ValueRange) {
  llvm_unreachable("a micro-kernel that emits loops says how");
}

SmallVector<Value> VectorKernel::emitStep(const SumBlock &, ArrayRef<int64_t>, ValueRange) {
  llvm_unreachable("a micro-kernel that leaves the innermost loop to Reduction emits its steps");
}

SmallVector<Value> BroadcastKernel::emitStep(const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<Value> results(sums);
  auto loadColumns = [&](int64_t v) { return parts.operands.loadColumns(v, block); };
  auto loadRow = [&](int64_t row) -> Value {
    Value element = parts.operands.loadElement(row, block.rows);
    return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element.getType()), element);
  };
  auto add = [&](int64_t row, int64_t v, Value element, Value columns) {
    Value &sum = results[row * block.vectors + v];
    sum = multiplyAdd(sum, element, columns);
  };
  // If the registers cannot hold all vectors of a step, they hold the elements of its rows (RegisterBlock).
  if ((block.rows + 1) * block.vectors >= problem.registers) {
    SmallVector<Value> elements = llvm::map_to_vector(rows, loadRow);
    for (int64_t v = 0; v < block.vectors; ++v) {
      Value columns = loadColumns(v);
      for (auto [row, element] : llvm::zip_equal(rows, elements))
        add(row, v, element, columns);
    }
    return results;
  }
  SmallVector<Value> columns = llvm::map_to_vector(llvm::seq(block.vectors), loadColumns);
  for (int64_t row : rows) {
    Value element = loadRow(row);
    for (int64_t v = 0; v < block.vectors; ++v)
      add(row, v, element, columns[v]);
  }
  return results;
}
