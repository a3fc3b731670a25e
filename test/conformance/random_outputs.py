# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Judges outputs that are random by definition: by shape, type, allowed values and frequency."""

import math
import re

import wire
from npy import Npy

# Dropout draws its mask where it trains with a ratio above zero; the seed's meaning is each implementation's own.
_RANDOM = re.compile(r"(node|newest)/test_(bernoulli|training_dropout(?!_zero_ratio))")
# Standard deviations by which a count may be off: once in some million runs.
_DEVIATIONS = 5


def isRandom(case):
    return _RANDOM.match(case.name) is not None


def _judgeDropout(data_set, got):
    x = wire.Tensor(data_set / "input_0.pb").values
    ratio = wire.Tensor(data_set / "input_1.pb").values[0]
    kept = 0
    for i, (value, whole) in enumerate(zip(got[0].values, x)):
        isKept = math.isclose(value, whole / (1 - ratio), rel_tol=1e-5)
        if not isKept and value != 0:
            return f"element {i} is {value}, wanted 0 or {whole / (1 - ratio)}"
        if len(got) > 1 and bool(got[1].values[i]) != isKept:
            return f"the mask of element {i} does not fit its value {value}"
        kept += isKept
    wanted, deviation = len(x) * (1 - ratio), math.sqrt(len(x) * ratio * (1 - ratio))
    if abs(kept - wanted) > _DEVIATIONS * deviation:
        return f"{kept} of {len(x)} elements are kept, wanted about {wanted:.0f}"
    return ""


def judge(case, data_set, folder):
    """An empty text where the outputs in `folder` are possible ones, else what is wrong."""
    got = []
    for number, info in enumerate(case.model.outputs):
        path = folder / f"{info.name}.npy"
        if not path.is_file():
            return f"output '{info.name}' was not written"
        want, have = wire.Tensor(data_set / f"output_{number}.pb"), Npy(path)
        if have.shape != want.shape or have.dtype != want.dtype:
            return f"output '{info.name}': shape {have.shape} or type differs from the expected {want.shape}"
        got.append(have)
    if case.operator == "Dropout":
        return _judgeDropout(data_set, got)
    bad = [value for value in got[0].values if value not in (0, 1)]
    return f"a value is {bad[0]}, wanted 0 or 1" if bad else ""
