//===- KernelAttrs.td - attributes of the kernel dialect ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_KERNEL_ATTRS_TD
#define TENON_KERNEL_ATTRS_TD

include "dialects/kernel/KernelBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Kernel_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tenon::kernel";
  let genSpecializedAttr = 0;
}

def Kernel_MicroKernel : Kernel_Enum<"MicroKernel", "instructions that a contraction multiplies with", [
  I32EnumAttrCase<"automatic", 0>, I32EnumAttrCase<"fma", 1>, I32EnumAttrCase<"fma_columnwise", 2>,
  I32EnumAttrCase<"dequantize_fma", 3>, I32EnumAttrCase<"dequantize_panel", 4>, I32EnumAttrCase<"i16_dot", 5>,
  I32EnumAttrCase<"i8_mul", 6>, I32EnumAttrCase<"pmaddwd", 7>, I32EnumAttrCase<"pmaddwd_panel", 8>,
  I32EnumAttrCase<"pmaddubsw", 9>, I32EnumAttrCase<"vnni", 10>, I32EnumAttrCase<"bf16_dot", 11>,
  I32EnumAttrCase<"amx_i8", 12>, I32EnumAttrCase<"amx_bf16", 13>, I32EnumAttrCase<"vnni_groups", 14>,
  I32EnumAttrCase<"bf16_pairs", 15>, I32EnumAttrCase<"f16_fma", 16>,
  I32EnumAttrCase<"vnni_i16_groups", 17>, I32EnumAttrCase<"amx_bf16_pairs", 18>,
  I32EnumAttrCase<"strassen_fma", 19>, I32EnumAttrCase<"amx_i8_terms", 20>]>;

def Kernel_Packing : Kernel_Enum<"Packing", "how a tile's part of the LHS is packed to scratch", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"rows", 1>, I32EnumAttrCase<"tile", 2>,
  I32EnumAttrCase<"split", 3>]>;

def Kernel_ContractionKind : Kernel_Enum<"ContractionKind", "what a step of a contraction multiplies", [
  I32EnumAttrCase<"product", 0>, I32EnumAttrCase<"columnwise", 1>, I32EnumAttrCase<"dequantized", 2>,
  I32EnumAttrCase<"bf16_terms", 3>, I32EnumAttrCase<"i8_dot4", 4>, I32EnumAttrCase<"i8_columnwise", 5>,
  I32EnumAttrCase<"i16_pairs", 6>, I32EnumAttrCase<"integer_groups", 7>, I32EnumAttrCase<"bf16_pairs", 8>,
  I32EnumAttrCase<"i8_terms", 9>]>;

def Kernel_PartMode : Kernel_Enum<"PartMode", "which tiles of a part a thread computes in a call of the merged kernel", [
  I32EnumAttrCase<"tiles", 0>, I32EnumAttrCase<"along", 1>, I32EnumAttrCase<"whole", 2>]>;

