//===- Plan.td - the plan dialect -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#ifndef TENON_PLAN_TD
#define TENON_PLAN_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::tenon::plan";
  let summary = "The flat instruction list of a compiled model, as IR";
  let description = [{
    A program is what an artifact holds: buffers, and instructions that are
    executed in the order in which they stand. Bytes, offsets and tile counts
    are index arithmetic (the arith dialect) on the program's symbols; the
    artifact keeps it as expressions that are evaluated once for each new set of
    sizes.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypes();";
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "bytes at a place that is known once sizes are bound";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "all that a run of the model does";
  let description = [{
    The block has one index argument for each of `symbols`. `inputs` and
    `outputs` are dictionaries with `name`, `type` (the element type) and `dims`.

    ```mlir
    plan.program @main symbols ["N"] inputs [{name = "x", type = f32, dims = #tenon.shape<N, 4>} ] outputs [] {
    ^bb0(%N: index):
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$symbols, DictArrayAttr:$inputs, DictArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `symbols` $symbols `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
}

class Plan_BufferOp<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Plan_BufferType:$buffer);
}

def Plan_InputOp : Plan_BufferOp<"input"> {
  let summary = "the memory of a graph input";
  let arguments = (ins I64Attr:$index, Index:$size);
  let assemblyFormat = "$index `size` $size attr-dict";
}

def Plan_OutputOp : Plan_BufferOp<"output"> {
  let summary = "the memory of a graph output";
  let arguments = (ins I64Attr:$index, Index:$size);
  let assemblyFormat = "$index `size` $size attr-dict";
}

def Plan_WeightOp : Plan_BufferOp<"weight"> {
  let summary = "constant bytes in the artifact";
  let arguments = (ins ElementsAttr:$value, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$value attr-dict";
}

def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "an activation that has no place yet";
  let description = "Lives from the first to the last instruction that uses it. `plan-assign-offsets` replaces it by a view.";
  let arguments = (ins Index:$size, OptionalAttr<StrAttr>:$name);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$size attr-dict";
}

def Plan_ArenaOp : Plan_BufferOp<"arena"> {
  let summary = "the memory of all activations";
  let arguments = (ins Index:$size);
  let assemblyFormat = "$size attr-dict";
}

def Plan_ViewOp : Plan_BufferOp<"view"> {
  let summary = "an activation's part of the arena";
  let arguments = (ins Plan_BufferType:$arena, Index:$offset, Index:$size, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$arena `[` $offset `]` `size` $size attr-dict";
}

def Plan_RequireOp : Plan_Op<"require"> {
  let summary = "refuse sizes for which a value is negative";
  let description = "`text` says what the sizes would break. It is checked when sizes are bound, before anything runs.";
  let arguments = (ins Index:$value, StrAttr:$text);
  let assemblyFormat = "$value $text attr-dict";
}

def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "run a kernel over its tiles";
  let description = [{
    The kernel's buffers are `inputs`, then `outputs`.

    ```mlir
    plan.launch @k0_relu(%0) -> (%1) sizes(%N) tiles %t {name = "relu1"}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$inputs,
                       Variadic<Plan_BufferType>:$outputs, Variadic<Index>:$sizes, Index:$tiles, StrAttr:$name);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `->` `(` $outputs `)` `sizes` `(` $sizes `)` `tiles` $tiles attr-dict
  }];
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "copy bytes between buffers that do not overlap";
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$target, Index:$size, StrAttr:$name);
  let assemblyFormat = "$source `to` $target `size` $size attr-dict";
}

#endif // TENON_PLAN_TD
