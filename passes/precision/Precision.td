//===- Precision.td - passes that choose the types of weights --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PRECISION_TD
#define TENON_PASSES_PRECISION_TD

include "mlir/Pass/PassBase.td"

def QuantizeWeights : Pass<"tenon-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "store constant matrices in the formats that rules name";
  let description = [{
    A constant matrix of floats that products multiply by, and an embedding that rows are looked up in, becomes
    one of bf16, f16 or f32 and a cast, or one of integers of eight or four bits and a `tenon.dequantize`
    (passes/precision/GroupQuantizer.h). Kernels convert what they have just loaded. An embedding that is also
    the output's matrix stays one weight. Groups run along the dimension that products sum over.

    A rule is `FORMAT` or `PATTERN=FORMAT` (passes/precision/WeightFormat.h), and of those that match the name of a
    weight the last one decides. Weights that anything else reads, and those that have few elements, stay as they are,
    the latter unless a pattern names them.

    Runs on the model as imported, which the reference in f64 is made of, too: what a user wants of weights is
    the model, and the tolerance bounds what computing it adds.

    ```mlir
    %0 = tenon.weight dense_resource<w> : tensor<64x128xf32>
    %1 = tenon.contract %x, %0 ...
    // ==> int4
    %0 = tenon.weight dense_resource<int4...> : tensor<64x128xui4>
    %1 = tenon.weight dense_resource<scales...> : tensor<64x4xf16>
    %2 = tenon.dequantize %0, %1, %8 {axis = 1 : i64, block = 32 : i64, result_type = f32}
    %3 = tenon.contract %x, %2 ...
    ```
  }];
  let options = [ListOption<"rules", "rules", "std::string", "FORMAT or PATTERN=FORMAT">];
  let statistics = [Statistic<"numStored", "stored", "matrices that have another format">];
}

#endif // TENON_PASSES_PRECISION_TD
