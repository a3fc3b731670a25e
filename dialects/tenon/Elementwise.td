//===- Elementwise.td - operations on one element of each operand -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_ELEMENTWISE_TD
#define TENON_ELEMENTWISE_TD

include "dialects/tenon/TenonBase.td"

/// `infer` is the function that infers the result's type from the operands.
class Tenon_ElementwiseOp<string mnemonic, list<Trait> traits = [], string infer = "::tenon::inferElementwise"> :
    Tenon_InferredOp<mnemonic, !listconcat([Tenon_Elementwise], traits)> {
  let extraClassDefinition = !if(!empty(infer), "", [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location,
                                                      Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return }] # infer # [{(location, adaptor.getOperands(), types);
    }
  }]);
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

class Tenon_UnaryOp<string mnemonic, Type tensor, string what, list<Trait> traits = []> :
    Tenon_ElementwiseOp<mnemonic, traits> {
  let summary = what # ", for each element";
  let description = "Computes `y = " # what # "` for each element. The result has the operand's type.";
  let arguments = (ins tensor:$input);
  let results = (outs tensor:$result);
}

def Tenon_AbsOp : Tenon_UnaryOp<"abs", Tenon_NumberTensor, "|x|", [Tenon_CheapArithmetic]>;
def Tenon_NegOp : Tenon_UnaryOp<"neg", Tenon_NumberTensor, "-x", [Tenon_CheapArithmetic]>;
def Tenon_SignOp :
    Tenon_UnaryOp<"sign", Tenon_NumberTensor, "-1, 0 or 1 as x is negative, zero or positive (NaN stays NaN)", [Tenon_Discontinuous]>;
def Tenon_CeilOp :
    Tenon_UnaryOp<"ceil", Tenon_FloatTensor, "the smallest integer not below x", [Tenon_SingleInstruction, Tenon_Discontinuous]>;
def Tenon_FloorOp :
    Tenon_UnaryOp<"floor", Tenon_FloatTensor, "the largest integer not above x", [Tenon_SingleInstruction, Tenon_Discontinuous]>;
def Tenon_RoundOp :
    Tenon_UnaryOp<"round", Tenon_FloatTensor, "the nearest integer, the even one of two", [Tenon_SingleInstruction, Tenon_Discontinuous]>;
def Tenon_SqrtOp : Tenon_UnaryOp<"sqrt", Tenon_FloatTensor, "the square root of x">;
def Tenon_RsqrtOp : Tenon_UnaryOp<"rsqrt", Tenon_FloatTensor, "1 / sqrt(x)">;
def Tenon_ReciprocalOp : Tenon_UnaryOp<"reciprocal", Tenon_FloatTensor, "1 / x">;
def Tenon_ExpOp : Tenon_UnaryOp<"exp", Tenon_FloatTensor, "e to the power of x">;
def Tenon_LogOp : Tenon_UnaryOp<"log", Tenon_FloatTensor, "the natural logarithm of x">;
def Tenon_Log1pOp : Tenon_UnaryOp<"log1p", Tenon_FloatTensor, "the natural logarithm of 1 + x">;
def Tenon_SinOp : Tenon_UnaryOp<"sin", Tenon_FloatTensor, "sin(x)">;
def Tenon_CosOp : Tenon_UnaryOp<"cos", Tenon_FloatTensor, "cos(x)">;
def Tenon_TanOp : Tenon_UnaryOp<"tan", Tenon_FloatTensor, "tan(x)">;
def Tenon_AsinOp : Tenon_UnaryOp<"asin", Tenon_FloatTensor, "asin(x)">;
def Tenon_AcosOp : Tenon_UnaryOp<"acos", Tenon_FloatTensor, "acos(x)">;
def Tenon_AtanOp : Tenon_UnaryOp<"atan", Tenon_FloatTensor, "atan(x)">;
def Tenon_SinhOp : Tenon_UnaryOp<"sinh", Tenon_FloatTensor, "sinh(x)">;
def Tenon_CoshOp : Tenon_UnaryOp<"cosh", Tenon_FloatTensor, "cosh(x)">;
def Tenon_TanhOp : Tenon_UnaryOp<"tanh", Tenon_FloatTensor, "tanh(x)">;
def Tenon_AsinhOp : Tenon_UnaryOp<"asinh", Tenon_FloatTensor, "asinh(x)">;
def Tenon_AcoshOp : Tenon_UnaryOp<"acosh", Tenon_FloatTensor, "acosh(x)">;
def Tenon_AtanhOp : Tenon_UnaryOp<"atanh", Tenon_FloatTensor, "atanh(x)">;
def Tenon_ErfOp : Tenon_UnaryOp<"erf", Tenon_FloatTensor, "the error function of x">;
def Tenon_NotOp :
    Tenon_UnaryOp<"not", Tenon_IntTensor, "all bits of x flipped; the logical not of a boolean", [Tenon_CheapArithmetic, Tenon_BitwiseLogic]>;

class Tenon_TestOp<string mnemonic, string what> : Tenon_ElementwiseOp<mnemonic, [], "::tenon::inferPredicate"> {
  let summary = "whether " # what # ", for each element";
  let description = "The result is a boolean tensor of the operand's shape.";
  let arguments = (ins Tenon_FloatTensor:$input);
  let results = (outs Tenon_BoolTensor:$result);
}
def Tenon_IsNaNOp : Tenon_TestOp<"isnan", "x is not a number">;
def Tenon_IsInfOp : Tenon_TestOp<"isinf", "x is plus or minus infinity">;

