//===- OptBisect.cpp - optional steps of a compilation, counted -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/OptBisect.h"
#include "compiler/errors/CompileError.h"
#include "dialects/tenon/ValueNames.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "passes/paths/PathAction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

llvm::Expected<StepLimit> StepLimit::parse(llvm::StringRef text) {
  StepLimit limit;
  auto [steps, parts] = text.split('.');
  bool hasParts = text.contains('.');
  uint64_t count = 0;
  if (steps.getAsInteger(10, limit.steps) || (hasParts && parts.getAsInteger(10, count)))
    return makeError(CompileStatus::misuse, "expected a number of steps, or STEP.PART, got '" + text + "'");
  if (hasParts)
    limit.parts = count;
  return limit;
}

std::string StepLimit::toString() const { return std::to_string(steps) + (parts ? "." + std::to_string(*parts) : ""); }

bool tenon::isOptionalPass(llvm::StringRef argument, Operation *op) {
  // Tiles and buffers of kernels rely on these.
  if (argument == "canonicalize" || argument == "cse")
    return isa<FunctionOpInterface>(op);
  // The optional passes. All others establish what later passes rely on, verify it, or, like the packing of weights,
  // complete the work of an earlier pass.
  static constexpr llvm::StringLiteral kOptional[] = {"tenon-choose-forms",
                                                      "tenon-choose-layouts",
                                                      "tenon-choose-paths",
                                                      "tenon-flatten-batch-dims",
                                                      "tenon-fuse-attention",
                                                      "tenon-hoist-reshapes",
                                                      "tenon-in-place-operands",
                                                      "tenon-keep-weights-quantized",
                                                      "tenon-lower-quantized-matmuls",
                                                      "tenon-lower-to-lookup-tables",
                                                      "tenon-order-launches",
                                                      "tenon-pad-convolutions",
                                                      "tenon-promote-accumulators",
                                                      "tenon-prove-indices",
                                                      "tenon-simplify",
                                                      "tenon-split-loops",
                                                      "tenon-transpose-masks",
                                                      "tenon-transpose-matmul-operands",
                                                      "tenon-vectorize-contractions",
                                                      "tenon-vectorize-transposes"};
  return llvm::is_contained(kOptional, argument);
}

OptBisect::OptBisect(MLIRContext &context, StepLimit limit, llvm::raw_ostream &os)
    : context(context), limit(limit), os(os) {
  assert(!context.isMultithreadingEnabled() && "steps have an order");
  context.registerActionHandler(
      [this](llvm::function_ref<void()> run, const tracing::Action &action) { handle(run, action); });
}

OptBisect::~OptBisect() { context.registerActionHandler(nullptr); }

/// Describes a step, such as "tenon-simplify on main" or "cse on k0_contract": by the kernel of a module, or by the
/// function.
static std::string describeStep(const PassExecutionAction &action) {
  std::string name = action.getPass().getArgument().str();
  auto symbol = action.getOp()->getAttrOfType<StringAttr>(mlir::SymbolTable::getSymbolAttrName());
  return symbol ? name + " on " + symbol.str() : name;
}

/// Describes the nodes of an operation: "'fc0'", "'fc0' and 'act0'".
static std::string describeNodes(Operation *op) {
  std::string text;
  for (StringRef name : listNodes(op->getLoc()))
    text += (text.empty() ? "'" : " and '") + name.str() + "'";
  return text;
}

/// "path fixed16 of tenon.contract at 'fc0'"
static std::string describePart(const tracing::Action &action) {
  std::string text;
  llvm::raw_string_ostream os(text);
  action.print(os);
  // MLIR's text ends with the qualified name of the pattern's class.
  if (isa<ApplyPatternAction>(action)) {
    StringRef name = StringRef(text).rtrim("`> ");
    text = "pattern " + name.substr(name.find_last_of(": ") + 1).str();
  }
  for (IRUnit unit : action.getContextIRUnits())
    if (auto *op = dyn_cast<Operation *>(unit)) {
      std::string nodes = describeNodes(op);
      os << " of " << op->getName() << (nodes.empty() ? "" : " at ") << nodes;
    }
  return text;
}

void OptBisect::handleStep(llvm::function_ref<void()> run, const std::string &name) {
  ++steps;
  bool isLast = steps == limit.steps && limit.parts;
  bool isTaken = steps <= limit.steps;
  os << "bisect: " << (isTaken ? "running" : "NOT running") << " (" << steps << ") " << name << '\n';
  isPartial = isLast;
  if (isTaken)
    run();
  isPartial = false;
}

void OptBisect::handle(llvm::function_ref<void()> run, const tracing::Action &action) {
  if (isa<OptimizeCodeAction>(action))
    return handleStep(run, describePart(action));
  const auto *pass = dyn_cast<PassExecutionAction>(&action);
  // A pass that only contains others is an adaptor; an unnamed action within a pass is not a step.
  bool isAdaptor = pass && pass->getPass().getArgument().empty();
  if (!isActive || isAdaptor || (pass && depth > 0))
    return run();
  if (pass) {
    ++depth;
    auto leave = llvm::make_scope_exit([&] { --depth; });
    if (isOptionalPass(pass->getPass().getArgument(), pass->getOp()))
      handleStep(run, describeStep(*pass));
    else
      run();
    return;
  }
  if (!isPartial || !isa<ApplyPatternAction, PathAction>(action))
    return run();
  ++parts;
  bool isTaken = parts <= *limit.parts;
  os << "bisect: " << (isTaken ? "running" : "NOT running") << " (" << steps << '.' << parts << ") "
     << describePart(action) << '\n';
  if (isTaken)
    run();
}
