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
# How often what was drawn, or something less likely, may come up. A given seed always gives the same numbers.
_LEAST_LIKELY = 1e-3
# A few draws of few elements say little.
_RUNS = 20


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


def likelihoodOfCount(probabilities, count):
    """How likely it is that independent events of these probabilities happen `count` times, or any number that is no likelier."""
    counts = [1.0]
    for p in probabilities:
        longer = [value * (1 - p) for value in counts] + [0.0]
        for i, value in enumerate(counts):
            longer[i + 1] += value * p
        counts = longer
    return sum(value for value in counts if value <= counts[count] * (1 + 1e-9))


class Judge:
    """Looks at the outputs of some runs of a case. Each look returns an empty text where they are possible ones, else what is wrong."""

    def __init__(self, case, data_set):
        self.case, self.data_set = case, data_set
        self.isBernoulli = case.operator != "Dropout"
        hasOwnSeed = "seed" in case.name
        self.seeds = range(_RUNS if self.isBernoulli and not hasOwnSeed else 1)
        self.probabilities = list(wire.Tensor(data_set / "input_0.pb").values) if self.isBernoulli else []
        # The function body of ONNX compares the wrong way round: it gives 1 where a uniform number is greater than the probability.
        if any(operator.rpartition(".")[2] == "Greater" for operator in case.model.operators):
            self.probabilities = [1 - p for p in self.probabilities]
        self.drawn = []

    def look(self, folder):
        got = []
        for number, info in enumerate(self.case.model.outputs):
            path = folder / f"{info.name}.npy"
            if not path.is_file():
                return f"output '{info.name}' was not written"
            want, have = wire.Tensor(self.data_set / f"output_{number}.pb"), Npy(path)
            if have.shape != want.shape or have.dtype != want.dtype:
                return f"output '{info.name}': shape {have.shape} or type differs from the expected {want.shape}"
            got.append(have)
        return self._lookAtBits(got[0].values) if self.isBernoulli else _judgeDropout(self.data_set, got)

    def _lookAtBits(self, values):
        for i, (value, p) in enumerate(zip(values, self.probabilities)):
            if value not in (0, 1) or (p in (0, 1) and value != p):
                return f"element {i} is {value}, which a probability of {p} does not give"
        self.drawn.append(sum(values))
        return ""

    def conclude(self):
        """Whether as many elements are 1 as their probabilities say."""
        if not self.isBernoulli:
            return ""
        ones = int(sum(self.drawn))
        likelihood = likelihoodOfCount(self.probabilities * len(self.drawn), ones)
        total, wanted = len(self.probabilities) * len(self.drawn), sum(self.probabilities) * len(self.drawn)
        return "" if likelihood >= _LEAST_LIKELY else f"{ones} of {total} elements are 1, wanted about {wanted:.0f}"
