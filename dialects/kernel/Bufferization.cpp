//===- Bufferization.cpp - the kernel dialect's operations on buffers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tenon::kernel;

namespace {
struct ContractModel : public DstBufferizableOpInterfaceExternalModel<ContractModel, ContractOp> {
  /// An operand that is only there for its extents is not read.
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
  /// All elements of the destination are written, none is read.
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
    WinogradOp::create(rewriter, op->getLoc(), TypeRange(), *input, *filter, *init, winograd.getOffsets(),
                       winograd.getLow(), winograd.getOutputs(), winograd.getWindow(), winograd.getTile());
    replaceOpWithBufferizedValues(rewriter, op, *init);
    return success();
  }
};
} // namespace

void tenon::kernel::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KernelDialect *) {
    ContractOp::attachInterface<ContractModel>(*context);
    WinogradOp::attachInterface<WinogradModel>(*context);
  });
}
