//===- Random.td - random numbers ---------------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random numbers are a function of a key and of a place, so that they depend on
// neither threads nor targets, and nothing need be carried from run to run.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RANDOM_TD
#define TENON_RANDOM_TD

include "dialects/tenon/TenonBase.td"

def Tenon_RunSeedOp : Tenon_Op<"run_seed", [Tenon_NoKernel, Tenon_Ordered, Tenon_RunTimeOnly]> {
  let summary = "a seed of this run";
  let description = [{
    A number that follows from the seed that the user gives, or else one that the
    runtime draws from the system. In a loop it is another one each time.

    ```mlir
    %0 = tenon.run_seed : () -> tensor<i64>
    ```
  }];
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tenon_RandomBitsOp : Tenon_Op<"random_bits", [Tenon_ElementAccess]> {
  let summary = "32 random bits for each element";
  let description = [{
    Element i, in row-major order, is the first word of Philox4x32-10 for the
    counter (i, `stream`) of two 64-bit numbers and the 64-bit `key` (Salmon,
    Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011).
    Different streams are independent.

    ```mlir
    %1 = tenon.random_bits %0 {stream = 7 : i64} : (tensor<i64>) -> tensor<2x3xui32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$key, I64Attr:$stream);
  let results = (outs RankedTensorOf<[UI32]>:$result);
  let hasVerifier = 1;
}

#endif // TENON_RANDOM_TD
