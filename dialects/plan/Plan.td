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
  // Names of values in printed IR (ValueNames.h of the tenon dialect).
  let hasOperationInterfaceFallback = 1;
  let extraClassDeclaration = "void registerTypes();";
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a buffer, whose address is known once sizes are bound";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_ProgramOp : Plan_Op<"program", [Symbol, SingleBlock, NoTerminator, IsolatedFromAbove]> {
  let summary = "the instructions of one program";
  let description = [{
    The block has one index argument for each of `symbols`. `inputs` and
    `outputs` are dictionaries with `name`, `type` (the element type), `dims`, and
    `role` where they are a part of what has the name. `ranges` holds symbols to
    values, as `array<i64: smallest, largest>` by name; `sizes` is the text of the
    sizes that this program is a copy for; `scratch` is how many bytes a thread needs
    for the kernels that are launched.

    ```mlir
    plan.program @main symbols ["N"] inputs [{name = "x", type = f32, dims = #tenon.shape<N, 4>} ] outputs [] {
    ^bb0(%N: index):
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$symbols, DictArrayAttr:$inputs, DictArrayAttr:$outputs,
                       OptionalAttr<DictionaryAttr>:$ranges, OptionalAttr<StrAttr>:$sizes, OptionalAttr<I64Attr>:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `symbols` $symbols `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

class Plan_BufferOp<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Plan_BufferType:$buffer);
}

