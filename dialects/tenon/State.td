//===- State.td - tensors that outlive a run ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is declared beside the functions of a module. Reads and updates have
// memory effects and keep their order; a value that was read does not change any
// more. docs/Rationale/State.md gives the reasons.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_STATE_TD
#define TENON_STATE_TD

include "dialects/tenon/TenonBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Tenon_StateOp : Op<Tenon_Dialect, "state", [Symbol, Tenon_NoKernel, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "declares a tensor that a session keeps from run to run";
  let description = [{
    The type is that of the whole memory; rows are along its first dimension.

    Without `live`, all of it counts. With `live`, a session knows how many rows are
    live, none at first, and the symbol of that name has their number when a run
    begins; the rest of the memory is capacity. States that grow together share a symbol. With `ring` as well, an update that
    finds no capacity left writes over the oldest rows: the first symbol is the number
    of rows that outlive the run's update, the second one the row that this writes to.

    It is zero when a session begins, or `initial`, which only a state without `live`
    has.

    A run of several sequences has the states of each. Those of the first sequence are declared as above, and those of
    sequence 1, 2, ... are `sequence` of these, with the same type and symbols of their own. A function with
    `tenon.sequences` uses the states of so many sequences, any other one those of the first.

    ```mlir
    tenon.state @keys : tensor<512x8x64xf32> live "past"
    tenon.state @keys.1 : tensor<512x8x64xf32> live "past.1" sequence 1 of @keys
    tenon.state @window : tensor<64x8x64xf32> live "kept" ring "slot"
    tenon.state @hidden : tensor<1x32xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tenon_AnyTensor>:$type, OptionalAttr<StrAttr>:$live,
                       OptionalAttr<StrAttr>:$ring, OptionalAttr<ElementsAttr>:$initial,
                       DefaultValuedOptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$sequence,
                       OptionalAttr<FlatSymbolRefAttr>:$first);
  let assemblyFormat = [{
    $sym_name `:` $type (`live` $live^)? (`ring` $ring^)? (`sequence` $sequence^ `of` $first)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// How many rows there is memory for.
    int64_t getCapacity() { return getTensorType().getDimSize(0); }
    /// Returns the name of the state, which those of all sequences share.
    ::llvm::StringRef getStateName() { return getFirst().value_or(getSymName()); }
    /// Returns the symbols that the state binds, in the order of their names.
    ::llvm::SmallVector<::mlir::AffineExpr> getSymbols();
  }];
}

def Tenon_StateReadOp : Op<Tenon_Dialect, "state.read", [
    Tenon_NoKernel, Tenon_Ordered, Tenon_FixedElementTypes, Tenon_RunTimeOnly, MemoryEffects<[MemRead]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "reads the first rows of a state";
  let description = [{
    The type says how many. Where nothing updates these rows before the last use of the result, it lies in the memory of
    the state; otherwise it is a copy. Only live rows are read, which is checked when sizes are bound.

    ```mlir
    tenon.state @keys : tensor<512x8x64xf32> live "past"
    func.func @main() {
      %0 = tenon.state.read @keys : tensor<?x8x64xf32, #tenon.shape<past, 8, 64>>
      return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs Tenon_AnyTensor:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    ::tenon::StateOp getDeclaration();
    /// How many rows are read.
    ::mlir::AffineExpr getRows();
  }];
}

def Tenon_StateUpdateOp : Op<Tenon_Dialect, "state.update", [
    Tenon_NoKernel, Tenon_Ordered, Tenon_FixedElementTypes, Tenon_RunTimeOnly, MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<Tenon_ExtentRequirements>]> {
  let summary = "writes rows of a state";
  let description = [{
    The rows of `value` are written from row `at` on, in place: no other row is touched. With `extends`, the rows after
    the last one that is written are no longer live, and all before it are: an append is an update at the number of live
    rows. A ring is updated so alone, at its row, once, and by a number of rows that divides its capacity.

    ```mlir
    tenon.state @keys : tensor<512x8x64xf32> live "past"
    func.func @main(%new: tensor<1x8x64xf32>) {
      tenon.state.update @keys at #tenon.shape<past> extends, %new : tensor<1x8x64xf32>
      %0 = tenon.state.read @keys : tensor<?x8x64xf32, #tenon.shape<past + 1, 8, 64>>
      return
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, Tenon_ShapeAttr:$at, UnitAttr:$extends, Tenon_AnyTensor:$value);
  let assemblyFormat = "$state `at` qualified($at) (`extends` $extends^)? `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::tenon::StateOp getDeclaration();
    ::mlir::AffineExpr getBegin() { return getAt().getDims().front(); }
    /// The first row after those that are written.
    ::mlir::AffineExpr getEnd();
  }];
}

#endif // TENON_STATE_TD
