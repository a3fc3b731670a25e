//===- Region.td - dispatch regions, kernels and launches ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_REGION_TD
#define TENON_REGION_TD

include "dialects/tenon/TenonBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Tenon_DispatchOp : Op<Tenon_Dialect, "dispatch", [Pure, SingleBlock, Tenon_NoKernel]> {
  let summary = "operations that are fused into one kernel";
  let description = [{
    A dispatch region, as the pass `tenon-fuse` makes it. The body reads values
    from around it; what it yields are the results.

    ```mlir
    %1 = tenon.dispatch -> tensor<4xf32> {
      %2 = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
      tenon.yield %2 : tensor<4xf32>
    }
    ```
  }];
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def Tenon_AttentionOp : Op<Tenon_Dialect, "attention", [Pure, SingleBlock, Tenon_LoopNest]> {
  let summary = "scaled dot-product attention: softmax(queries * keys) * values";
  let description = [{
    As the pass `tenon-fuse-attention` makes it of

        weights = softmax(body(sum of queries * keys))
        result = sum of weights * values

    Each array gives, for each dimension of an operand, of the scores or of the result, the number of the index that
    runs over it, as those of `contract` do. The index of the keys is the one that scores and values have and the
    result lacks; the softmax runs along it. The body gets the scores, changes each of them alone, and yields as many;
    it reads other values from around it. A kernel never has all scores at once. With `zeroes_queries` the result is 0
    where the weights are no numbers, as those of a query are whose keys are all hidden by -inf.

    With `split_keys` the keys are split into groups of that many, the last of which may be smaller, and the result has
    an additional first dimension with a partial result for each split. Its elements have the type of accumulators. The
    last dimension has the sums of values, weighted by exponentials that are not normalized, followed by the sum of the
    exponentials and by the largest score, which is subtracted in each of them. `combine_splits` computes the result
    from these. Splits are computed in parallel, and read keys and values in the order of memory, those of all heads
    together (Dao and others, "Flash-Decoding for long-context inference", 2023).

    With `bf16_products` the factors of both products are rounded to bf16: queries and keys, and the weights, before they
    are divided by their sum, and values. Products, sums and the softmax are f32.

    ```mlir
    // [heads, queries, size] x [heads, keys, size] x [heads, keys, values] -> [queries, heads, values]
    func.func @mix(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x5xf32>) -> tensor<8x2x5xf32> {
      %0 = tenon.attention %q, %k, %v {
      ^bb0(%scores: tensor<2x8x9xf32>):
        %1 = tenon.tanh %scores : (tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
        tenon.yield %1 : tensor<2x8x9xf32>
      } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
         value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 1, 0, 4>}
        : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x5xf32>) -> tensor<8x2x5xf32>
      return %0 : tensor<8x2x5xf32>
    }
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$queries, Tenon_FloatTensor:$keys, Tenon_FloatTensor:$values,
                       DenseI64ArrayAttr:$query_dims, DenseI64ArrayAttr:$key_dims, DenseI64ArrayAttr:$score_dims,
                       DenseI64ArrayAttr:$value_dims, DenseI64ArrayAttr:$result_dims,
                       UnitAttr:$zeroes_queries, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$split_keys,
                       UnitAttr:$bf16_products);
  let results = (outs Tenon_FloatTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$queries `,` $keys `,` $values $body attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::movement; }
    mlir::AffineExpr countFlops();
    bool rereadsOperands() { return true; }
    mlir::Value getScores() { return getBody().getArgument(0); }
    /// The index that runs over the keys.
    int64_t getKeyIndex();
    /// The index of the queries that share keys and values; the longest one of several. None if there is only one query
    /// for each key.
    std::optional<int64_t> getQueryIndex();
    /// The indices of the products of queries and keys, and of the results.
    int64_t getSizeIndex();
    int64_t getValueIndex();
  }];
  let hasRegionVerifier = 1;
}

def Tenon_CombineSplitsOp : Op<Tenon_Dialect, "combine_splits", [Pure, Tenon_LoopNest]> {
  let summary = "combines the partial results of attention over splits of the keys";
  let description = [{
    `parts` is the result of `tenon.attention` with `split_keys`: splits are its first dimension; values, the sum of the
    exponentials and the largest score are its last one. The result has the dimensions between them, and the values:

        scale[i] = exp(largest[i] - max(largest))
        result = sum(scale[i] * values[i]) / sum(scale[i] * sums[i])

    It is 0 if there is no split, and with `zeroes_queries` where all keys of a query are hidden.

    ```mlir
    %1 = tenon.combine_splits %0 : (tensor<3x8x66xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Tenon_FloatTensor:$parts, UnitAttr:$zeroes_queries);
  let results = (outs Tenon_FloatTensor:$result);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::tenon::OperandFusion getOperandFusion() { return ::tenon::OperandFusion::none; }
    mlir::AffineExpr countFlops();
    bool rereadsOperands() { return true; }
    /// What follows the values in the last dimension of the parts.
    static constexpr int64_t kNumStatistics = 2;
  }];
  let hasVerifier = 1;
}

def Tenon_YieldOp : Op<Tenon_Dialect, "yield", [Pure, Terminator, ReturnLike, Tenon_NoKernel,
                                              ParentOneOf<["AttentionOp", "DispatchOp", "IfOp", "LoopOp"]>]> {
  let summary = "what a dispatch region, a branch or the body of an operation results in";
  let arguments = (ins Variadic<Tenon_AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Tenon_LaunchOp : Op<Tenon_Dialect, "launch", [Pure, Tenon_NoKernel, Tenon_LaunchLike, Tenon_RunTimeOnly,
                                                DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "computes an outlined dispatch region";
  let description = [{
    `kernel` is a private function of the module that takes the operands and
    gives the results. Equal regions share one kernel: `sizes` are the values,
    here, of the kernel's symbols.

    ```mlir
    %1 = tenon.launch @kernel_0(%0) {sizes = #tenon.shape<N>}
      : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Tenon_AnyTensor>:$inputs, Tenon_ShapeAttr:$sizes);
  let results = (outs Variadic<Tenon_AnyTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif // TENON_REGION_TD
