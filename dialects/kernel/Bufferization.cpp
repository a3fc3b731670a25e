//===- Bufferization.cpp - the kernel dialect's operations on buffers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tenon::kernel;

namespace {
struct ContractModel : public DstBufferizableOpInterfaceExternalModel<ContractModel, ContractOp> {
  /// An operand that only provides extents is not read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return cast<linalg::LinalgOp>(op).payloadUsesValueFromOperand(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer =
          isa<TensorType>(operand.getType()) ? getBuffer(rewriter, operand, options, state) : FailureOr<Value>(operand);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    Operation *onBuffers = cloneWithoutRegions(rewriter, op, /*newResultTypes=*/TypeRange(), buffers);
    rewriter.inlineRegionBefore(op->getRegion(0), onBuffers->getRegion(0), onBuffers->getRegion(0).begin());
    replaceOpWithBufferizedValues(rewriter, op, buffers.back());
    return success();
  }
};

struct WinogradModel : public DstBufferizableOpInterfaceExternalModel<WinogradModel, WinogradOp> {
  /// All elements of the destination are written, and none is read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !cast<WinogradOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto winograd = cast<WinogradOp>(op);
    FailureOr<Value> input = getBuffer(rewriter, winograd.getInput(), options, state);
    FailureOr<Value> filter = getBuffer(rewriter, winograd.getFilter(), options, state);
    FailureOr<Value> init = getBuffer(rewriter, winograd.getInit(), options, state);
    if (failed(input) || failed(filter) || failed(init))
      return failure();
    auto onBuffers =
        WinogradOp::create(rewriter, op->getLoc(), TypeRange(), *input, *filter, *init, winograd.getOffsets(),
                           winograd.getLow(), winograd.getOutputs(), winograd.getWindow(), winograd.getTile());
    onBuffers->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op, *init);
    return success();
  }
};

struct PrefetchModel : public BufferizableOpInterface::ExternalModel<PrefetchModel, PrefetchOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return true; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, const AnalysisState &) const { return {}; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    constexpr int64_t kLineBits = 64 * 8; // format: cache lines of all targets
    auto prefetch = cast<PrefetchOp>(op);
    FailureOr<Value> rows = getBuffer(rewriter, prefetch.getRows(), options, state);
    if (failed(rows))
      return failure();
    Location loc = op->getLoc();
    auto type = cast<RankedTensorType>(prefetch.getRows().getType());
    auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
    auto loop = scf::ForOp::create(rewriter, loc, index(0), index(type.getDimSize(0)), index(1));
    rewriter.setInsertionPointToStart(loop.getBody());
    int64_t step = kLineBits / type.getElementTypeBitWidth();
    for (int64_t column = 0; column < type.getDimSize(1); column += step)
      memref::PrefetchOp::create(rewriter, loc, *rows, ValueRange{loop.getInductionVar(), index(column)},
                                 /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void tenon::kernel::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KernelDialect *) {
    ContractOp::attachInterface<ContractModel>(*context);
    WinogradOp::attachInterface<WinogradModel>(*context);
    PrefetchOp::attachInterface<PrefetchModel>(*context);
  });
}
