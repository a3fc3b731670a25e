//===- ContractionEmitter.cpp - the loops of a contraction ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ContractionEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/kernel/contract/MicroKernel.h"

using namespace mlir;
using namespace tenon;

bool tenon::canEmitContraction(const ContractionProblem &problem) { return !selectMicroKernels(problem).empty(); }

/// Emits the first of `kernels` for tiles of at most its number of rows, and the others for larger tiles. If the number
/// of rows is dynamic, both versions are emitted.
static void emitVersions(const EmitterParts &parts, ArrayRef<const MicroKernelEntry *> kernels) {
  LoopBuilder &nest = parts.nest;
  OpBuilder &b = nest.b;
  const MicroKernelEntry &first = *kernels.front();
  std::optional<int64_t> maxRows = first.getMaxRows ? first.getMaxRows(parts.problem) : std::nullopt;
  if (kernels.size() == 1 || !maxRows)
    return first.create(parts)->emit();
  std::optional<unsigned> rowLoop = parts.problem.contraction.rowLoop;
  Value rows = rowLoop ? nest.getExtent(*rowLoop) : nest.constant(1);
  if (std::optional<int64_t> known = getConstantIntValue(rows))
    return *known <= *maxRows ? first.create(parts)->emit() : emitVersions(parts, kernels.drop_front());
  // All tiles have few rows, the last one even fewer.
  if (std::optional<int64_t> bound = getUpperBound(rows); bound && *bound <= *maxRows)
    return first.create(parts)->emit();
  Value isFew = arith::CmpIOp::create(b, nest.loc, arith::CmpIPredicate::ule, rows, nest.constant(*maxRows));
  auto branch = scf::IfOp::create(b, nest.loc, isFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  first.create(parts)->emit();
  b.setInsertionPointToStart(branch.elseBlock());
  emitVersions(parts, kernels.drop_front());
}

void tenon::emitContraction(const ContractionProblem &problem) {
  SmallVector<const MicroKernelEntry *> kernels = selectMicroKernels(problem);
  assert(!kernels.empty() && "a contraction without a micro-kernel stays as it is");
  LoopBuilder nest(problem.op, problem.contraction);
  ResultWriter results(nest, problem);
  nest.emitExtents(problem.op);
  Operands operands(nest, problem);
  KBlocking kBlocking(nest, problem);
  Border border(nest, problem, operands, kBlocking);
  RowLoops rowLoops(nest, problem, border, results.mayRepeatRows());
  ColumnLoops columnLoops(nest, problem);
  Prefetch prefetch(nest, problem, operands, kBlocking, rowLoops);
  emitVersions({nest, problem, operands, kBlocking, border, rowLoops, columnLoops, prefetch, results}, kernels);
  results.eraseEpilogue();
}
