//===- AmxInt8.cpp - int8 dot products in AMX tiles -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "passes/Kernel.h"
#include "passes/kernel/contract/Amx.h"
#include "passes/kernel/contract/Int8Kernel.h"
#include "passes/kernel/contract/MicroKernels.h"
#include "passes/kernel/contract/Reduction.h"

using namespace mlir;
using namespace tenon;

/// Upper bound for the groups of four int8 in a row of an AMX tile.
static constexpr int64_t kMaxDots = 16; // format: of AMX

namespace {
class AmxInt8 : public AmxKernel {
public:
  using AmxKernel::AmxKernel;

private:
  int64_t getStepBytes() override;
  unsigned getStepLoop() override { return *contraction.dot4Loop; }
  bool hasWholeSums() override { return *nest.getStaticExtent(*contraction.dot4Loop) == countSummed(); }
  SmallVector<Value> completeSums(const SumBlock &block, SmallVector<Value> sums) override;
  int64_t countSummed();
  void emitSteps(ArrayRef<Rows> rows, int64_t vectors) override;
  void emitStep(ArrayRef<Rows> rows, int64_t vectors);
};
} // namespace

/// Steps have equal length; each leaves fewer than four int8 to the remainder.
int64_t AmxInt8::getStepBytes() {
  int64_t dots = *nest.getStaticExtent(*contraction.dot4Loop) / 4;
  assert(dots > 0 && "fewer than four int8 have no step");
  return dots / llvm::divideCeil(dots, kMaxDots) * 4;
}

/// The elements of each sum that the steps multiply.
int64_t AmxInt8::countSummed() {
  int64_t step = getStepBytes();
  return *nest.getStaticExtent(*contraction.dot4Loop) / step * step;
}

/// Creates the vector micro-kernel for the remainder: the one that fits if no schedule names any.
static std::unique_ptr<Int8Kernel> createRemainder(const EmitterParts &parts) {
  ContractionProblem problem = parts.problem;
  problem.schedule = kernel::ScheduleAttr::get(problem.op.getContext(), kernel::ScheduleFields());
  const MicroKernelEntry *entry = selectMicroKernels(problem).front();
  assert(entry->name != kernel::MicroKernel::amx_i8 && "the remainder of AMX tiles is summed in vectors");
  // All vector micro-kernels for int8 with VNNI packing are Int8Kernels.
  return std::unique_ptr<Int8Kernel>(static_cast<Int8Kernel *>(entry->create(parts).release()));
}

SmallVector<Value> AmxInt8::completeSums(const SumBlock &block, SmallVector<Value> sums) {
  int64_t summed = countSummed();
  if (hasWholeSums())
    return sums;
  std::unique_ptr<Int8Kernel> remainder = createRemainder(parts);
  remainder->skipGroups(summed / 4);
  return Reduction(parts, *remainder).emitAll(block, sums);
}

void AmxInt8::emitSteps(ArrayRef<Rows> rows, int64_t vectors) {
  unsigned loop = *contraction.dot4Loop;
  nest.forLoop(nest.constant(0), nest.constant(countSummed() / 4), getStepBytes() / 4, [&](Value dot) {
    nest.moveTo(loop, affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) * 4), dot));
    emitStep(rows, vectors);
  });
}

void AmxInt8::emitStep(ArrayRef<Rows> rows, int64_t vectors) {
  Value panelRow = nest.constant(contraction.panel * 4), rowBytes = getRowBytes(contraction.lhs);
  auto load = [&](int64_t tile, const ElementRead &read, int64_t column, Value bytes) {
    move("tileloadd64", tile, read.memory, nest.getIndices(read, 0, column), bytes);
  };
  auto loadLhs = [&](int64_t i) {
    nest.moveTo(*contraction.rowLoop, rows[i].first);
    load(kFirstLhs + i, contraction.lhs, 0, rowBytes);
  };
  multiplyTiles("tdpbusd", int64_t(rows.size()), vectors, loadLhs,
                [&](int64_t v) { load(kFirstRhs + v, contraction.rhs, v * kColumns, panelRow); });
}

/// AMX tiles only sum whole windows. The schedule names the micro-kernel if the path does.
static bool fits(const ContractionProblem &problem) {
  constexpr int64_t kPanel = 32, kLanes = 16; // format: of panels of int8, and of AMX tiles
  const Contraction &contraction = problem.contraction;
  bool hasBorder = problem.window && problem.window->hasBounds;
  if (problem.schedule.getMicroKernel() != kernel::MicroKernel::amx_i8 || hasBorder || !contraction.dot4Loop ||
      contraction.panel != kPanel || problem.lanes != kLanes || !problem.isFromZero || !contraction.rowLoop ||
      *contraction.dot4Loop + 1 != contraction.columnLoop)
    return false;
  kernel::ContractOp op = problem.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t depth = extents[*contraction.dot4Loop], columns = extents[contraction.columnLoop];
  return !ShapedType::isDynamic(depth) && depth >= 4 && !ShapedType::isDynamic(columns) &&
         hasConstantRowStride(contraction);
}

static bool implements(StringRef path, const Contraction &) { return path == kAmxInt8Path; }

const MicroKernelEntry tenon::kAmxInt8 = {
    .name = kernel::MicroKernel::amx_i8,
    .fits = fits,
    .create = createMicroKernel<AmxInt8>,
    .implements = implements,
    .rowStep = 32,
};
