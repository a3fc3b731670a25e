# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Operators that move elements: transposes, slices with any step, gathers, pads, concatenations, resizes."""

import itertools

import reference as ref
from run import Case, single
from tensors import Tensor, build, integers, randoms


def addTransposes(result):
    for perm in itertools.permutations(range(3)):
        x = randoms("transpose", 3, 5, 7)
        result.append(single("Transpose" + "".join(map(str, perm)), "Transpose", {"x": x}, ref.transpose(x, perm), perm=list(perm)))
    x = randoms("transpose 4", 2, 1, 17, 3)
    result.append(single("Transpose4", "Transpose", {"x": x}, ref.transpose(x, (3, 1, 0, 2)), perm=[3, 1, 0, 2]))
    x = randoms("large", 33, 65)
    result.append(single("TransposeLarge", "Transpose", {"x": x}, ref.transpose(x, (1, 0)), perm=[1, 0]))


def addSlices(result):
    x = randoms("slice", 7, 11)
    choices = {
        "Plain": ([1], [4], [0], [1]),
        "Step": ([1], [11], [1], [3]),
        "Reverse": ([-1], [-(2**63)], [1], [-1]),
        "ReverseStep": ([9], [0], [1], [-4]),
        "Both": ([5, 2], [0, 9], [0, 1], [-2, 3]),
        "PastEnd": ([-100], [100], [0], [2]),
        "Nothing": ([4], [4], [0], [1]),
        "NothingStep": ([7, 4], [7, 4], [0, 1], [7, 2]),
        "NegativeAxis": ([-3], [-1], [-1], [1]),
    }
    for name, (starts, ends, axes, steps) in choices.items():
        y = ref.slices(x, starts, ends, [axis % 2 for axis in axes], steps)
        known = {"starts": integers(starts), "ends": integers(ends), "axes": integers(axes), "steps": integers(steps)}
        result.append(single("Slice" + name, "Slice", {"x": x}, y, known))


def addGathers(result):
    x = randoms("gather", 5, 7)
    for name, at, axis in (
        ("Rows", integers([4, 0, 0, -1]), 0),
        ("Columns", integers([6, -7, 3], (3, 1)), 1),
        ("Scalar", integers([2], ()), 1),
        ("None", integers([], (0,)), 0),
    ):
        y = ref.gather(x, at, axis)
        result.append(single("Gather" + name, "Gather", {"x": x, "at": at}, y, axis=axis))
        result.append(single("GatherKnown" + name, "Gather", {"x": x}, y, {"at": at}, axis=axis))
    at = integers([0, 6, 3, 1, -1, 2], (2, 3))
    elements = build((2, 3), lambda i: x.at((i[0], at.at(i) % 7)))
    result.append(single("GatherElements", "GatherElements", {"x": x, "at": at}, elements, axis=1))
    pairs = integers([0, 1, 4, 6, 2, 0], (3, 2))
    points = build((3,), lambda i: x.at((pairs.at((i[0], 0)), pairs.at((i[0], 1)))))
    result.append(single("GatherND", "GatherND", {"x": x, "at": pairs}, points))


def addPads(result):
    x = randoms("pad", 3, 5)
    for mode in ("constant", "edge", "reflect", "wrap"):
        y = ref.pad(x, [1, 2], [2, 3], mode, 0.5)
        known = {"pads": integers([1, 2, 2, 3])}
        if mode == "constant":
            known["value"] = Tensor((), [0.5])
        result.append(single("Pad" + mode, "Pad", {"x": x}, y, known, mode=mode))
    cut = ref.pad(x, [-1, 2], [1, -3], "constant")
    result.append(single("PadNegative", "Pad", {"x": x}, cut, {"pads": integers([-1, 2, 1, -3])}))


def addJoins(result):
    parts = {"a": randoms("a", 2, 3, 5), "b": randoms("b", 2, 1, 5), "c": randoms("c", 2, 0, 5), "d": randoms("d", 2, 4, 5)}
    result.append(single("Concat", "Concat", parts, ref.concat(list(parts.values()), 1), axis=1))
    last = {"a": randoms("la", 3, 1), "b": randoms("lb", 3, 7)}
    result.append(single("ConcatLast", "Concat", last, ref.concat(list(last.values()), 1), axis=-1))
    x = randoms("split", 3, 7)
    pieces = {name: ref.slices(x, [low], [high], [1], [1]) for name, low, high in (("p", 0, 2), ("q", 2, 3), ("r", 3, 7))}
    result.append(Case("Split", [("Split", ["x", "s"], ["p", "q", "r"], {"axis": 1})], {"x": x}, pieces, {"s": integers([2, 1, 4])}))
    x = randoms("tile", 2, 3)
    result.append(single("Tile", "Tile", {"x": x}, build((4, 9), lambda i: x.at((i[0] % 2, i[1] % 3))), {"r": integers([2, 3])}))
    x = randoms("expand", 3, 1)
    result.append(single("Expand", "Expand", {"x": x}, build((2, 3, 5), lambda i: x.at((i[1], 0))), {"s": integers([2, 1, 5])}))
    x = randoms("reshape", 2, 3, 4)
    result.append(single("Reshape", "Reshape", {"x": x}, Tensor((6, 4), x.data), {"s": integers([-1, 4])}))
    result.append(single("ReshapeKeep", "Reshape", {"x": x}, Tensor((2, 12), x.data), {"s": integers([0, -1])}))
    # Joined results of kernels, which may write to their place in the joined tensor.
    a, b = randoms("in place a", 3, 5), randoms("in place b", 3, 2)
    nodes = [("Relu", ["a"], ["p"], {}), ("Neg", ["b"], ["q"], {}), ("Concat", ["p", "q"], ["y"], {"axis": 1})]
    relu, negative = ref.elementwise(lambda v: max(v, 0.0), a), ref.elementwise(lambda v: -v, b)
    result.append(Case("ConcatOfResults", nodes, {"a": a, "b": b}, {"y": ref.concat([relu, negative], 1)}))
    # So many that each is copied to its place, or computed there: inputs, results and a weight, many times.
    a, w = randoms("many a", 3, 5), randoms("many w", 2, 5)
    relu, negative = ref.elementwise(lambda v: max(v, 0.0), a), ref.elementwise(lambda v: -v, a)
    order = [("p", relu), ("a", a), ("w", w), ("q", negative)] * 75
    nodes = [("Relu", ["a"], ["p"], {}), ("Neg", ["a"], ["q"], {}), ("Concat", [name for name, _ in order], ["y"], {"axis": 0}),
             ("Neg", ["y"], ["z"], {})]
    y = ref.concat([part for _, part in order], 0)
    result.append(Case("ConcatOfMany", nodes, {"a": a}, {"y": y, "z": ref.elementwise(lambda v: -v, y)}, {"w": w}))


def addResizes(result):
    x = randoms("resize", 1, 2, 5, 7)
    for sizes in ([1, 2, 10, 14], [1, 2, 3, 4], [1, 2, 5, 11], [1, 2, 1, 1]):
        for mode, transform in (("nearest", "half_pixel"), ("linear", "half_pixel"), ("linear", "align_corners"), ("linear", "asymmetric")):
            name = f"Resize{mode}{transform}{sizes[2]}x{sizes[3]}"
            y = ref.resize(x, sizes, mode, transform)
            known = {"roi": None, "scales": None, "sizes": integers(sizes)}
            result.append(single(name, "Resize", {"x": x}, y, known, mode=mode, coordinate_transformation_mode=transform))


def cases():
    result = []
    for add in (addTransposes, addSlices, addGathers, addPads, addJoins, addResizes):
        add(result)
    return result
