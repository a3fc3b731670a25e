//===- Composite.td - operations that have a decomposition --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each carries a meaning that its atoms lose. The decomposition is stated as a
// formula, is written by `decompose` in CompositeOps.cpp, and is what happens to
// an operation that no kernel takes whole.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPOSITE_TD
#define TENON_COMPOSITE_TD

include "dialects/tenon/Elementwise.td"
include "dialects/tenon/TenonBase.td"

/// Rows are read several times and written once, and are never split between tiles: the result may overwrite the input,
/// and elementwise operations may follow in place.
class Tenon_NormalizationOp<string mnemonic, list<Trait> traits = []> :
    Tenon_InferredOp<mnemonic, !listconcat([Tenon_LoopNest, DeclareOpInterfaceMethods<Tenon_Composite>], traits)> {
  let extraClassDeclaration = compatible # [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::recomputable; }
    mlir::AffineExpr countFlops() { return ::tenon::getElementCount(getInput()); }
    bool allowsEpilogue() { return true; }
    bool canOverwriteOperand(unsigned operand) { return operand == 0; }
  }];
}

def Tenon_SigmoidOp : Tenon_UnaryOp<"sigmoid", Tenon_FloatTensor, "1 / (1 + exp(-x))", [DeclareOpInterfaceMethods<Tenon_Composite>]>;
def Tenon_ReluOp : Tenon_UnaryOp<"relu", Tenon_NumberTensor, "max(x, 0)", [DeclareOpInterfaceMethods<Tenon_Composite>, Tenon_CheapArithmetic]>;

def Tenon_GeluOp : Tenon_ElementwiseOp<"gelu", [DeclareOpInterfaceMethods<Tenon_Composite>]> {
  let summary = "the Gaussian error linear unit";
  let description = [{
    `x / 2 * (1 + erf(x / sqrt(2)))`, or where `tanh` is set
    `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.

    ```mlir
    %1 = tenon.gelu %0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "false">:$tanh);
  let results = (outs Tenon_FloatTensor:$result);
}

def Tenon_SoftmaxOp : Tenon_NormalizationOp<"softmax"> {
  let summary = "exponentials along a dimension, divided by their sum";
  let description = [{
    `e / sum(e)` with `e = exp(x - max(x))` along `axis`; where `log` is set its
    logarithm, `x - max(x) - log(sum(e))`.

    ```mlir
    %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$log);
  let results = (outs Tenon_FloatTensor:$result);
  let hasVerifier = 1;
}

def Tenon_LayerNormOp : Tenon_NormalizationOp<"layer_norm", [DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "shifts and scales the last dimensions to mean 0 and variance 1";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, over dimensions
    `axis` and after; statistics are computed in f32 at least. `bias` may be
    left out. scale and bias broadcast to the input.

    ```mlir
    %1 = tenon.layer_norm %0, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_FloatTensor:$scale, Optional<Tenon_FloatTensor>:$bias,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Tenon_FloatTensor:$result);
  let hasVerifier = 1;
}

def Tenon_RmsNormOp : Tenon_NormalizationOp<"rms_norm", [DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "scales the last dimensions to a mean square of 1";
  let description = [{
    `x / sqrt(mean(x^2) + epsilon) * scale`, over dimensions `axis` and after.

    ```mlir
    %1 = tenon.rms_norm %0, %s {axis = 1 : i64, epsilon = 1.0e-6 : f64} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_FloatTensor:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Tenon_FloatTensor:$result);
  let hasVerifier = 1;
}

def Tenon_BatchNormOp : Tenon_InferredOp<"batch_norm", [DeclareOpInterfaceMethods<Tenon_Composite>]> {
  let summary = "shifts and scales each channel by given statistics";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, the four operands
    having one element for each channel, which is dimension 1 of the input.

    ```mlir
    %1 = tenon.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64}
      : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$input, Tenon_FloatTensor:$scale, Tenon_FloatTensor:$bias,
                       Tenon_FloatTensor:$mean, Tenon_FloatTensor:$variance, F64Attr:$epsilon);
  let results = (outs Tenon_FloatTensor:$result);
  let hasVerifier = 1;
}

def Tenon_DequantizeOp : Tenon_InferredOp<"dequantize", [DeclareOpInterfaceMethods<Tenon_Composite>, Tenon_ElementAccess, Tenon_Recomputable]> {
  let summary = "dequantizes integers by scales and zero points";
  let description = [{
    `(x - zero) * scale`, in f32 at least. `scale` and `zero`, which may be left out, have the input's
    dimensions, or 1 along some; along `axis` each of their elements is that of `block` neighbours, the
    last of which may be fewer. The result has the scale's type unless `result_type` says otherwise.

    A matrix of a product or an embedding stays so until a kernel reads it: `tenon-fold-constants` leaves
    it alone.

    ```mlir
    %2 = tenon.dequantize %0, %1 {axis = 0 : i64, block = 32 : i64} : (tensor<70x8xi8>, tensor<3x8xf32>) -> tensor<70x8xf32>
    %6 = tenon.dequantize %3, %4, %5 {axis = 1 : i64, block = 16 : i64, result_type = f32}
      : (tensor<8x32xui4>, tensor<8x2xf16>, tensor<8x2xui4>) -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, Tenon_FloatTensor:$scale, Optional<Tenon_AnyTensor>:$zero,
                       I64Attr:$axis, I64Attr:$block, OptionalAttr<TypeAttr>:$result_type);
  let results = (outs Tenon_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // TENON_COMPOSITE_TD
