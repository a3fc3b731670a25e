//===- FormContractions.cpp - contractions as operations ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/FormContractions.h"
#include "dialects/kernel/ScheduleRequest.h"
#include "dialects/tenon/DiscardableAttributes.h"
#include "passes/Passes.h"
#include "passes/kernel/ContractionMatch.h"
#include "passes/kernel/contract/MicroKernel.h"

namespace tenon {
#define GEN_PASS_DEF_FORMCONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using kernel::ContractionKind;

static ContractionKind getKind(const Contraction &contraction) {
  if (contraction.terms)
    return contraction.terms->areIntegers ? ContractionKind::i8_terms : ContractionKind::bf16_terms;
  if (contraction.integerGroups)
    return ContractionKind::integer_groups;
  if (contraction.dot4Loop)
    return ContractionKind::i8_dot4;
  if (contraction.isDepthwiseInt8)
    return ContractionKind::i8_columnwise;
  if (contraction.isPackedI16)
    return ContractionKind::i16_pairs;
  if (contraction.isPackedBf16)
    return ContractionKind::bf16_pairs;
  if (contraction.dequantization)
    return ContractionKind::dequantized;
  return contraction.isColumnwise ? ContractionKind::columnwise : ContractionKind::product;
}

static kernel::ContractionAttr makeAttribute(MLIRContext *context, const Contraction &contraction) {
  constexpr int64_t kDot4 = 4; // format: of VNNI
  int64_t row = contraction.rowLoop ? int64_t(*contraction.rowLoop) : -1, inner = -1, step = 0;
  if (contraction.terms)
    inner = contraction.terms->loop, step = contraction.terms->step;
  else if (contraction.dot4Loop)
    inner = *contraction.dot4Loop, step = kDot4;
  else if (contraction.integerGroups)
    inner = contraction.integerGroups->loop, step = contraction.integerGroups->perWord;
  int64_t block = contraction.dequantization  ? contraction.dequantization->block
                  : contraction.integerGroups ? contraction.integerGroups->block
                                              : 0;
  return kernel::ContractionAttr::get(context, getKind(contraction), row, contraction.panel, contraction.isGrouped,
                                      contraction.promotesLhs, inner, step, block);
}

/// Returns the schedule that the operation requests, or one with the micro-kernel that its path names; null if it names
/// none.
static kernel::ScheduleAttr makeSchedule(linalg::GenericOp op, const Contraction &contraction) {
  if (auto schedule = op->getAttrOfType<kernel::ScheduleAttr>(kernel::kScheduleAttr))
    return schedule;
  auto path = op->getAttrOfType<StringAttr>(kPathAttr);
  const MicroKernelEntry *entry = path ? findMicroKernelOfPath(path, contraction) : nullptr;
  if (!entry)
    return {};
  kernel::ScheduleFields fields;
  fields.microKernel = entry->name;
  return kernel::ScheduleAttr::get(op.getContext(), fields);
}

/// Names the factors in the body.
static void addSum(kernel::ContractOp op, const Contraction &contraction) {
  SmallVector<Value> lhs{contraction.lhs.element}, rhs{contraction.rhs.element};
  if (contraction.terms) {
    auto getElement = [](const ElementRead &read) { return read.element; };
    lhs = llvm::map_to_vector(contraction.terms->lhs, getElement);
    rhs = llvm::map_to_vector(contraction.terms->rhs, getElement);
  }
  Value number, scale;
  if (contraction.dequantization)
    std::tie(number, scale) = std::pair(contraction.dequantization->number, contraction.dequantization->scale);
  if (contraction.integerGroups) {
    lhs.push_back(contraction.integerGroups->lhsScale.element);
    std::tie(number, scale) = std::pair(contraction.integerGroups->rhsNumber, contraction.integerGroups->rhsScale);
  }
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  OpBuilder b(yield);
  Value sum = yield.getOperand(0);
  yield.setOperand(0, kernel::SumOp::create(b, yield.getLoc(), sum.getType(), sum, lhs, rhs, number, scale));
}

/// True if the result is indexed by loops, and all other loops are summed over.
static bool sumsOverOtherLoops(linalg::GenericOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return result.isProjectedPermutation() && llvm::all_of(llvm::enumerate(op.getIteratorTypesArray()), [&](auto loop) {
           return (loop.value() == utils::IteratorType::parallel) == result.isFunctionOfDim(loop.index());
         });
}

kernel::ContractOp tenon::formContraction(linalg::GenericOp op) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !sumsOverOtherLoops(op))
    return {};
  kernel::ScheduleAttr schedule = makeSchedule(op, *contraction);
  // Other micro-kernels dequantize for sums of one loop.
  bool isOfWindows = contraction->dequantization && op.getNumReductionLoops() > 1;
  if (isOfWindows && (!schedule || schedule.getMicroKernel() != kernel::MicroKernel::f16_fma))
    return {};
  OpBuilder b(op);
  auto contract =
      kernel::ContractOp::create(b, op.getLoc(), op.getResultTypes(), op.getInputs(), op.getOutputs()[0],
                                 makeAttribute(op.getContext(), *contraction), op.getIndexingMaps(), schedule);
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != kPathAttr && attribute.getName() != kernel::kScheduleAttr)
      contract->setDiscardableAttr(attribute.getName(), attribute.getValue());
  contract.getRegion().takeBody(op.getRegion());
  addSum(contract, *contraction);
  op.replaceAllUsesWith(contract);
  op.erase();
  return contract;
}

namespace {
struct FormContractions : public tenon::impl::FormContractionsBase<FormContractions> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) { operations.push_back(op); });
    for (linalg::GenericOp op : operations)
      formContraction(op);
  }
};
} // namespace
