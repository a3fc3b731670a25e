# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Says where a result is not what it should be."""

import ml_dtypes
import numpy
from draw import NUMBERS, isFloat

# What the results of one operator may be off by, relative to the element.
PRECISION = {"float64": 1e-9, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
# Elements below this one are compared as if they were this large: steps in between are rounded, too.
FLOOR = {"float64": 0.1, "float32": 0.1, "float16": 1.0, "bfloat16": 1.0}


def readNpy(path, dtype):
    """NumPy has no name for bfloat16: files hold two bytes of it."""
    values = numpy.load(path)
    return values.view(ml_dtypes.bfloat16) if values.dtype.kind == "V" and dtype == NUMBERS["bfloat16"] else values


def _wrongFloats(got, want, draw):
    precision, floor = PRECISION[want.dtype.name] * draw.slack, FLOOR[want.dtype.name]
    if draw.isSingle:
        precision = max(precision, PRECISION["float32"])
    got, want = got.astype(numpy.float64), want.astype(numpy.float64)
    finite = numpy.abs(want[numpy.isfinite(want)])
    scale = numpy.maximum(numpy.abs(want), finite.max(initial=0) if draw.isWhole else floor)
    with numpy.errstate(all="ignore"):
        near = numpy.abs(got - want) <= precision * scale
    return ~((got == want) | (numpy.isnan(got) & numpy.isnan(want)) | near)


def _wrongIntegers(got, want, draw):
    if not draw.steps:
        return got != want
    return numpy.abs(got.astype(numpy.int64) - want.astype(numpy.int64)) > draw.steps


def complain(got, want, draw):
    """None where `got` is right."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{list(got.shape)}, wanted {want.dtype}{list(want.shape)}"
    wrong = (_wrongFloats if isFloat(want.dtype) else _wrongIntegers)(got, want, draw)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ: {list(place)} is {got[place]}, wanted {want[place]}"
