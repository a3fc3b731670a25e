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

namespace {
/// Turns large weights of all programs into inputs, which programs have in the same order.
class Borrower {
public:
  void borrow(plan::ProgramOp program);
  /// Gives a program the inputs, those that it does not read included.
  void addInputs(plan::ProgramOp program) const;

  std::vector<ArrayRef<char>> borrowed;

private:
  llvm::DenseMap<Attribute, int64_t> numbers; ///< of weights in `borrowed`
};
} // namespace

void Borrower::borrow(plan::ProgramOp program) {
  OpBuilder b(program->getContext());
  int64_t numOwn = program.getInputs().size();
  for (auto weight : llvm::make_early_inc_range(program.getBody().getOps<plan::WeightOp>())) {
    ArrayRef<char> bytes = getLarge(weight);
    if (bytes.empty())
      continue;
    auto [known, isNew] = numbers.try_emplace(weight.getValue(), borrowed.size());
    if (isNew)
      borrowed.push_back(bytes);
    b.setInsertionPoint(weight);
    Value bytesOf = arith::ConstantIndexOp::create(b, weight.getLoc(), bytes.size());
    auto input = plan::InputOp::create(b, weight.getLoc(), weight.getBuffer().getType(),
                                       b.getI64IntegerAttr(numOwn + known->second), bytesOf);
    weight.replaceAllUsesWith(input.getBuffer());
    weight.erase();
  }
}

void Borrower::addInputs(plan::ProgramOp program) const {
  Builder b(program->getContext());
  SmallVector<Attribute> inputs(program.getInputs().begin(), program.getInputs().end());
  for (auto [i, bytes] : llvm::enumerate(borrowed)) {
    auto dims = ShapeAttr::get(b.getContext(), Dims{b.getAffineConstantExpr(bytes.size())});
    inputs.push_back(
        b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr("weight " + Twine(i))),
                             b.getNamedAttr("type", TypeAttr::get(b.getIntegerType(8, /*isSigned=*/false))),
                             b.getNamedAttr("dims", dims)}));
  }
  program.setInputsAttr(b.getArrayAttr(inputs));
}

std::vector<ArrayRef<char>> tenon::borrowWeights(ModuleOp module) {
  Borrower borrower;
  for (auto program : module.getOps<plan::ProgramOp>())
    borrower.borrow(program);
  for (auto program : module.getOps<plan::ProgramOp>())
    borrower.addInputs(program);
  return std::move(borrower.borrowed);
}
