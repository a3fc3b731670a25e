//===- MathToCalls.cpp - lower math operations to instructions or calls ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/Unsupported.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tenon {
#define GEN_PASS_DEF_MATHTOCALLS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;

/// Returns the C function of a math operation, without the suffix for f32; empty if there is an instruction.
static StringRef getFunctionName(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AcosOp>([](auto) { return "acos"; })
      .Case<math::AcoshOp>([](auto) { return "acosh"; })
      .Case<math::AsinOp>([](auto) { return "asin"; })
      .Case<math::AsinhOp>([](auto) { return "asinh"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::AtanhOp>([](auto) { return "atanh"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<arith::RemFOp>([](auto) { return "fmod"; })
      .Default([](Operation *) { return ""; });
}

/// True if an operation of the arith dialect is lowered here. LLVM only recognizes a maximum reduction by its
/// intrinsic, not by the comparisons that arith would be expanded to.
static bool isArithmeticToLower(Operation *op) { return isa<arith::RemFOp, arith::MaximumFOp, arith::MinimumFOp>(op); }

/// Keeps the flags that are valid for calls: no NaNs, and no signed zeros.
static LLVM::FastmathFlags getFlags(arith::FastMathFlags flags) {
  auto result = LLVM::FastmathFlags::none;
  if (bitEnumContainsAll(flags, arith::FastMathFlags::nnan))
    result = result | LLVM::FastmathFlags::nnan;
  if (bitEnumContainsAll(flags, arith::FastMathFlags::nsz))
    result = result | LLVM::FastmathFlags::nsz;
  return result;
}

static Value emitIntrinsic(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Value x = op->getOperand(0);
  return TypeSwitch<Operation *, Value>(op)
      .Case<math::AbsFOp>([&](auto) -> Value { return LLVM::FAbsOp::create(b, loc, type, x); })
      .Case<math::AbsIOp>([&](auto) -> Value { return LLVM::AbsOp::create(b, loc, type, x, false); })
      .Case<math::CeilOp>([&](auto) -> Value { return LLVM::FCeilOp::create(b, loc, type, x); })
      .Case<math::FloorOp>([&](auto) -> Value { return LLVM::FFloorOp::create(b, loc, type, x); })
      .Case<math::RoundEvenOp>([&](auto) -> Value { return LLVM::RoundEvenOp::create(b, loc, type, x); })
      .Case<math::SqrtOp>([&](auto) -> Value { return LLVM::SqrtOp::create(b, loc, type, x); })
      .Case<math::FmaOp>(
          [&](auto) -> Value { return LLVM::FMAOp::create(b, loc, type, x, op->getOperand(1), op->getOperand(2)); })
      .Case<arith::MaximumFOp>([&](auto max) -> Value {
        return LLVM::MaximumOp::create(b, loc, type, x, op->getOperand(1), getFlags(max.getFastmath()));
      })
      .Case<arith::MinimumFOp>([&](auto min) -> Value {
        return LLVM::MinimumOp::create(b, loc, type, x, op->getOperand(1), getFlags(min.getFastmath()));
      })
      .Default([](Operation *) { return Value(); });
}

namespace {
struct MathToCalls : public tenon::impl::MathToCallsBase<MathToCalls> {
  using MathToCallsBase::MathToCallsBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult result = module.walk([&](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) && !isArithmeticToLower(op))
        return WalkResult::advance();
      OpBuilder builder(op);
      Value replacement;
      // A function of our own library, of f32 alone.
      bool isNormal = op->hasAttr(tenon::kNormalAttr) && prefix.empty() && op->getResult(0).getType().isF32();
      if (StringRef name = isNormal ? "expnormal" : getFunctionName(op); !name.empty())
        replacement = emitCall(builder, op, name);
      else
        replacement = emitIntrinsic(builder, op);
      if (!replacement) {
        tenon::emitUnsupported(op, "has neither an instruction nor a function on this target");
        return WalkResult::interrupt();
      }
      op->getResult(0).replaceAllUsesWith(replacement);
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  Value emitCall(OpBuilder &b, Operation *op, StringRef name) {
    Type type = op->getResult(0).getType();
    if (!type.isF32() && !type.isF64())
      return {};
    std::string symbol = prefix + name.str() + (type.isF32() ? "f" : "");
    ModuleOp module = getOperation();
    if (!module.lookupSymbol(symbol)) {
      OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
      auto function =
          func::FuncOp::create(atStart, op->getLoc(), symbol, b.getFunctionType(op->getOperandTypes(), type));
      function.setPrivate();
      // Without these attributes LLVM could neither vectorize nor eliminate a call.
      function->setAttr("llvm.readnone", b.getUnitAttr());
      function->setAttr("llvm.willreturn", b.getUnitAttr());
    }
    return func::CallOp::create(b, op->getLoc(), symbol, type, op->getOperands()).getResult(0);
  }
};
} // namespace