def Kernel_ContractionAttr : AttrDef<Kernel_Dialect, "Contraction"> {
  let mnemonic = "contraction";
  let summary = "how a contraction reads its operands";
  let description = [{
    The loops and the layouts that the code of a `kernel.contract` is chosen by. Its columns are the last loop, along which
    the RHS is read in vectors. `tenon-form-contractions` finds these once, and tiling keeps them.

    ```mlir
    #kernel.contraction<kind = i8_dot4, row = 0, panel = 32, inner = 1, step = 4>
    ```

    * `kind`: `product` multiplies an element of the LHS with vectors of the RHS, `columnwise` vectors with vectors (each
      column has a sum of its own, as in a depthwise convolution). `dequantized` has an RHS of fewer bits, which the body makes
      factors of. `bf16_terms` and `i8_terms` sum the products of such terms of f32 factors. `i8_dot4` multiplies u8 with i8, of which
      four neighbours along `inner` are stored together, and `i8_columnwise` does so in each column, with sums that f32 holds
      exactly; elements of `i16_pairs` are two i16, and those of `bf16_pairs` two bf16, whose products are added. In `integer_groups` both factors are integers
      of up to 16 bits with a scale for each group of neighbours along `inner`: products of a group are summed as integers.
    * `row`: the parallel loop that one index of the LHS alone depends on, of several the one that is known to be long; -1: none.
    * `panel`: columns of a panel of the RHS; 0: it has none.
    * `grouped`: each panel has elements of the LHS of its own.
    * `promotes`: the LHS is f16 or bf16, and the factors are f32.
    * `inner`, `step`: the summed loop of which `step` neighbours are stored together, in `i8_dot4`, `bf16_terms`, `i8_terms` and
      `integer_groups` (in an i32 of the RHS).
    * `block`: neighbours along the summed loop that have one scale, in `dequantized` and, of both factors, in `integer_groups`.
  }];
  let parameters = (ins
    "::tenon::kernel::ContractionKind":$kind,
    DefaultValuedParameter<"int64_t", "-1">:$row,
    DefaultValuedParameter<"int64_t", "0">:$panel,
    DefaultValuedParameter<"bool", "false">:$grouped,
    DefaultValuedParameter<"bool", "false">:$promotes,
    DefaultValuedParameter<"int64_t", "-1">:$inner,
    DefaultValuedParameter<"int64_t", "0">:$step,
    DefaultValuedParameter<"int64_t", "0">:$block);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Kernel_ScheduleAttr : AttrDef<Kernel_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a contraction is computed";
  let description = [{
    The choices that `tenon-tile-kernels` makes for a contraction M x N x K, as `schedule` of its `kernel.contract`. Without
    the attribute, each parameter has its default. Records of kernels without a contraction name them by a schedule, too,
    whose `tile` are elements in each dimension of the result.

    ```mlir
    #kernel.schedule<tile = [66, 4096, 64], packing = rows, last_rows = 65>
    ```

    * `micro_kernel`: the instructions that multiply and add, each name a file in `passes/kernel/contract`. `automatic` is
      the first one that fits the operands and the target, which also takes the place of a named one that does not fit.
      `fma` are multiply-adds of floating-point vectors with one element of the LHS, `fma_columnwise` of vectors with
      vectors; `dequantize_fma` and `dequantize_panel` those of a weight that is stored in fewer bits; `i16_dot` sums two
      products of i16, `i8_mul`, `pmaddwd`, `pmaddwd_panel` and `vnni` one, two or four of i8, and `pmaddubsw` two whose
      sum is known to fit 16 bits; `vnni_groups` and `vnni_i16_groups` sum four of i8 and two
      of i16 in groups that have scales; `bf16_dot` is vdpbf16ps,
      `bf16_pairs` the same for factors that are stored in pairs; `f16_fma` sums short blocks of products in f16;
      `amx_i8`, `amx_bf16`, `amx_bf16_pairs` and `amx_i8_terms` are AMX tiles, of bf16 stored in pairs, too, and of terms of i8; `strassen_fma` computes seven
      products of halves by `fma` in place of eight. Only a schedule chooses `pmaddubsw`, `bf16_dot`, `f16_fma`, `amx_i8`,
      `amx_bf16_pairs` and `strassen_fma`.
    * `tile`: the largest number of iterations of each loop in a tile; `?` where that has no bound. Empty: not known.
    * `packing`: `rows` copies the rows of the LHS of a tile side by side, `tile` copies all elements of the LHS that a tile
      reads, in a wider type or column block by column block, and `split` makes bf16 terms of the rows.
    * `last_rows`: M is static and no multiple of the tile's rows: the last tile has so many.
    * `row_versions`: M is dynamic and may be small: each number of rows up to this one has code of its own.
    * `many_rows`: M is dynamic and never small: register blocks of one height waste little.
    * `k_block`: steps of the sum that are done before the next K-block of any row, of `strassen_fma` steps of a half. 0: as many as the
      emitter's policy says, which is the whole sum for bf16 terms; as many as the sum has, or more: the whole sum at once.
    * `prefetch`: elements of K from the beginning of this contraction's first panel to the panel that is read after its last
      one; 0: not known. That panel is prefetched with the last products.
    * `prefetches`: false: no panel is prefetched.
    * `block`: rows and vectors of a register block, where registers have room for it and a tile has so many rows. Empty: as
      the cost model says.
    * `unroll`: steps of the innermost summed loop in an iteration; 0: as many as the emitter's policy says.
    * `vector_bits`: bits of the vectors, fewer than those of the target; 0: as many as the target has.
    * `columns_slowest`: tiles that follow each other have the same columns, and not the same rows.
  }];
  let parameters = (ins
    DefaultValuedParameter<"::tenon::kernel::MicroKernel", "::tenon::kernel::MicroKernel::automatic">:$micro_kernel,
    OptionalArrayRefParameter<"int64_t">:$tile,
    DefaultValuedParameter<"::tenon::kernel::Packing", "::tenon::kernel::Packing::none">:$packing,
    DefaultValuedParameter<"int64_t", "0">:$last_rows,
    DefaultValuedParameter<"int64_t", "0">:$row_versions,
    DefaultValuedParameter<"bool", "false">:$many_rows,
    DefaultValuedParameter<"int64_t", "0">:$k_block,
    DefaultValuedParameter<"int64_t", "0">:$prefetch,
    DefaultValuedParameter<"bool", "true">:$prefetches,
    OptionalArrayRefParameter<"int64_t">:$block,
    DefaultValuedParameter<"int64_t", "0">:$unroll,
    DefaultValuedParameter<"int64_t", "0">:$vector_bits,
    DefaultValuedParameter<"bool", "false">:$columns_slowest);
  let assemblyFormat = "`<` struct($micro_kernel, custom<LoopSizes>($tile), $packing, $last_rows, $row_versions, $many_rows, $k_block, $prefetch, $prefetches, custom<LoopSizes>($block), $unroll, $vector_bits, $columns_slowest) `>`";
  let genVerifyDecl = 1;
  let builders = [AttrBuilder<(ins "const ::tenon::kernel::ScheduleFields &":$fields)>];
  let extraClassDeclaration = [{
    /// Returns all parameters, so that they can be modified and made a schedule again.
    ScheduleFields getFields() const;
  }];
}

def Kernel_PartAttr : AttrDef<Kernel_Dialect, "Part"> {
  let mnemonic = "part";
  let summary = "a kernel of a merged one";
  let description = [{
    ```mlir
    #kernel.part<@k3_contract, tiles, buffers = [0, 1, 4, 5], sizes = []>
    ```

    * `mode`: the tiles of a part with `tiles` follow those of the part with `tiles` before it. A part with `along` has as many
      tiles as the part before it, and each call computes the same ones of both, one part after the other: a tile of the second
      reads no more of the first one's result than the tile of the same number. Each thread computes all tiles of a part with
      `whole` in its first call.
    * `buffers`: for each buffer of the kernel the number of a buffer of the launch; numbers beyond stand for `slots`.
    * `sizes`: for each size of the kernel the number of a size of the launch.
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$kernel,
    "::tenon::kernel::PartMode":$mode,
    OptionalArrayRefParameter<"int64_t">:$buffers,
    OptionalArrayRefParameter<"int64_t">:$sizes);
  let assemblyFormat = "`<` $kernel `,` $mode `,` `buffers` `=` custom<Numbers>($buffers) `,` `sizes` `=` custom<Numbers>($sizes) `>`";
}

#endif // TENON_KERNEL_ATTRS_TD
