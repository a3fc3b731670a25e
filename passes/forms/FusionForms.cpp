//===- FusionForms.cpp - results in memory, or computed where they are read -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Producer-consumer fusion is a form of the graph that `tenon-fuse` sees: producers are marked whose results it is to
// treat otherwise than its rules say. The first form is that of the rules. Fusing a producer with a loop nest never
// loses by the estimate, which does not know how well the nest's vectors suit what it reads or computes besides: runs
// tell.
//
//===----------------------------------------------------------------------===//

#include "passes/Kernel.h"
#include "passes/cost/FusionCost.h"
#include "passes/forms/FormSource.h"
#include "passes/fusion/FusionChoices.h"
#include "passes/paths/FormNames.h"
#include "passes/paths/PathTimes.h"

using namespace mlir;
using namespace tenon;

namespace {
/// Choices of some kinds, with the form of the rules first, and a mark for the other one. The first operation of a site
/// is the producer; loop nests follow that read it, because it stands before these in vain if another form replaces
/// them. Its consumers are the neighbours.
class FusionForms : public FormSource {
public:
  /// What is fused depends on paths, and on reshapes that stand where kernels begin and end.
  bool isLate() const override { return true; }
  bool replacesOperations() const override { return false; }
  std::vector<FormSite> listSites(func::FuncOp function) const override;
  double estimateRest(const FormSite &site, size_t form, const Machine &machine) const override;
  SmallVector<Operation *> take(const FormSite &site, size_t form, RewriterBase &) const override;

protected:
  virtual bool hasKind(FusionChoiceKind kind) const = 0;
  virtual StringRef getMark() const = 0;
  virtual bool isMaterialized(size_t form) const = 0;

private:
  FusionPolicy policy;
};

/// A prologue or a loop nest in the kernel of its consumers, or in its own.
class ProducerForms : public FusionForms {
public:
  StringRef getName() const override { return "producer"; }
  ArrayRef<StringLiteral> getForms() const override {
    static constexpr StringLiteral kForms[] = {kFusedProducerForm, kMaterializedProducerForm};
    return kForms;
  }

protected:
  bool hasKind(FusionChoiceKind kind) const override { return kind != FusionChoiceKind::shared; }
  StringRef getMark() const override { return kMaterializedAttr; }
  bool isMaterialized(size_t form) const override { return form == 1; }
};

/// A result that several kernels read: stored once, or recomputed in each of them.
class SharedResultForms : public FusionForms {
public:
  StringRef getName() const override { return "shared result"; }
  ArrayRef<StringLiteral> getForms() const override {
    static constexpr StringLiteral kForms[] = {kStoredOnceForm, kRecomputedForm};
    return kForms;
  }

protected:
  bool hasKind(FusionChoiceKind kind) const override { return kind == FusionChoiceKind::shared; }
  StringRef getMark() const override { return kRecomputedAttr; }
  bool isMaterialized(size_t form) const override { return form == 0; }
};
} // namespace

static double getElementBytes(Value value) {
  constexpr int64_t kIndexBits = 64; // format: of sizes in memory
  Type type = getElementTypeOrSelf(value);
  return llvm::divideCeil(type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : kIndexBits, 8);
}

/// The bytes of a tensor; none where the extents are not known.
static double getBytes(Value value) {
  std::optional<int64_t> elements = getConstant(getElementCount(value.getContext(), getDims(value)));
  return elements.value_or(0) * getElementBytes(value);
}

std::vector<FormSite> FusionForms::listSites(func::FuncOp function) const {
  std::vector<FormSite> sites;
  function.walk([&](Block *block) {
    // The body of attention is computed in its kernel.
    if (isa<AttentionOp>(block->getParentOp()))
      return;
    for (FusionChoice &choice : listFusionChoices(*block, policy)) {
      if (!hasKind(choice.kind))
        continue;
      FormSite &site = sites.emplace_back();
      site.operations.push_back(choice.producer);
      llvm::copy_if(choice.consumers, std::back_inserter(site.operations), llvm::IsaPred<LoopNestOpInterface>);
      llvm::raw_string_ostream os(site.region);
      os << getName() << ' ' << PathRegion::get(choice.producer).text;
      for (Operation *op : choice.consumers)
        os << "; " << PathRegion::get(op).text;
      site.neighbours = std::move(choice.consumers);
    }
  });
  return sites;
}

/// A consumer's kernel, as far as it depends on how the producer is computed: a loop nest's cycles are those of its
/// path.
static Consumer getConsumer(Operation *producer, Operation *op, const Machine &machine, const FusionPolicy &policy) {
  double reads = countReads(producer, op);
  if (isa<LoopNestOpInterface>(op))
    return {reads, {0, 0}};
  double bytes = getElementBytes(op->getResult(0));
  return {reads, {reads * bytes / machine.vectorBytes * getVectorCycles(op, policy), reads * bytes}};
}

double FusionForms::estimateRest(const FormSite &site, size_t form, const Machine &machine) const {
  Operation *op = site.operations.front();
  Value result = op->getResult(0);
  Producer producer{getBytes(result) / getElementBytes(result), getElementBytes(result), 0, 0};
  SmallVector<Consumer> kernels;
  if (isa<LoopNestOpInterface>(op)) {
    // The arithmetic of the loop nest is that of its path. All operations of the epilogue are in one kernel.
    double arithmetic = 0;
    for (Operation *consumer : site.neighbours)
      arithmetic += getConsumer(op, consumer, machine, policy).work.cycles;
    kernels.push_back({producer.elements, {arithmetic, getBytes(site.neighbours.back()->getResult(0))}});
  } else {
    // To load a vector that is stored is an instruction, too.
    producer.vectorCycles = std::max(getVectorCycles(op, policy) - policy.instructionVectorCycles, 0.0);
    for (Value operand : op->getOperands())
      producer.operandBytes += getBytes(operand);
    for (Operation *consumer : site.neighbours)
      kernels.push_back(getConsumer(op, consumer, machine, policy));
  }
  return isMaterialized(form) ? getMaterializedCycles(producer, kernels, machine)
                              : getRecomputedCycles(producer, kernels, machine);
}

SmallVector<Operation *> FusionForms::take(const FormSite &site, size_t form, RewriterBase &) const {
  assert(form == 1 && "the other form is the graph as it stands");
  Operation *producer = site.operations.front();
  producer->setAttr(getMark(), UnitAttr::get(producer->getContext()));
  return SmallVector<Operation *>(site.operations);
}

std::unique_ptr<FormSource> tenon::createProducerForms() { return std::make_unique<ProducerForms>(); }
std::unique_ptr<FormSource> tenon::createSharedResultForms() { return std::make_unique<SharedResultForms>(); }
