//===- KernelOps.td - the kernel dialect ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_KERNEL_OPS_TD
#define TENON_KERNEL_OPS_TD

include "dialects/kernel/KernelAttrs.td"
include "dialects/kernel/KernelBase.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_ContractOp : Kernel_Op<"contract", [
    SingleBlock, RecursiveMemoryEffects, DestinationStyleOpInterface, LinalgStructuredInterface,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
                                                "getResultTilePosition", "generateResultTileValue",
                                                "getIterationDomainTileFromResultTile"]>]> {
  let summary = "a matrix product or convolution that registers can be blocked for";
  let description = [{
    Adds to each element of `init` the products of an LHS and an RHS. A structured operation of linalg: `indexing_maps` says
    which element of each operand a point of the loops has, and the body computes the new sum of these. Loops that are not
    among the indices of `init` are summed. The body may read further elements by itself, as the windows of a convolution do
    beyond the borders of its input.

    `contraction` says how the factors are read, and `kernel.sum` which values of the body they are. Both are found once,
    when the operation is formed; tiling, bufferization and the emission of its loops rely on them.

    ```mlir
    func.func @product(%a: tensor<64x256xf32>, %b: tensor<2x256x32xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = kernel.contract <kind = product, row = 0, panel = 32>
             ins(%a, %b : tensor<64x256xf32>, tensor<2x256x32xf32>) init(%c : tensor<64x64xf32>)
             attributes {indexing_maps = [affine_map<(m, k, n) -> (m, k)>,
                                          affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>,
                                          affine_map<(m, k, n) -> (m, n)>]} {
      ^bb0(%x: f32, %w: f32, %old: f32):
        %p = arith.mulf %x, %w : f32
        %added = arith.addf %old, %p : f32
        %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
        linalg.yield %sum : f32
      } -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, AnyShaped:$init, Kernel_ContractionAttr:$contraction,
                       AffineMapArrayAttr:$indexing_maps, OptionalAttr<Kernel_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    $contraction `ins` `(` $inputs `:` type($inputs) `)` `init` `(` $init `:` type($init) `)`
    attr-dict-with-keyword $region (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// Returns the operation of the body that names the values in the product.
    SumOp getSum();
    /// Loops that index the result are parallel, all others are reductions.
    ::mlir::SmallVector<::mlir::utils::IteratorType> getIteratorTypesArray();

    // What a structured operation says besides.
    bool hasIndexSemantics();
    std::string getLibraryCallName() { return ""; }
    static std::function<void(::mlir::ImplicitLocOpBuilder &, ::mlir::Block &, ::mlir::ArrayRef<::mlir::NamedAttribute>,
                              ::mlir::function_ref<::mlir::InFlightDiagnostic()>)>
    getRegionBuilder() {
      return nullptr;
    }
  }];
  let hasFolder = 1;
  let hasRegionVerifier = 1;
}

def Kernel_SumOp : Kernel_Op<"sum", [Pure, AllTypesMatch<["sum", "result"]>, AttrSizedOperandSegments]> {
  let summary = "yields the new sum of a contraction and its factors";
  let description = [{
    What the body of a `kernel.contract` yields: `sum` itself. `lhs` and `rhs` are the elements as they are stored, but of an LHS that
    is promoted the promoted one: of bf16 terms those of each term, the largest first. For an RHS that is dequantized `rhs` is the element that most bits come from, `number`
    the factor before it is scaled, and `scale` what scales it, if anything does. In `integer_groups` `lhs` is the element, which is 128 more than
    its number if it is a byte, and that number's scale. Outside of a `kernel.contract` the operation folds to `sum`, so that loops over elements have
    nothing left of it.
  }];
  let arguments = (ins AnyType:$sum, Variadic<AnyType>:$lhs, Variadic<AnyType>:$rhs, Optional<AnyType>:$number,
                       Optional<AnyType>:$scale);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $sum `:` type($sum) `lhs` `(` $lhs `:` type($lhs) `)` `rhs` `(` $rhs `:` type($rhs) `)`
    (`number` `(` $number^ `:` type($number) `)`)? (`scale` `(` $scale^ `:` type($scale) `)`)? attr-dict
  }];
  let hasFolder = 1;
}

def Kernel_WinogradOp : Kernel_Op<"winograd", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
                                                "getResultTilePosition", "generateResultTileValue"]>]> {
  let summary = "a tile of a Winograd convolution";
  let description = [{
    What tenon.winograd computes of its result at `offsets` (batch, row, column,
    filter), as far as `init` reaches. Input and filter are whole.

    ```mlir
    func.func @tile(%in: tensor<1x56x56x64xf32>, %w: tensor<2x36x64x32xf32>, %out: tensor<1x4x56x64xf32>, %n: index,
                    %y: index, %x: index, %k: index) -> tensor<1x4x56x64xf32> {
      %0 = kernel.winograd ins(%in, %w : tensor<1x56x56x64xf32>, tensor<2x36x64x32xf32>)
             init(%out : tensor<1x4x56x64xf32>) at [%n, %y, %x, %k] {low = array<i64: 1, 1>, outputs = 4 : i64,
             tile = array<i64: 4, 56, 64>, window = 3 : i64} -> tensor<1x4x56x64xf32>
      return %0 : tensor<1x4x56x64xf32>
    }
    ```
    `tile`: the rows, columns and filters that a tile is to have, all squares whole. Filters of bf16 and of i32 have pairs of
    channels, as those of tenon.winograd have.
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$filter, AnyShaped:$init, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$low, I64Attr:$outputs, I64Attr:$window, DenseI64ArrayAttr:$tile);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $input `,` $filter `:` type($input) `,` type($filter) `)` `init` `(` $init `:` type($init) `)`
    `at` `[` $offsets `]` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let hasVerifier = 1;
}

def Kernel_ScratchOp : Kernel_Op<"scratch", [Pure]> {
  let summary = "scratch memory of the thread that runs the kernel";
  let description = [{
    At an offset in bytes, a multiple of 64, in what the runtime gives each thread; with
    unknown contents, unless `kernel.last_end` tells of a call before. The kernel's attribute
    `tenon.scratch` says how much it needs.
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$memory);
  let assemblyFormat = "$offset attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Kernel_LastEndOp : Kernel_Op<"last_end", [Pure]> {
  let summary = "the index after the tiles that this thread computed last";
  let description = [{
    In the same launch, in a call before this one; -1 where there was none. Scratch memory
    has what that call left there.
  }];
  let results = (outs Index:$end);
  let assemblyFormat = "attr-dict";
}

def Kernel_ShareOp : Kernel_Op<"share", [Pure]> {
  let summary = "the share of a loop's iterations that this call's tiles compute";
  let description = [{
    Splits the steps from 0 to `count` over the tiles of the launch: all calls of a launch
    together do each step once, whichever tiles each call has.

    ```mlir
    func.func @example(%count: index) {
      %first, %end = kernel.share %count
      return
    }
    ```
  }];
  let arguments = (ins Index:$count);
  let results = (outs Index:$first, Index:$end);
  let assemblyFormat = "$count attr-dict";
}

def Kernel_PrefetchOp : Kernel_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "prefetches the cache lines of a matrix";
  let description = [{
    Into the second-level cache. Bufferization replaces it by a `memref.prefetch` for each line of each row.

    ```mlir
    func.func @example(%rows: tensor<16x64xf32>) {
      kernel.prefetch %rows : tensor<16x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins 2DTensorOf<[AnyFloat]>:$rows);
  let assemblyFormat = "$rows attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def Kernel_CheckIndicesOp : Kernel_Op<"check_indices", [MemoryEffects<[MemWrite]>]> {
  let summary = "ends the kernel where an index is out of range";
  let description = [{
    Of some indices, the smallest and the largest: where one is below `first` or above `last` the
    kernel returns TENON_KERNEL_INDEX_OUT_OF_RANGE, and leaves that index and both limits in
    scratch (runtime/format/Kernel.h). Stands in the function's own block, before the loops
    that read by these indices.

    ```mlir
    func.func @example(%low: index, %high: index, %first: index, %last: index) {
      kernel.check_indices %low to %high in %first to %last
      return
    }
    ```
  }];
  let arguments = (ins Index:$smallest, Index:$largest, Index:$first, Index:$last);
  let assemblyFormat = "$smallest `to` $largest `in` $first `to` $last attr-dict";
  let hasVerifier = 1;
}

def Kernel_MergedOp : Kernel_Op<"merged", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a kernel whose tiles are those of several others";
  let description = [{
    Stands beside the kernels that are its parts. A launch of it passes `buffers` buffers and `sizes` sizes, and has the tiles
    of all parts with `tiles`, or one tile where all parts are `whole`. Parts use the same `scratch` bytes of each thread's
    scratch in turn. Behind them are `slots`, of so many bytes, which take the place of buffers that `whole` parts write for
    the parts behind them.

    ```mlir
    func.func private @k0_rms_norm(tensor<1x64xf32>, tensor<1x64xf32>, index, index)
    func.func private @k1_contract(tensor<2x64x32xf32>, tensor<1x64xf32>, tensor<1x64xf32>, index, index)
    kernel.merged @k1_contract_merged buffers 5 sizes 0 scratch 0 slots [256] [
        #kernel.part<@k0_rms_norm, whole, buffers = [0, 5], sizes = []>,
        #kernel.part<@k1_contract, tiles, buffers = [1, 5, 3], sizes = []>,
        #kernel.part<@k1_contract, tiles, buffers = [2, 5, 4], sizes = []>]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$buffers, I64Attr:$sizes, I64Attr:$scratch,
                       DenseI64ArrayAttr:$slots, TypedArrayAttrBase<Kernel_PartAttr, "parts">:$parts);
  let assemblyFormat = "$sym_name `buffers` $buffers `sizes` $sizes `scratch` $scratch `slots` $slots $parts attr-dict";
  let extraClassDeclaration = [{
    auto listParts() { return getParts().getAsRange<PartAttr>(); }
    /// Returns the offset of a slot in the scratch of a thread.
    int64_t getSlotOffset(size_t slot);
    /// Returns the bytes of scratch that a thread needs.
    int64_t getScratchBytes() { return getSlotOffset(getSlots().size()); }
    /// Returns the kernel of a part, in the symbol table that the operation is in.
    ::mlir::func::FuncOp lookUp(PartAttr part);
  }];
  let hasVerifier = 1;
}

#endif // TENON_KERNEL_OPS_TD
