# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The largest and smallest elements: long lines, ties, NaN, several types, and axes of which k is the whole."""

import math

from run import Case
from tensors import Tensor, indices, integers, randoms


def rank(value, largest):
    """NaN counts as larger than every number; equal elements keep their order."""
    key = (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)
    return tuple(-part for part in key) if largest else key


def topK(name, x, k, axis, largest):
    shape = [k if d == axis else size for d, size in enumerate(x.shape)]
    values, places = [0] * math.prod(shape), [0] * math.prod(shape)
    for place, index in enumerate(indices(shape)):
        line = [x.at([j if d == axis else i for d, i in enumerate(index)]) for j in range(x.shape[axis])]
        order = sorted(range(len(line)), key=lambda j: rank(line[j], largest))
        places[place] = order[index[axis]]
        values[place] = line[places[place]]
    outputs = {"v": Tensor(shape, values, x.dtype), "i": Tensor(shape, places, "i64")}
    node = ("TopK", ["x", "k"], ["v", "i"], {"axis": axis, "largest": int(largest)})
    return Case(name, [node], {"x": x}, outputs, {"k": integers([k])})


def cases():
    result = []
    for largest in (False, True):
        name = "Largest" if largest else "Smallest"
        long = Tensor((2, 1000), [round(x, 2) for x in randoms("order", 2, 1000).data])
        for k in (1, 17, 40, 130, 300, 999, 1000):
            result.append(topK(f"{name}{k}of1000", long, k, 1, largest))
        # Along lines that are no neighbours in memory, and in numbers as wide as an index.
        columns = Tensor((300, 3), [round(x, 1) for x in randoms("column", 300, 3).data])
        for k in (5, 200, 300):
            result.append(topK(f"{name}{k}ofColumn", columns, k, 0, largest))
        wide = Tensor((2, 300), [(37 * i % 101 - 50) * 2**55 for i in range(600)], "i64")
        for k in (20, 150, 300):
            result.append(topK(f"{name}{k}ofWide", wide, k, 1, largest))
        special = Tensor((2, 7), [1.0, math.nan, -math.inf, math.nan, 0.0, -0.0, math.inf, *[math.nan] * 3, 2.0, 2.0, -1.0, 2.0])
        result.append(topK(name + "NaN", special, 7, 1, largest))
        for dtype, low in (("u8", 0), ("i8", -100), ("i64", -(2**62))):
            numbers = [low + (37 * i % 101) * (2**55 if dtype == "i64" else 1) for i in range(60)]
            result.append(topK(name + dtype, Tensor((3, 4, 5), numbers, dtype), 2, 1, largest))
        result.append(topK(name + "Scalarlike", Tensor((1, 1), [3.0]), 1, 0, largest))
    return result