def Plan_InputOp : Plan_BufferOp<"input", [HasParent<"ProgramOp">]> {
  let summary = "the memory of a graph input";
  let arguments = (ins I64Attr:$index, Index:$size);
  let assemblyFormat = "$index `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_OutputOp : Plan_BufferOp<"output", [HasParent<"ProgramOp">]> {
  let summary = "the memory of a graph output";
  let arguments = (ins I64Attr:$index, Index:$size);
  let assemblyFormat = "$index `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_WeightOp : Plan_BufferOp<"weight"> {
  let summary = "constant bytes in the artifact";
  let arguments = (ins ElementsAttr:$value, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$value attr-dict";
  let hasVerifier = 1;
}

def Plan_StateOp : Plan_Op<"state", [HasParent<"ProgramOp">]> {
  let summary = "memory that a session keeps from run to run";
  let description = [{
    Its rows are along the first dimension of `type`. The state gives the program's symbol number `live` the number of
    rows that are live when a run begins, and after the run `next` of them are. Where there is a `ring`, that symbol is
    the row to write to, `live` the number of rows that outlive the run, and `next` the number of rows that it writes. A
    program has the states of its model in the same order as any other program of it, once for each `sequence` of a run.

    ```mlir
    plan.program @main symbols ["past"] inputs [] outputs [] {
    ^bb0(%past: index):
      %0 = plan.state "keys" : tensor<512x8x64xf32> live 0 next %past
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, TypeAttr:$type, OptionalAttr<I64Attr>:$live, OptionalAttr<I64Attr>:$ring,
                       Optional<Index>:$next, OptionalAttr<ElementsAttr>:$initial,
                       DefaultValuedOptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$sequence);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = [{
    $name `:` $type (`live` $live^)? (`ring` $ring^)? (`next` $next^)? (`sequence` $sequence^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "an activation without an offset in the arena";
  let description = [{
    Lives from the first to the last instruction that uses it. `plan-assign-offsets`
    replaces it by a view of the arena, or where data decides how large it is by a
    block of its own, which is made large enough here. `bound` is what the size never
    exceeds, where that is known before the run and the size is not.
  }];
  let arguments = (ins Index:$size, Optional<Index>:$bound, OptionalAttr<StrAttr>:$name);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$size (`at_most` $bound^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_ArenaOp : Plan_BufferOp<"arena", [HasParent<"ProgramOp">]> {
  let summary = "the arena, which holds all activations";
  let arguments = (ins Index:$size);
  let assemblyFormat = "$size attr-dict";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_BufferOp<"view", [AttrSizedOperandSegments]> {
  let summary = "an activation's part of the arena";
  let description = [{
    Where data decides `offset` or `size`, it lies somewhere in the `room` bytes from
    `start` on, which are known before the run.
  }];
  let arguments = (ins Plan_BufferType:$arena, Index:$offset, Index:$size, Optional<Index>:$start,
                       Optional<Index>:$room, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$arena `[` $offset `]` `size` $size (`in` $start^ `room` $room)? attr-dict";
  let hasVerifier = 1;
}

def Plan_HeapOp : Plan_BufferOp<"heap"> {
  let summary = "a buffer in a heap block of its own";
  let description = "As large as the last `plan.reserve` of that block has made it.";
  let arguments = (ins I64Attr:$block, Index:$offset, Index:$size, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$block `[` $offset `]` `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_AliasOp : Plan_BufferOp<"alias"> {
  let summary = "a view of another buffer at an offset";
  let description = [{
    With `name`, an activation of its own that was sub-allocated in an idle range of `source`: the name is the
    activation's, and empty where it has none.
  }];
  let arguments = (ins Plan_BufferType:$source, Index:$offset, Index:$size, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$source `[` $offset `]` `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_RequireOp : Plan_Op<"require", [HasParent<"ProgramOp">]> {
  let summary = "refuse sizes for which a value is negative";
  let description = "`text` says what the sizes would break. It is checked when sizes are bound, before anything runs.";
  let arguments = (ins Index:$value, StrAttr:$text);
  let assemblyFormat = "$value $text attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "run a kernel over its tiles";
  let description = [{
    The kernel's buffers are `inputs`, then `outputs`. With `beside` it does not wait
    for the launch right before it: the launches from the last one without are a group,
    in which none writes what another one uses.

    ```mlir
    plan.launch @k0_relu(%0) -> (%1) sizes(%N) tiles %t {name = "relu1"}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$inputs,
                       Variadic<Plan_BufferType>:$outputs, Variadic<Index>:$sizes, Index:$tiles, StrAttr:$name,
                       UnitAttr:$beside);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `->` `(` $outputs `)` `sizes` `(` $sizes `)` `tiles` $tiles attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_HostCallOp : Plan_Op<"host_call", [AttrSizedOperandSegments]> {
  let summary = "call an operator of a plug-in";
  let description = [{
    As `tenon.host_call`. `sizes` are the extents of the inputs, one after the other, and then those of the outputs, unless it
    infers them; `input_types` and `result_types` say the element type and the rank of each.
  }];
  let arguments = (ins StrAttr:$plugin, StrAttr:$domain, StrAttr:$callee, Variadic<Plan_BufferType>:$inputs,
                       Variadic<Plan_BufferType>:$outputs, Variadic<Index>:$sizes, DictionaryAttr:$parameters,
                       DenseBoolArrayAttr:$present, TypeArrayAttr:$input_types, TypeArrayAttr:$result_types, UnitAttr:$infers,
                       StrAttr:$name);
  let assemblyFormat = [{
    $plugin $domain $callee `(` $inputs `)` `->` `(` $outputs `)` `sizes` `(` $sizes `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_BindOp : Plan_Op<"bind"> {
  let summary = "read a symbol's value from memory";
  let description = [{
    The integer of 64 bits at `position` becomes the value of the program's symbol
    number `symbol`; one below `min` ends the run.
  }];
  let arguments = (ins Plan_BufferType:$buffer, I64Attr:$position, I64Attr:$symbol, I64Attr:$min, StrAttr:$name);
  let assemblyFormat = "$symbol `=` $buffer `[` $position `]` `min` $min attr-dict";
  let hasVerifier = 1;
}

def Plan_SetOp : Plan_Op<"set"> {
  let summary = "give a symbol the value of an expression";
  let arguments = (ins I64Attr:$symbol, Index:$value, StrAttr:$name);
  let assemblyFormat = "$symbol `=` $value attr-dict";
  let hasVerifier = 1;
}

def Plan_ReserveOp : Plan_Op<"reserve"> {
  let summary = "allocate or enlarge a heap buffer";
  let description = "What it holds stays where `keep` is set, and is lost otherwise.";
  let arguments = (ins Plan_BufferType:$buffer, Index:$size, BoolAttr:$keep, StrAttr:$name);
  let assemblyFormat = "$buffer `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "end the run where a value is negative";
  let description = "As `plan.require`, but at this place: the value depends on symbols that instructions bind.";
  let arguments = (ins Index:$value, StrAttr:$text, StrAttr:$name);
  let assemblyFormat = "$value $text attr-dict";
  let hasVerifier = 1;
}

def Plan_IfOp : Plan_Op<"if", [SingleBlock, NoTerminator]> {
  let summary = "execute one of two blocks of instructions";
  let arguments = (ins Plan_BufferType:$condition, StrAttr:$name);
  let regions = (region SizedRegion<1>:$thenBody, SizedRegion<1>:$elseBody);
  let assemblyFormat = "$condition $thenBody `else` $elseBody attr-dict";
  let hasRegionVerifier = 1;
}

def Plan_LoopOp : Plan_Op<"loop", [SingleBlock, NoTerminator]> {
  let summary = "repeat instructions while a condition byte is not zero";
  let arguments = (ins Plan_BufferType:$condition, StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$condition $body attr-dict";
  let hasRegionVerifier = 1;
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "copy bytes between buffers that do not overlap";
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$target, Index:$size, StrAttr:$name);
  let assemblyFormat = "$source `to` $target `size` $size attr-dict";
  let hasVerifier = 1;
}

def Plan_ReleaseOp : Plan_Op<"release"> {
  let summary = "release the pages of a weight until its next use";
  let arguments = (ins Plan_BufferType:$weight, StrAttr:$name);
  let assemblyFormat = "$weight attr-dict";
  let hasVerifier = 1;
}

def Plan_RunSeedOp : Plan_Op<"run_seed"> {
  let summary = "write the next seed of this run, a 64-bit integer";
  let arguments = (ins Plan_BufferType:$target, StrAttr:$name);
  let assemblyFormat = "$target attr-dict";
  let hasVerifier = 1;
}

#endif // TENON_PLAN_TD
