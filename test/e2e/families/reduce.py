# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reductions: every choice of dimensions, kept or not; size 1; none at all."""

import math

import reference as ref
from run import Case, single
from tensors import Tensor, build, integers, randoms


def cases():
    result = []
    functions = {
        "ReduceSum": math.fsum,
        "ReduceMean": lambda v: math.fsum(v) / len(v),
        "ReduceMax": max,
        "ReduceMin": min,
        "ReduceProd": ref.product,
        "ReduceL2": lambda v: math.sqrt(math.fsum(e * e for e in v)),
        "ReduceL1": lambda v: math.fsum(map(abs, v)),
        "ReduceSumSquare": lambda v: math.fsum(e * e for e in v),
        "ReduceLogSumExp": lambda v: math.log(math.fsum(map(math.exp, v))),
    }
    choices = [((3, 5, 7), [1]), ((3, 5, 7), [-1]), ((3, 5, 7), [0, 2]), ((3, 5, 7), [0, 1, 2]), ((1, 13), [1]), ((17, 1), [1])]
    for k, (name, function) in enumerate(functions.items()):
        for shape, axes in (choices[k % len(choices)], choices[(k + 2) % len(choices)]):
            for keep in (0, 1):
                x = randoms(name, *shape)
                label = f"{name}{'x'.join(map(str, shape))}a{'_'.join(map(str, axes))}k{keep}"
                result.append(single(label, name, {"x": x}, ref.reduce(function, x, axes, keep), {"axes": integers(axes)}, keepdims=keep))
    empty = Tensor((3, 0), [])
    result.append(single("SumOfNone", "ReduceSum", {"x": empty}, Tensor((3,), [0.0] * 3), {"axes": integers([1])}, keepdims=0))
    none = Tensor((0, 5), [])
    result.append(single("NoSums", "ReduceSum", {"x": none}, Tensor((0,), []), {"axes": integers([1])}, keepdims=0))
    x = randoms("arg", 5, 11)
    best = lambda pick, axis: ref.reduce(lambda v: v.index(pick(v)), x, [axis], 0, "i64")
    result.append(single("ArgMax", "ArgMax", {"x": x}, best(max, 1), axis=1, keepdims=0))
    result.append(single("ArgMin", "ArgMin", {"x": x}, best(min, 0), axis=0, keepdims=0))
    ties = Tensor((1, 4), [1.0, 3.0, 3.0, 2.0])
    result.append(single("ArgMaxLast", "ArgMax", {"x": ties}, integers([2], (1, 1)), axis=1, select_last_index=1))
    running = build((3, 5), lambda i: math.fsum(randoms("cum", 3, 5).at((i[0], k)) for k in range(i[1] + 1)))
    result.append(single("CumSum", "CumSum", {"x": randoms("cum", 3, 5)}, running, {"axis": integers([1], ())}))
    # A reduction whose result meets its own input again, as in every normalisation.
    x = randoms("mean", 7, 19)
    mean = ref.reduce(lambda v: math.fsum(v) / len(v), x, [1], 1)
    nodes = [("ReduceMean", ["x", "axes"], ["m"], {}), ("Sub", ["x", "m"], ["y"], {})]
    result.append(Case("Centre", nodes, {"x": x}, {"y": ref.elementwise(lambda a, b: a - b, x, mean)}, {"axes": integers([1])}))
    return result