def Tenon_CastOp : Tenon_Op<"cast", [Tenon_Elementwise, Tenon_CheapArithmetic]> {
  let summary = "converts each element to another type";
  let description = [{
    - float to float rounds to nearest even. Out of range, infinity included, gives infinity, or NaN where
      the type has none. Where `saturate` is set, which matters for floats of eight bits alone, it gives the
      largest finite value of that sign. `f4E2M1FN`, which has neither, always saturates, and makes NaN zero.
    - to `f8E8M0FNU`, whose values are the powers of two from 2^-127 to 2^127, `rounding` says which of its
      two neighbours a value becomes; of two as near the larger one. What lies out of range, 0 included,
      saturates or is NaN; what is negative is NaN.
    - float to integer truncates towards zero; NaN and values out of range give an unspecified integer.
    - integer to float rounds to nearest even; integer to integer keeps the low bits.
    - anything to boolean is `x != 0`; a boolean is 0 or 1.

    ```mlir
    %1 = tenon.cast %0 : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       DefaultValuedAttr<Tenon_RoundingAttr, "::tenon::Rounding::nearest">:$rounding);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tenon_BitcastOp : Tenon_Op<"bitcast", [Tenon_Elementwise, Tenon_FixedElementTypes]> {
  let summary = "takes the bits of each element for those of another type";
  let description = [{
    Both types have the same number of bits. A boolean counts as eight, 0 or 1, and is true where any is set.

    ```mlir
    %1 = tenon.bitcast %0 : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Tenon_AnyTensor:$input);
  let results = (outs Tenon_AnyTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

class Tenon_BinaryOp<string mnemonic, Type tensor, string what, list<Trait> traits = []> :
    Tenon_ElementwiseOp<mnemonic, traits> {
  let summary = what # ", for each pair of elements";
  string element = !if(!eq(tensor, Tenon_IntTensor), "i32", "f32");
  let description = "Both operands have one element type, which the result has too; shapes broadcast as in numpy.\n\n```mlir\n%2 = tenon."
    # mnemonic # " %0, %1 : (tensor<2x3x" # element # ">, tensor<3x" # element # ">) -> tensor<2x3x" # element # ">\n```";
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
}

def Tenon_AddOp :
    Tenon_BinaryOp<"add", Tenon_NumberTensor, "x + y", [Commutative, Tenon_CheapArithmetic]> { let hasFolder = 1; }
def Tenon_SubOp : Tenon_BinaryOp<"sub", Tenon_NumberTensor, "x - y", [Tenon_CheapArithmetic]> { let hasFolder = 1; }
def Tenon_MulOp :
    Tenon_BinaryOp<"mul", Tenon_NumberTensor, "x * y", [Commutative, Tenon_CheapArithmetic]> { let hasFolder = 1; }
def Tenon_DivOp : Tenon_BinaryOp<"div", Tenon_NumberTensor, "x / y; integers truncate towards zero"> { let hasFolder = 1; }
def Tenon_RemOp : Tenon_BinaryOp<"rem", Tenon_NumberTensor, "the remainder of x / y with the sign of x, as C's fmod">;
def Tenon_ModOp : Tenon_BinaryOp<"mod", Tenon_NumberTensor, "the remainder of x / y with the sign of y, as Python's %">;
def Tenon_PowOp : Tenon_BinaryOp<"pow", Tenon_NumberTensor, "x to the power of y">;
def Tenon_MaxOp :
    Tenon_BinaryOp<"max", Tenon_NumberTensor, "the larger of x and y; NaN where either is", [Commutative, Tenon_CheapArithmetic]>;
def Tenon_MinOp :
    Tenon_BinaryOp<"min", Tenon_NumberTensor, "the smaller of x and y; NaN where either is", [Commutative, Tenon_CheapArithmetic]>;
def Tenon_AndOp :
    Tenon_BinaryOp<"and", Tenon_IntTensor, "x and y, bit by bit", [Commutative, Tenon_CheapArithmetic, Tenon_BitwiseLogic]>;
def Tenon_OrOp :
    Tenon_BinaryOp<"or", Tenon_IntTensor, "x or y, bit by bit", [Commutative, Tenon_CheapArithmetic, Tenon_BitwiseLogic]>;
def Tenon_XorOp :
    Tenon_BinaryOp<"xor", Tenon_IntTensor, "x exclusive-or y, bit by bit", [Commutative, Tenon_CheapArithmetic, Tenon_BitwiseLogic]>;
def Tenon_ShiftLeftOp : Tenon_BinaryOp<"shl", Tenon_IntTensor, "x shifted left by y bits; 0 where y is not below the width">;
def Tenon_ShiftRightOp : Tenon_BinaryOp<"shr", Tenon_IntTensor, "x shifted right by y bits; copies of its sign, or 0, where y is not below the width">;

def Tenon_CompareOp : Tenon_ElementwiseOp<"compare", [Tenon_CheapArithmetic], "::tenon::inferPredicate"> {
  let summary = "compares each pair of elements";
  let description = [{
    The result is boolean. A comparison with NaN is false, but for `ne`, which is true.

    ```mlir
    %2 = tenon.compare lt, %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Tenon_ComparePredicateAttr:$predicate, Tenon_NumberTensor:$lhs, Tenon_NumberTensor:$rhs);
  let results = (outs Tenon_BoolTensor:$result);
  let assemblyFormat = "`` $predicate `,` operands attr-dict `:` functional-type(operands, results)";
}

def Tenon_SelectOp : Tenon_ElementwiseOp<"select", [Tenon_CheapArithmetic], ""> {
  let summary = "takes x where the condition is true, else y";
  let description = [{
    The three shapes broadcast against each other.

    ```mlir
    %3 = tenon.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Tenon_BoolTensor:$condition, Tenon_AnyTensor:$lhs, Tenon_AnyTensor:$rhs);
  let results = (outs Tenon_AnyTensor:$result);
}

#endif // TENON_ELEMENTWISE_TD
