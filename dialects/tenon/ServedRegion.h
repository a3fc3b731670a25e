//===- ServedRegion.h - operations that another one's path needs ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_SERVEDREGION_H
#define TENON_DIALECTS_TENON_SERVEDREGION_H

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// A listener that marks inserted operations with the region whose path needs them: a cast, a transpose, or a padded
/// copy. Their time counts as part of the path's. Without a region it marks nothing.
class ServedRegionMarker : public mlir::RewriterBase::Listener {
public:
  explicit ServedRegionMarker(mlir::StringAttr region = {}) : region(region) {}
  void setRegion(mlir::StringAttr served) { region = served; }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override {
    if (region && !previous.isSet() && !mlir::isa<WeightOp>(op))
      op->setAttr(kServedRegionAttr, region);
  }

private:
  mlir::StringAttr region;
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_SERVEDREGION_H
