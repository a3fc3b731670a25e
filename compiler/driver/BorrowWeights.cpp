//===- BorrowWeights.cpp - weights that are read where they are -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/BorrowWeights.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tenon;

/// Returns the bytes of a weight that is large enough to become an input.
static ArrayRef<char> getLarge(plan::WeightOp weight) {
  constexpr size_t kLarge = 1 << 16;
  auto resource = dyn_cast<DenseResourceElementsAttr>(weight.getValue());
  ArrayRef<char> bytes = resource ? resource.getRawHandle().getBlob()->getData() : ArrayRef<char>();
  // What lets go of a weight's pages wants a weight.
  bool isReleased = llvm::any_of(weight->getUsers(), [](Operation *user) { return isa<plan::ReleaseOp>(user); });
  return bytes.size() >= kLarge && !isReleased ? bytes : ArrayRef<char>();
}

std::vector<ArrayRef<char>> tenon::borrowWeights(plan::ProgramOp program) {
  std::vector<ArrayRef<char>> borrowed;
  OpBuilder b(program->getContext());
  SmallVector<Attribute> inputs(program.getInputs().begin(), program.getInputs().end());
  llvm::DenseMap<Attribute, int64_t> indexOf;
  for (auto weight : llvm::make_early_inc_range(program.getBody().getOps<plan::WeightOp>())) {
    ArrayRef<char> bytes = getLarge(weight);
    if (bytes.empty())
      continue;
    int64_t size = bytes.size();
    auto [known, isNew] = indexOf.try_emplace(weight.getValue(), inputs.size());
    if (isNew) {
      auto dims = ShapeAttr::get(b.getContext(), Dims{b.getAffineConstantExpr(size)});
      inputs.push_back(
          b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr("weight " + Twine(borrowed.size()))),
                               b.getNamedAttr("type", TypeAttr::get(b.getIntegerType(8, /*isSigned=*/false))),
                               b.getNamedAttr("dims", dims)}));
      borrowed.push_back(bytes);
    }
    b.setInsertionPoint(weight);
    Value bytesOf = arith::ConstantIndexOp::create(b, weight.getLoc(), size);
    auto input = plan::InputOp::create(b, weight.getLoc(), weight.getBuffer().getType(),
                                       b.getI64IntegerAttr(known->second), bytesOf);
    weight.replaceAllUsesWith(input.getBuffer());
    weight.erase();
  }
  program.setInputsAttr(b.getArrayAttr(inputs));
  return borrowed;
}
