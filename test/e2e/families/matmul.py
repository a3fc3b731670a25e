# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Contractions: sizes 1, primes, batches that broadcast, vectors, nothing at all."""

import reference as ref
from run import Case, single
from tensors import build, randoms


def cases():
    result = []
    shapes = [
        ((1, 1), (1, 1)), ((3, 7), (7, 5)), ((17, 31), (31, 13)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (1, 5, 4, 2)),
        ((7,), (7, 5)), ((3, 7), (7,)), ((7,), (7,)), ((1, 64), (64, 1)), ((65, 1), (1, 33)), ((0, 4), (4, 3)),
        ((3, 0), (0, 5)), ((4, 5), (3, 5, 2)), ((16, 16), (16, 16)), ((8, 129), (129, 8)), ((130, 0), (0, 300)),
    ]  # fmt: skip
    for left, right in shapes:
        a, b = randoms("a", *left), randoms("b", *right)
        name = "x".join(map(str, left)) + "_" + "x".join(map(str, right))
        result.append(single("m" + name, "MatMul", {"a": a, "b": b}, ref.matmul(a, b)))
        if 0 not in left + right:
            result.append(single("w" + name, "MatMul", {"a": a}, ref.matmul(a, b), {"b": b}))
    for transA in (0, 1):
        for transB in (0, 1):
            a, b, c = randoms("ga", 5, 7), randoms("gb", 7, 3), randoms("gc", 3)
            y = ref.elementwise(lambda p, q: 0.5 * p + 2.0 * q, ref.matmul(a, b), c)
            operands = {"a": ref.transpose(a, [1, 0]) if transA else a, "b": ref.transpose(b, [1, 0]) if transB else b, "c": c}
            result.append(single(f"Gemm{transA}{transB}", "Gemm", operands, y, alpha=0.5, beta=2.0, transA=transA, transB=transB))
    a, b, bias = randoms("fa", 11, 23), randoms("fb", 23, 29), randoms("fc", 29)
    y = ref.elementwise(lambda p, q: max(p + q, 0.0), ref.matmul(a, b), bias)
    nodes = [("MatMul", ["a", "b"], ["p"], {}), ("Add", ["p", "c"], ["q"], {}), ("Relu", ["q"], ["y"], {})]
    result.append(Case("Fused", nodes, {"a": a}, {"y": y}, {"b": b, "c": bias}))
    a, b, c = randoms("ca", 5, 6), randoms("cb", 6, 7), randoms("cc", 7, 3)
    nodes = [("MatMul", ["a", "b"], ["p"], {}), ("MatMul", ["p", "c"], ["y"], {})]
    result.append(Case("TwoInRow", nodes, {"a": a, "b": b, "c": c}, {"y": ref.matmul(ref.matmul(a, b), c)}))
    diagonal = build((4,), lambda i: randoms("e", 4, 4).at((i[0], i[0])))
    result.append(single("Einsum", "Einsum", {"x": randoms("e", 4, 4)}, diagonal, equation="ii->i"))
    a, b = randoms("ea", 2, 3, 5), randoms("eb", 2, 5, 4)
    result.append(single("EinsumBatch", "Einsum", {"a": a, "b": b}, ref.matmul(a, b), equation="bij,bjk->bik"))
    return result
