//===- TenonBase.td - the tenon dialect, its types and base classes -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_BASE_TD
#define TENON_BASE_TD

include "dialects/tenon/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tenon_Dialect : Dialect {
  let name = "tenon";
  let cppNamespace = "::tenon";
  let summary = "Neural networks as operations on tensor values";
  let description = [{
    Operations work on ranked tensors and have value semantics. *Atomic*
    operations are the small set that everything comes down to; *composite*
    ones carry meaning that atoms lose (a softmax, a normalisation) and each
    has a decomposition into atoms, the pass `tenon-decompose`.

    A dimension is a constant, or an expression over named symbols that the
    tensor type's encoding holds: `tensor<?x3x?xf32, #tenon.shape<N, 3, H * 2>>`.

    Signed integers are `iN`, unsigned ones `uiN`, a boolean is `i1`. Floats of
    eight and four bits, and integers of four and two, are moved and cast, but
    nothing computes on them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // ValueNames.h: names of values in printed IR.
  let hasOperationInterfaceFallback = 1;
  // DiscardableAttributes.h lists the attributes.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Returns the number of the AffineExpr symbols for `name` in this context. Symbols are interned: equal names are
    /// equal symbols everywhere in a context. Thread-safe.
    unsigned internSymbol(::llvm::StringRef name);
    /// The name behind a number that internSymbol gave.
    ::llvm::StringRef getSymbolName(unsigned id);
  private:
    void registerAttributes();
    std::shared_ptr<::tenon::SymbolTable> symbols;
  public:
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tenon_ShapeAttr : AttrDef<Tenon_Dialect, "Shape", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "shape";
  let summary = "A list of integer expressions over named symbols";
  let description = [{
    As a tensor's encoding: its dimensions, constants included, which agree with
    the type's own. As an attribute: starts, pads or values that may depend on
    symbols.

    ```mlir
    #tenon.shape<N, 3, H * 2 + 1, (W + 1) floordiv 2, "unk__7">
    ```

    Expressions are AffineExprs over interned symbols, with products of symbols
    allowed; `floordiv`, `ceildiv` and `mod` round as MLIR's affine expressions do.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::AffineExpr">:$dims);
  let hasCustomAssemblyFormat = 1;
}

class Tenon_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::tenon";
}
class Tenon_EnumAttr<I32Enum e, string mnemonic> : EnumAttr<Tenon_Dialect, e, mnemonic>;

def Tenon_ComparePredicate : Tenon_Enum<"ComparePredicate", "how two elements are compared", [
  I32EnumCase<"eq", 0>, I32EnumCase<"ne", 1>, I32EnumCase<"lt", 2>,
  I32EnumCase<"le", 3>, I32EnumCase<"gt", 4>, I32EnumCase<"ge", 5>]>;
def Tenon_ComparePredicateAttr : Tenon_EnumAttr<Tenon_ComparePredicate, "compare_predicate">;

def Tenon_Rounding : Tenon_Enum<"Rounding", "which neighbour a value between two becomes", [
  I32EnumCase<"nearest", 0>, I32EnumCase<"up", 1>, I32EnumCase<"down", 2>]>;
def Tenon_RoundingAttr : Tenon_EnumAttr<Tenon_Rounding, "rounding">;

def Tenon_ReduceKind : Tenon_Enum<"ReduceKind", "how elements are combined into one", [
  I32EnumCase<"sum", 0>, I32EnumCase<"prod", 1>, I32EnumCase<"max", 2>, I32EnumCase<"min", 3>]>;
def Tenon_ReduceKindAttr : Tenon_EnumAttr<Tenon_ReduceKind, "reduce_kind">;

def Tenon_PoolKind : Tenon_Enum<"PoolKind", "what a pooling window computes", [
  I32EnumCase<"max", 0>, I32EnumCase<"average", 1>, I32EnumCase<"sum", 2>]>;
def Tenon_PoolKindAttr : Tenon_EnumAttr<Tenon_PoolKind, "pool_kind">;

def Tenon_PadMode : Tenon_Enum<"PadMode", "what padding reads", [
  I32EnumCase<"constant", 0>, I32EnumCase<"edge", 1>, I32EnumCase<"reflect", 2>, I32EnumCase<"wrap", 3>]>;
def Tenon_PadModeAttr : Tenon_EnumAttr<Tenon_PadMode, "pad_mode">;

def Tenon_ScatterKind : Tenon_Enum<"ScatterKind", "how an update joins the element that it meets", [
  I32EnumCase<"assign", 0>, I32EnumCase<"add", 1>, I32EnumCase<"mul", 2>,
  I32EnumCase<"max", 3>, I32EnumCase<"min", 4>]>;
def Tenon_ScatterKindAttr : Tenon_EnumAttr<Tenon_ScatterKind, "scatter_kind">;

def Tenon_Role : Tenon_Enum<"Role", "what part of a model's value a tensor is, as plan.fbs's Role calls it", [
  I32EnumCase<"value", 0>, I32EnumCase<"elements", 1>, I32EnumCase<"shapes", 2>,
  I32EnumCase<"has", 3>, I32EnumCase<"bytes", 4>, I32EnumCase<"ends", 5>]>;
def Tenon_RoleAttr : Tenon_EnumAttr<Tenon_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

def Tenon_MachineAttr : AttrDef<Tenon_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "The figures of a processor that differ between targets";
  let description = [{
    What choices know of the processor that a module is compiled for, as its `tenon.machine`. A figure that is 0 or left
    out is not known; `passes/cost/Machine.h` says what is assumed then.

    ```mlir
    #tenon.machine<vector_bytes = 32, vector_registers = 16, l2_bytes = 524288>
    ```

    * `vector_bytes`, `vector_registers`: the size of a vector register, and how many there are.
    * `amx_int8`, `amx_bf16`: 1 for targets with AMX and its products of int8 or bf16.
    * `bf16_pairs`: 1 for targets whose bf16 dot-2 is as fast as an f32 multiply-add.
    * `f16_fma`: 1 for targets with multiply-adds of f16 vectors, which have twice the elements of f32 vectors.
    * `multiply_adds`: throughput of vector multiply-adds per cycle.
    * `l2_bound`: 1 for targets whose vector products of panels wait for L2.
    * `panel_columns`: the number of columns in a panel of f32 weights.
    * `l1_ways`: associativity of L1.
    * `l2_bytes`, `llc_bytes`: sizes of L2 and of the last-level cache.
    * `int8_dot`: how many products of u8 with i8 one instruction sums into a lane of 32 bits: 1, 2 or 4.
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$vector_bytes,
    DefaultValuedParameter<"int64_t", "0">:$vector_registers,
    DefaultValuedParameter<"int64_t", "0">:$amx_int8,
    DefaultValuedParameter<"int64_t", "0">:$amx_bf16,
    DefaultValuedParameter<"int64_t", "0">:$bf16_pairs,
    DefaultValuedParameter<"int64_t", "0">:$f16_fma,
    DefaultValuedParameter<"int64_t", "0">:$multiply_adds,
    DefaultValuedParameter<"int64_t", "0">:$l2_bound,
    DefaultValuedParameter<"int64_t", "0">:$panel_columns,
    DefaultValuedParameter<"int64_t", "0">:$l1_ways,
    DefaultValuedParameter<"int64_t", "0">:$l2_bytes,
    DefaultValuedParameter<"int64_t", "0">:$llc_bytes,
    DefaultValuedParameter<"int64_t", "0">:$int8_dot);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

def Tenon_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Tenon_Int : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Tenon_SmallFloat : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN]>;
def Tenon_SmallInt : AnyTypeOf<[I<2>, I<4>, UI<2>, UI<4>]>;
def Tenon_Index : AnyTypeOf<[I32, I64]>;

def Tenon_AnyTensor : RankedTensorOf<[Tenon_Float, Tenon_Int, Tenon_SmallFloat, Tenon_SmallInt]>;
def Tenon_NumberTensor : RankedTensorOf<[Tenon_Float, Tenon_Int]>;
def Tenon_FloatTensor : RankedTensorOf<[Tenon_Float]>;
def Tenon_IntTensor : RankedTensorOf<[Tenon_Int]>;
def Tenon_IndexTensor : RankedTensorOf<[Tenon_Index]>;
def Tenon_BoolTensor : RankedTensorOf<[I1]>;

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Tenon_Op<string mnemonic, list<Trait> traits = []> :
    Op<Tenon_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An operation whose result type is inferred from its operands and attributes. A more precise type (a constant instead
/// of a symbol) is compatible.
class Tenon_InferredOp<string mnemonic, list<Trait> traits = []> :
    Tenon_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)> {
  code compatible = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::tenon::areCompatible(l, r);
    }
  }];
  let extraClassDeclaration = compatible;
}

#endif // TENON_BASE_TD
