# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Elementwise operators: broadcasting, sizes that no vector divides, sizes 0 and 1."""

import math
import operator

import reference as ref
from run import Case, single
from tensors import Tensor, build, integers, randoms


def keepNaN(function, x, y):
    return math.nan if math.isnan(x) or math.isnan(y) else function(x, y)


def cases():
    result = []
    shapes = [((3, 1, 5), (7, 1)), ((13,), ()), ((), ()), ((1,), (17,)), ((0, 3), (1, 3)), ((2, 1, 1, 3), (1, 5, 4, 1))]
    binary = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv, "Max": max}
    for k, (left, right) in enumerate(shapes):
        name, function = list(binary.items())[k % len(binary)]
        a, b = randoms(f"a{k}", *left), randoms(f"b{k}", *right, low=0.5, high=2.0)
        result.append(single(f"{name}{k}", name, {"a": a, "b": b}, ref.elementwise(function, a, b)))
    x = randoms("x", 3, 37)
    result += [
        single("Relu", "Relu", {"x": x}, ref.elementwise(lambda v: max(v, 0.0), x)),
        single("Exp", "Exp", {"x": x}, ref.elementwise(math.exp, x)),
        single("Tanh", "Tanh", {"x": x}, ref.elementwise(math.tanh, x)),
        single("Erf", "Erf", {"x": x}, ref.elementwise(math.erf, x)),
        single("Sigmoid", "Sigmoid", {"x": x}, ref.elementwise(lambda v: 1 / (1 + math.exp(-v)), x)),
        single("LeakyRelu", "LeakyRelu", {"x": x}, ref.elementwise(lambda v: v if v > 0 else 0.25 * v, x), alpha=0.25),
        single("Clip", "Clip", {"x": x}, ref.elementwise(lambda v: min(max(v, -0.5), 0.25), x),
               {"low": Tensor((), [-0.5]), "high": Tensor((), [0.25])}),
        single("ClipHigh", "Clip", {"x": x}, ref.elementwise(lambda v: min(v, 0.25), x),
               {"low": None, "high": Tensor((), [0.25])}),
        single("Less", "Less", {"x": x}, ref.elementwise(lambda v: v < 0.125, x, dtype="bool"), {"c": Tensor((1,), [0.125])}),
        single("CastDown", "Cast", {"x": x}, ref.elementwise(lambda v: int(v), x, dtype="i32"), to=6),
    ]
    condition = build((5, 1, 3), lambda i: sum(i) % 2 == 0, "bool")
    a, b = randoms("where a", 2, 1), randoms("where b", 3)
    result.append(single("Where", "Where", {"c": condition, "a": a, "b": b}, ref.elementwise(lambda c, p, q: p if c else q, condition, a, b)))
    parts = [randoms(f"sum{k}", *shape) for k, shape in enumerate([(2, 3), (3,), (2, 1)])]
    total = ref.elementwise(lambda *values: sum(values), *parts)
    result.append(single("Sum", "Sum", {"p": parts[0], "q": parts[1], "r": parts[2]}, total))
    whole = integers([-7, -6, -1, 0, 1, 6, 7])
    result += [
        single("DivInt", "Div", {"x": whole}, ref.elementwise(lambda v: int(v / 3), whole, dtype="i64"), {"c": integers([3])}),
        single("ModInt", "Mod", {"x": whole}, ref.elementwise(lambda v: v % 3, whole, dtype="i64"), {"c": integers([3])}),
        single("FmodInt", "Mod", {"x": whole}, ref.elementwise(lambda v: int(math.fmod(v, 3)), whole, dtype="i64"), {"c": integers([3])}, fmod=1),
    ]
    # What is no number stays so, on either side; vectors and what is left of them.
    special = Tensor((37,), [[math.nan, -1.0, 2.0, -math.inf, math.inf, 0.0, -0.0, 0.5][i % 8] for i in range(37)])
    other = Tensor((37,), [[0.25, math.nan, -3.0][i % 3] for i in range(37)])
    result += [
        single("ReluNaN", "Relu", {"x": special}, ref.elementwise(lambda v: keepNaN(max, v, 0.0), special)),
        single("ClipNaN", "Clip", {"x": special}, ref.elementwise(lambda v: keepNaN(min, keepNaN(max, v, 0.0), 1.0), special),
               {"low": Tensor((), [0.0]), "high": Tensor((), [1.0])}),
        single("MaxNaN", "Max", {"x": special, "z": other}, ref.elementwise(lambda v, w: keepNaN(max, v, w), special, other)),
        single("MinNaN", "Min", {"x": special, "z": other}, ref.elementwise(lambda v, w: keepNaN(min, v, w), special, other)),
    ]
    # Several nodes that read one another: one kernel, one result used twice.
    a, b = randoms("chain a", 5, 7), randoms("chain b", 7)
    left = ref.elementwise(operator.add, a, b)
    right = ref.elementwise(lambda v: 1 / (1 + math.exp(-v)), left)
    nodes = [("Add", ["a", "b"], ["s"], {}), ("Sigmoid", ["s"], ["t"], {}), ("Mul", ["s", "t"], ["y"], {})]
    result.append(Case("Chain", nodes, {"a": a, "b": b}, {"y": ref.elementwise(operator.mul, left, right), "t": right}))
    return result
