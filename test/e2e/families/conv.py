# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions: one to three dimensions; strides, uneven padding, dilations, groups; transposed ones."""

import reference as ref
from run import Case, single
from tensors import Tensor, randoms


def cases():
    result = []

    def add(name, x, w, bias=None, **attributes):
        x, w = randoms(name + "x", *x), randoms(name + "w", *w)
        b = randoms(name + "b", bias) if bias else None
        y = ref.conv(x, w, b, **attributes)
        known = {"w": w, "b": b} if bias else {"w": w}
        result.append(single(name, "Conv", {"x": x}, y, known, atol=2e-5, **attributes))

    add("OneByOne", (1, 3, 5, 7), (5, 3, 1, 1))
    add("Plain", (2, 3, 7, 5), (4, 3, 3, 3), 4)
    add("Stride", (1, 2, 11, 9), (3, 2, 3, 3), 3, strides=[2, 3])
    add("Pads", (1, 2, 6, 7), (3, 2, 3, 3), pads=[1, 0, 2, 1])
    add("Dilated", (1, 2, 9, 11), (3, 2, 3, 2), dilations=[2, 3], pads=[2, 1, 2, 1])
    add("Groups", (1, 6, 5, 5), (4, 3, 3, 3), 4, group=2, pads=[1, 1, 1, 1])
    add("Depthwise", (1, 7, 9, 9), (7, 1, 3, 3), 7, group=7, pads=[1, 1, 1, 1], strides=[2, 2])
    add("DepthMultiplier", (1, 3, 5, 5), (6, 1, 3, 3), group=3)
    add("Line", (2, 3, 17), (5, 3, 5), 5, pads=[2, 2])
    add("LineStride", (1, 1, 16), (1, 1, 4), strides=[4])
    add("Volume", (1, 2, 4, 5, 3), (3, 2, 2, 3, 2), 3, pads=[0, 1, 0, 1, 1, 1])
    add("KernelOfAll", (1, 2, 5, 3), (4, 2, 5, 3))
    add("WideOut", (1, 3, 4, 4), (33, 3, 3, 3), 33, pads=[1, 1, 1, 1])
    x, w = randoms("dynamic x", 1, 2, 5, 5), randoms("dynamic w", 3, 2, 3, 3)
    result.append(single("WeightIsInput", "Conv", {"x": x, "w": w}, ref.conv(x, w), atol=2e-5))
    x, w = randoms("same x", 1, 1, 6, 5), randoms("same w", 1, 1, 2, 4)
    same = ref.conv(x, w, pads=[0, 1, 1, 2])
    result.append(single("SameUpper", "Conv", {"x": x}, same, {"w": w}, auto_pad="SAME_UPPER"))
    lower = ref.conv(x, w, pads=[1, 2, 0, 1])
    result.append(single("SameLower", "Conv", {"x": x}, lower, {"w": w}, auto_pad="SAME_LOWER"))
    empty = Tensor((0, 2, 5, 5), [])
    w = randoms("empty w", 3, 2, 3, 3)
    result.append(single("NoBatch", "Conv", {"x": empty}, Tensor((0, 3, 3, 3), []), {"w": w}))
    x, w = randoms("tx", 1, 3, 4, 5), randoms("tw", 3, 2, 3, 3)
    transposed = ref.convTranspose(x, w, [2, 1], [0, 1, 1, 0])
    result.append(single("Transposed", "ConvTranspose", {"x": x}, transposed, {"w": w}, atol=2e-5, strides=[2, 1], pads=[0, 1, 1, 0]))
    x, w = randoms("tgx", 1, 4, 3, 3), randoms("tgw", 4, 1, 2, 2)
    grouped = ref.convTranspose(x, w, [2, 2], [0] * 4, group=2, outputPadding=[1, 0])
    result.append(single("TransposedGroups", "ConvTranspose", {"x": x}, grouped, {"w": w}, group=2, strides=[2, 2], output_padding=[1, 0]))
    x, w, b = randoms("chain x", 1, 3, 8, 8), randoms("chain w", 5, 3, 3, 3), randoms("chain b", 5)
    y = ref.conv(x, w, b, pads=[1, 1, 1, 1])
    relu = ref.elementwise(lambda v: max(v, 0.0), y)
    nodes = [("Conv", ["x", "w", "b"], ["c"], {"pads": [1, 1, 1, 1]}), ("Relu", ["c"], ["r"], {}), ("Add", ["r", "c"], ["y"], {})]
    total = ref.elementwise(lambda p, q: p + q, relu, y)
    result.append(Case("Chain", nodes, {"x": x}, {"y": total}, {"w": w, "b": b}, atol=2e-5))
    return result
