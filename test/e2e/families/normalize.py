# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Softmax and normalisations: every axis, sizes 1 and prime, large values, what is fused around them."""

import math

import reference as ref
from run import Case, single
from tensors import Tensor, randoms


def batchNorm(x, scale, bias, mean, variance, epsilon):
    row = lambda t: Tensor((len(t.data), 1, 1), t.data)
    f = lambda v, s, b, m, q: (v - m) / math.sqrt(q + epsilon) * s + b
    return ref.elementwise(f, x, row(scale), row(bias), row(mean), row(variance))


def cases():
    result = []
    for axis in (-1, 0, 1):
        x = randoms("softmax", 3, 5, 7)
        y = ref.softmax(x, axis)
        result.append(single(f"Softmax{axis}", "Softmax", {"x": x}, y, axis=axis))
        result.append(single(f"LogSoftmax{axis}", "LogSoftmax", {"x": x}, ref.elementwise(math.log, y), axis=axis))
    for shape in ((1, 1), (17, 1), (1, 67), (2, 3, 129)):
        x = randoms("sizes", *shape)
        result.append(single("Softmax" + "x".join(map(str, shape)), "Softmax", {"x": x}, ref.softmax(x, -1)))
    x = Tensor((2, 3), [1000.0, 999.0, -1000.0, -5000.0, -5001.0, -5000.0])
    result.append(single("SoftmaxLarge", "Softmax", {"x": x}, ref.softmax(x, -1)))
    for shape, axis in (((2, 3, 13), -1), ((5, 1), -1), ((2, 3, 4, 5), 2), ((1, 257), 1)):
        x = randoms("layer", *shape)
        scale, bias = randoms("layer scale", *shape[axis:]), randoms("layer bias", *shape[axis:])
        name = "Layer" + "x".join(map(str, shape))
        result.append(single(name, "LayerNormalization", {"x": x}, ref.layerNorm(x, scale, bias, axis), {"s": scale, "b": bias}, axis=axis))
    x = randoms("batch", 2, 3, 4, 5)
    parts = [randoms(f"batch {k}", 3) for k in range(3)] + [randoms("batch variance", 3, low=0.5, high=2.0)]
    known = dict(zip("sbmv", parts))
    result.append(single("Batch", "BatchNormalization", {"x": x}, batchNorm(x, *parts, 1e-3), known, epsilon=1e-3))
    w = randoms("folded", 3, 2, 3, 3)
    x = randoms("folded x", 1, 2, 5, 5)
    y = batchNorm(ref.conv(x, w), *parts, 1e-5)
    nodes = [("Conv", ["x", "w"], ["c"], {}), ("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"], {})]
    result.append(Case("ConvBatch", nodes, {"x": x}, {"y": y}, {"w": w, **known}, atol=2e-5))
    # Attention of one head, as exporters write it.
    q, k, v = (randoms("attention " + name, 1, 5, 8) for name in "qkv")
    scores = ref.elementwise(lambda s: s / math.sqrt(8), ref.matmul(q, ref.transpose(k, [0, 2, 1])))
    nodes = [
        ("Transpose", ["k"], ["t"], {"perm": [0, 2, 1]}),
        ("MatMul", ["q", "t"], ["s"], {}),
        ("Div", ["s", "c"], ["d"], {}),
        ("Softmax", ["d"], ["p"], {}),
        ("MatMul", ["p", "v"], ["y"], {}),
    ]
    known = {"c": Tensor((), [math.sqrt(8)])}
    result.append(Case("Attention", nodes, {"q": q, "k": k, "v": v}, {"y": ref.matmul(ref.softmax(scores, -1), v)}, known))
    return result
