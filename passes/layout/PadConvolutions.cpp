//===- PadConvolutions.cpp - padded copies for convolutions that need them ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/cost/Groups.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-pad-convolutions"

namespace tenon {
#define GEN_PASS_DEF_PADCONVOLUTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// True if the kernel will use register blocks of pixels by filters, which know where the border is. Vectors of pixels,
/// with channels first, have no bounds; any other kernel tests those of each element that it reads, and reads each many
/// times.
static bool readsAroundBorder(ConvolveOp op) {
  auto filter = op.getFilter().getDefiningOp<WeightOp>();
  if (!op.getChannelsLast() || !filter || isa<SplatElementsAttr>(filter.getValue()))
    return false;
  ArrayRef<int64_t> shape = filter.getType().getShape();
  bool isDepthwise =
      shape[op.getFilterChannelDim()] == 1 && shape[op.getFilterDim()] == static_cast<int64_t>(op.getGroups());
  return op.getGroups() == 1 || isDepthwise || getGroupPanel(op);
}

namespace {
struct PadConvolutions : public tenon::impl::PadConvolutionsBase<PadConvolutions> {
  void runOnOperation() override {
    getOperation().walk([](ConvolveOp op) {
      if (hasPadding(op) && !readsAroundBorder(op)) {
        LDBG() << "copies the input of the convolution at " << op.getLoc() << " with its border";
        OpBuilder b(op);
        padWithZeros(b, op);
      }
    });
  }
};
} // namespace
