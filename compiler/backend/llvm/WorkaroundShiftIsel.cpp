//===- WorkaroundShiftIsel.cpp - one form for values that are shifts of each other --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/WorkaroundShiftIsel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// Rewrites `(x >> shift) & mask` as `(x >> more) << less`; null if it does not have this form, or if `x >> more` does
/// not occur elsewhere.
static Value *writeAsTwin(Instruction &masked) {
  constexpr unsigned kMaxScale = 3;
  Value *x;
  const APInt *shift, *mask;
  if (!match(&masked, m_And(m_LShr(m_Value(x), m_APInt(shift)), m_APInt(mask))) || isa<Constant>(x) ||
      !x->getType()->isIntegerTy())
    return nullptr;
  unsigned less = mask->countr_zero();
  uint64_t more = shift->getLimitedValue(mask->getBitWidth()) + less;
  if (less == 0 || less > kMaxScale || more >= mask->getBitWidth())
    return nullptr;
  if (none_of(x->users(), [&](User *user) { return match(user, m_LShr(m_Specific(x), m_SpecificInt(more))); }))
    return nullptr;
  // The mask must keep all bits above its trailing zeros that may be set.
  APInt dropped = ~*mask;
  dropped.clearLowBits(less);
  if (!MaskedValueIsZero(masked.getOperand(0), dropped, SimplifyQuery(masked.getDataLayout(), &masked)))
    return nullptr;
  IRBuilder<> builder(&masked);
  return builder.CreateShl(builder.CreateLShr(x, more), less);
}

bool tenon::workaroundShiftIsel(Function &function) {
  bool isChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (Value *twin = writeAsTwin(instruction)) {
      instruction.replaceAllUsesWith(twin);
      instruction.eraseFromParent();
      isChanged = true;
    }
  return isChanged;
}

namespace {
struct WorkaroundShiftIsel : PassInfoMixin<WorkaroundShiftIsel> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    if (!tenon::workaroundShiftIsel(function))
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};
} // namespace

void tenon::addWorkaroundShiftIsel(PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
    passes.addPass(createModuleToFunctionPassAdaptor(WorkaroundShiftIsel()));
  });
}
